"""The runner: only what is missing is run, nothing finished is lost, nothing is there twice."""

import time

import pytest

from fine.errors import FineError
from fine.experiments import Cell
from fine.experiments.executors import Event, Finished
from fine.experiments.runner import SilentMonitor, check_images, run_cells
from fine.puzzles.task import Task
from fine.training import RunConfig
from support.experiments import FOUR, FakeExecutor

SILENT = SilentMonitor()
KEYS = [cell.key for cell in FOUR]


def test_only_what_is_missing_is_run(ledger):
    first = FakeExecutor()
    summary = run_cells(FOUR[:2], ledger, first, monitor=SILENT)
    assert [entry.key for entry in summary.finished] == first.started == KEYS[:2]
    again = FakeExecutor()
    summary = run_cells([*FOUR, *FOUR], ledger, again, monitor=SILENT)
    assert again.started == KEYS[2:] and again.stopped
    assert not summary.failed and not summary.left and len(ledger.records()) == 4


def test_a_cell_that_fails_is_recorded_stops_no_other_and_is_tried_again(ledger):
    bad = KEYS[1]
    summary = run_cells(FOUR, ledger, FakeExecutor(jobs=1, failing=(bad,)), monitor=SILENT)
    for failures in (summary.failed, ledger.failures()):
        assert [(entry.key, entry.error) for entry in failures] == [(bad, "it broke")]
    assert len(summary.finished) == 3
    mended = FakeExecutor()
    run_cells(FOUR, ledger, mended, monitor=SILENT)
    assert mended.started == [bad] and len(ledger.records()) == 4 and not ledger.failures()


def test_a_result_that_comes_twice_counts_once(ledger):
    summary = run_cells(FOUR, ledger, FakeExecutor(jobs=4, twice=True), monitor=SILENT)
    assert len(summary.finished) == len(ledger.entries()) == 4


def test_a_result_that_makes_no_sense_is_a_failure(ledger):
    executor = FakeExecutor(hanging=(KEYS[0],))
    executor.events.append(Finished(KEYS[0], {"result": {}}))
    (failed,) = run_cells(FOUR[:1], ledger, executor, monitor=SILENT).failed
    assert "cannot be read" in failed.error


def test_the_budget_stops_and_says_what_is_left(ledger, monkeypatch):
    executor = FakeExecutor(jobs=1, hanging=(KEYS[1],))
    monkeypatch.setattr(time, "monotonic", lambda: executor.waited)  # waiting is all that lasts
    summary = run_cells(FOUR, ledger, executor, monitor=SILENT, budget=0.4)
    assert executor.waited == pytest.approx(0.4) and executor.stopped
    assert [entry.key for entry in summary.finished] == KEYS[:1]
    assert [cell.key for cell in summary.left] == KEYS[1:]
    nothing = run_cells(FOUR, ledger, FakeExecutor(), monitor=SILENT, budget=0)
    assert nothing.left == tuple(FOUR[1:])


def test_cells_are_ended_when_the_runner_is_interrupted(ledger):
    class Interrupted(FakeExecutor):
        def next(self, *, timeout: float) -> Event | None:
            raise KeyboardInterrupt

    executor = Interrupted()
    with pytest.raises(KeyboardInterrupt):
        run_cells(FOUR, ledger, executor, monitor=SILENT)
    assert executor.stopped and not ledger.entries()


def test_missing_images_are_refused_before_anything_runs(workplace):
    check_images(FOUR)
    with pytest.raises(FineError, match="nowhere"):
        check_images([Cell(RunConfig(task=Task(images="folder:nowhere")))])
    with pytest.raises(FineError, match="fine data download mnist"):
        check_images([Cell(RunConfig(task=Task(images="mnist", data_root="nowhere")))])
