"""What tests of `fine reproduce` share: a table of two cells that are trained in a moment."""

import contextlib
import os
import sys
import warnings
from pathlib import Path

from fine import cli
from fine.experiments import Cell, make_experiment
from fine.training import Training

TINY = ("--train-count", "16", "--test-count", "8", "--epochs", "1", "--batch", "8")
OURS = ("table1", "--images", "folder:images", "--models", "fine")
SOME = (*OURS, "--columns", "swap,rotation", "--jobs", "2")


def swap_and_rotation() -> tuple[Cell, Cell]:
    """The two cells of SOME."""
    training = Training(epochs=1, batch=8)
    experiment = make_experiment("table1", images="folder:images", training=training)
    experiment = experiment.change(train_count=16, test_count=8)
    return experiment.place("fine", "swap").cell, experiment.place("fine", "rotation").cell


def reproduce_in_a_fork(*arguments: str) -> int:
    """Start `fine reproduce` as a process that need not import torch first; returns its id."""
    with warnings.catch_warnings():
        # Of forks beside threads: this one does not use theirs.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child:
        return child
    try:
        sys.argv = ["fine", "reproduce", *arguments]
        with Path("said").open("a", encoding="utf-8") as said, contextlib.redirect_stdout(said):
            cli.console.file = said
            cli.main()
    finally:
        os._exit(0)
