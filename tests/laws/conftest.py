"""Fixtures of the laws about runs that were damaged."""

from pathlib import Path

import pytest
import torch

from fine.puzzles.task import Task
from fine.training import RunConfig, Training, train
from support.commands import image_folder
from support.runs import stop_after


@pytest.fixture(scope="session")
def fuzzed_runs(tmp_path_factory) -> Path:
    """A folder with `images`, a run that is `finished`, and one `stopped` after an epoch."""
    place = tmp_path_factory.mktemp("fuzzed")
    image_folder(place / "images")
    task = Task(images=f"folder:{place / 'images'}", rules="swap", train_count=4, test_count=2)
    config = RunConfig(task=task, training=Training(epochs=2, batch=2))
    train(config, place / "finished")
    stop_after(1, config, place / "stopped")
    with torch.device("meta"):  # the first use takes seconds, which are no file's fault
        torch.nn.init.orthogonal_(torch.empty(2, 3))
        torch.nn.Conv2d(1, 1, 3)
    return place
