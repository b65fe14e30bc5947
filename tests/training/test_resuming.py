"""The same weights from the same seed, whether or not a run is stopped on its way."""

from contextlib import nullcontext
from dataclasses import replace

import pytest

from fine.errors import FineError
from fine.training import Run, resume, start_locked, train
from fine.training.checkpoint import read_curve
from support.runs import stop_after, weights, with_training

pytestmark = pytest.mark.slow  # all of it rests on trained runs


def test_two_runs_of_one_seed_give_the_same_bits(tiny, finished, tmp_path):
    train(tiny, tmp_path / "again")
    assert weights(tmp_path / "again") == weights(finished)


def test_another_seed_gives_other_weights(tiny, finished, tmp_path):
    train(with_training(tiny, seed=1), tmp_path / "other")
    assert weights(tmp_path / "other") != weights(finished)


@pytest.mark.parametrize("epoch", [1, 2, 3])
def test_a_stopped_run_resumes_to_the_same_bits(tiny, finished, tmp_path, epoch):
    stop_after(epoch, tiny, tmp_path / "stopped")
    resume(tmp_path / "stopped")
    assert weights(tmp_path / "stopped") == weights(finished)
    curves = [read_curve(folder / "metrics.csv") for folder in (tmp_path / "stopped", finished)]
    for curve in curves:
        for row in curve:
            del row["puzzles/s"]  # a time
    assert curves[0] == curves[1] and len(curves[0]) == 3


@pytest.mark.parametrize(
    "changes",
    [
        {"resample_each_epoch": True},
        {"augment_images": "all"},
        {"augment_puzzles": 8},
        {"conjugate": 0.5},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_so_does_one_whose_epochs_differ(tiny, tmp_path, changes):
    config = with_training(tiny, **changes)
    train(config, tmp_path / "whole")
    stop_after(2, config, tmp_path / "stopped")
    resume(tmp_path / "stopped")
    assert weights(tmp_path / "stopped") == weights(tmp_path / "whole")


def test_a_finished_run_cannot_be_resumed(finished):
    with pytest.raises(FineError, match="holds a finished run: test it with `fine evaluate"):
        resume(finished)


def test_a_run_that_was_trained_the_same_way_is_not_trained_again(tiny, finished, tmp_path):
    """A cell that differs in its test only takes the weights of the one that is there."""
    other = replace(tiny, task=replace(tiny.task, test_count=6))
    folder = tmp_path / "other"
    evaluation = start_locked(other, folder, nullcontext(), trained=Run(finished))
    assert weights(folder) == weights(finished)
    assert read_curve(folder / "metrics.csv") == read_curve(finished / "metrics.csv")
    assert len(evaluation.chosen) == 6 and Run(folder).finished
