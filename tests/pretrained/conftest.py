"""A tiny run, and what models answer to the same random images."""

from dataclasses import replace
from pathlib import Path

import pytest

from fine import RunConfig, Task, Training, train


@pytest.fixture(scope="package")
def run(tmp_path_factory) -> Path:
    """A tiny run."""
    folder = tmp_path_factory.mktemp("runs") / "tiny"
    task = replace(Task.preset("glyphs", rules="reflection+scale"), train_count=64, test_count=60)
    training = Training(epochs=1, batch=16, resample_each_epoch=True)
    train(RunConfig(task=task, training=training, settings={"slots": 4}), folder)
    return folder
