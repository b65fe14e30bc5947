"""Fixtures of tests of training: images, a tiny run, and the same run once it is finished."""

from dataclasses import replace
from pathlib import Path

import pytest

from fine.training import RunConfig, train
from support.commands import image_folder
from support.runs import tiny_config, with_training


@pytest.fixture(scope="session")
def noise(tmp_path_factory) -> Path:
    """A folder of noise in four classes, which is there sooner than glyphs."""
    return image_folder(tmp_path_factory.mktemp("images") / "noise")


@pytest.fixture(scope="session")
def tiny(noise) -> RunConfig:
    return tiny_config(noise)


@pytest.fixture(scope="session")
def quick(tiny) -> RunConfig:
    """The same with a smaller model and fewer puzzles: 3 epochs of 2 steps."""
    settings = {"encoder": "mlp", "symmetry": "none", "slots": 2}
    task = replace(tiny.task, train_count=8, test_count=2)
    return replace(with_training(tiny, batch=4), task=task, settings=settings)


@pytest.fixture(scope="session")
def finished(tiny, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "finished"
    train(tiny, folder)
    return folder
