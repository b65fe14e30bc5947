"""Fixtures of tests of continual learning: three families over a few images of noise."""

from dataclasses import replace
from pathlib import Path

import pytest

from fine.continual import ContinualConfig
from fine.puzzles.task import Task
from fine.training import Training, train
from support.commands import image_folder


@pytest.fixture(scope="session")
def task(tmp_path_factory) -> Task:
    """Noise is there sooner than glyphs."""
    folder = image_folder(tmp_path_factory.mktemp("images") / "noise", classes=6)
    rules = "translation+reflection+swap"
    return replace(Task.preset(f"folder:{folder}", rules=rules), train_count=64, test_count=24)


@pytest.fixture(scope="session")
def anchored_config(task) -> ContinualConfig:
    return ContinualConfig(
        model="fine-grouped",
        task=task,
        training=Training(epochs=1, batch=16),
        settings={"slots": 6, "groups": 3},
        strategy="anchor",
    )


@pytest.fixture(scope="session")
def anchored(anchored_config, tmp_path_factory) -> Path:
    """A run that learned three families one after another."""
    folder = tmp_path_factory.mktemp("runs") / "anchored"
    train(anchored_config, folder)
    return folder
