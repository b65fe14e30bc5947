"""What tests of runs share."""

from dataclasses import replace
from pathlib import Path

import pytest

from fine.puzzles.task import Task
from fine.training import RunConfig, Silent, Training, train
from fine.training.run import Run


def tiny_config(images: Path) -> RunConfig:
    """A run of a second on a folder of images: 3 epochs of 4 steps."""
    task = Task(images=f"folder:{images}", rules="translation", train_count=64, test_count=12)
    return RunConfig(task=task, training=Training(epochs=3, batch=16), settings={"slots": 4})


def with_training(config: RunConfig, **changes: object) -> RunConfig:
    """The same run, trained otherwise."""
    return replace(config, training=replace(config.training, **changes))


class StopAfter(Silent):
    """Stops training as Ctrl-C would, once the checkpoint of an epoch is on disk."""

    def __init__(self, epoch: int):
        self.last = epoch

    def epoch(self, *, epoch: int, **_: float) -> None:
        if epoch == self.last:
            raise KeyboardInterrupt


def stop_after(epoch: int, config: RunConfig, folder: Path) -> Run:
    """A run that is stopped after an epoch."""
    with pytest.raises(KeyboardInterrupt):
        train(config, folder, progress=StopAfter(epoch))
    return Run(folder)


def weights(folder: Path) -> bytes:
    """The file of trained weights."""
    return Run(folder).weights.read_bytes()
