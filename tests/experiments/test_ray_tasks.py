"""A Ray cluster gives the same results as local processes; a lost worker costs only time."""

import contextlib
import os
import signal
import threading
import time
from dataclasses import replace

import pytest

from fine.experiments import Cell, Ledger
from fine.experiments.ray_tasks import RayTasks
from fine.experiments.runner import SilentMonitor, run_cells
from fine.experiments.worker import run_cell
from fine.puzzles.task import Task
from fine.training import Run, RunConfig, Training

pytest.importorskip("ray", reason="Ray is an extra: pip install ray")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # Ray's own


@pytest.fixture
def cell(noisy_images) -> Cell:
    images = f"folder:{noisy_images}"
    task = Task(images=images, rules="swap", train_count=16, test_count=8)
    return Cell(RunConfig(task=task, training=Training(epochs=2, batch=8)))


def curve(points) -> list[list[float]]:
    return [list(point) for point in points]


def test_cells_run_on_a_cluster_as_they_do_here(tmp_path, cell):
    ledger = Ledger(tmp_path / "ledger")
    bad = cell.with_seed(1)
    Run(tmp_path / "work" / bad.key).save_config(cell.config)  # in its way
    executor = RayTasks(tmp_path / "work", jobs=2)
    summary = run_cells([bad, cell], ledger, executor, monitor=SilentMonitor())
    assert [entry.key for entry in summary.failed] == [bad.key]
    assert "holds another run" in summary.failed[0].error
    (found,) = ledger.records()
    here = run_cell(cell, tmp_path / "here")
    assert (found.key, found.value) == (cell.key, here["result"]["accuracy"])
    assert curve(found.curve) == curve(here["curve"])


def test_the_cell_of_a_lost_worker_is_run_again_and_counted_once(tmp_path, cell):
    longer = Cell(replace(cell.config, training=replace(cell.config.training, epochs=50)))
    folder = tmp_path / "work" / longer.key
    workers: list[int] = []  # that have had the lock of the run, which its end deletes
    ended = threading.Event()

    def lose_the_first_worker() -> None:
        while not Run(folder).checkpoint.exists():
            time.sleep(0.01)
        while not ended.wait(0.01):
            with contextlib.suppress(OSError, ValueError):  # nobody has it, or not yet
                worker = int((folder / "lock").read_text())
                if worker not in workers:
                    workers.append(worker)
                if len(workers) == 1:
                    os.kill(worker, signal.SIGKILL)

    watch = threading.Thread(target=lose_the_first_worker, daemon=True)
    watch.start()
    ledger = Ledger(tmp_path / "ledger")
    executor = RayTasks(tmp_path / "work", jobs=1)
    summary = run_cells([longer], ledger, executor, monitor=SilentMonitor())
    ended.set()
    watch.join()
    assert not summary.failed and not summary.left
    assert len(workers) == 2, "another worker finished it"
    (found,) = ledger.records()
    assert curve(found.curve) == curve(run_cell(longer, tmp_path / "calm")["curve"])
