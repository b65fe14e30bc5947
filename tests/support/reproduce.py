"""What tests of `fine reproduce` share: a table of two cells that are trained in a moment."""

import contextlib
import os
import sys
import warnings
from pathlib import Path

import pytest

from fine import cli
from fine.cli.terminal import console
from fine.experiments import Cell, make_experiment
from fine.experiments.executors import WORKER, LocalProcesses
from fine.training import Training
from support.warm_python import WarmPython

TINY = ("--train-count", "16", "--test-count", "8", "--epochs", "1", "--batch", "8")
OURS = ("table1", "--images", "folder:images", "--models", "fine")
SOME = (*OURS, "--columns", "swap,rotation", "--jobs", "2")


def swap_and_rotation() -> tuple[Cell, Cell]:
    """The two cells of SOME."""
    training = Training(epochs=1, batch=8)
    experiment = make_experiment("table1", images="folder:images", training=training)
    experiment = experiment.change(train_count=16, test_count=8)
    return experiment.place("fine", "swap").cell, experiment.place("fine", "rotation").cell


def start_workers_warm(python: WarmPython, patch: pytest.MonkeyPatch) -> None:
    """Have cells run by the same program as ever, which need not import torch first."""
    assert WORKER[0] == sys.executable
    options = LocalProcesses.__init__.__kwdefaults__
    patch.setitem(options, "command", (*python.command, *WORKER[1:]))


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
            console.file = said
            cli.main()
    finally:
        os._exit(0)
