"""Promises of a Ray cluster: the same results as local processes, and a worker that is lost costs nothing but time."""

import os
import signal
import threading
import time
from dataclasses import replace

import pytest

from fine.experiments import Cell, Ledger
from fine.experiments.clusters import RayTasks
from fine.experiments.runner import Unwatched, run_cells
from fine.experiments.work import work
from fine.protocols import Training
from fine.runs import Run, RunConfig
from fine.tasks import Task

pytest.importorskip("ray", reason="Ray is an extra: pip install ray")
pytestmark = pytest.mark.filterwarnings("ignore")  # Ray's own


@pytest.fixture
def cell(noisy_pictures) -> Cell:
    task = Task(images=f"folder:{noisy_pictures}", rules="swap", train_count=16, test_count=8)
    return Cell(RunConfig(task=task, training=Training(epochs=2, batch=8)))


def test_cells_run_on_a_cluster_as_they_do_here(tmp_path, cell):
    ledger = Ledger(tmp_path / "ledger")
    bad = cell.with_seed(1)
    Run(tmp_path / "work" / bad.key).save_config(cell.config)  # in its way
    summary = run_cells([bad, cell], ledger, RayTasks(tmp_path / "work", jobs=2), watcher=Unwatched())
    assert [entry.key for entry in summary.failed] == [bad.key] and "holds another run" in summary.failed[0].error
    (found,) = ledger.records()
    here = work(cell, tmp_path / "here")
    assert (found.key, found.accuracy) == (cell.key, here["result"]["accuracy"])
    assert [list(point) for point in found.curve] == [list(point) for point in here["curve"]]


def test_a_lost_worker_s_cell_is_run_again_and_counted_once(tmp_path, cell):
    longer = Cell(replace(cell.config, training=replace(cell.config.training, epochs=50)))
    folder = tmp_path / "work" / longer.key
    lost = []

    def lose_the_worker() -> None:
        while not Run(folder).state.exists():
            time.sleep(0.01)
        lost.append(int((folder / "lock").read_text()))
        os.kill(lost[0], signal.SIGKILL)

    threading.Thread(target=lose_the_worker, daemon=True).start()
    ledger = Ledger(tmp_path / "ledger")
    summary = run_cells([longer], ledger, RayTasks(tmp_path / "work", jobs=1), watcher=Unwatched())
    assert not summary.failed and not summary.left
    assert lost and int((folder / "lock").read_text()) != lost[0], "another worker brought it to its end"
    (found,) = ledger.records()
    assert [list(point) for point in found.curve] == [list(point) for point in work(longer, tmp_path / "calm")["curve"]]
