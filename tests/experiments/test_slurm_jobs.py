"""Jobs of submitit give the same results as local processes; without SLURM they are refused."""

import os
import signal
import time
from pathlib import Path

import pytest

from fine.errors import FineError
from fine.experiments import Cell, Ledger
from fine.experiments.executors import Failed, Finished, Step
from fine.experiments.runner import SilentMonitor, run_cells
from fine.experiments.slurm_jobs import CellJob, SlurmJobs
from fine.experiments.worker import run_cell
from fine.puzzles.task import Task
from fine.training import Run, RunConfig, Training

pytest.importorskip("submitit", reason="submitit is an extra: pip install submitit")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # its own


@pytest.fixture(autouse=True)
def _importable(monkeypatch):
    """A job is a new process of Python, which finds the package as this one does."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2] / "src"))


@pytest.fixture
def cell(noisy_images) -> Cell:
    task = Task(images=f"folder:{noisy_images}", rules="swap", train_count=16, test_count=8)
    return Cell(RunConfig(task=task, training=Training(epochs=2, batch=8)))


def local(folder: Path, jobs: int = 2) -> SlurmJobs:
    return SlurmJobs(folder, jobs=jobs, cluster="local")


def test_cells_run_as_jobs_as_they_do_here(tmp_path, cell):
    ledger = Ledger(tmp_path / "ledger")
    bad = cell.with_seed(1)
    Run(tmp_path / "work" / bad.key).save_config(cell.config)  # in its way
    summary = run_cells([bad, cell], ledger, local(tmp_path / "work"), monitor=SilentMonitor())
    assert [entry.key for entry in summary.failed] == [bad.key]
    assert "holds another run" in summary.failed[0].error
    (found,) = ledger.records()
    here = run_cell(cell, tmp_path / "here")
    assert (found.key, found.value) == (cell.key, here["result"]["accuracy"])
    assert not [*(tmp_path / "work" / "messages").iterdir()]


def test_progress_is_heard_and_a_killed_job_is_a_failure(tmp_path, cell):
    training = Training(epochs=1000, batch=8)
    executor = local(tmp_path / "work")
    longer = Cell(RunConfig(task=cell.config.task, training=training))
    executor.start(longer)
    event, until = None, time.monotonic() + 120
    while event is None and time.monotonic() < until:
        event = executor.next(timeout=1)
    assert isinstance(event, Step) and event.key == longer.key
    os.kill(int((tmp_path / "work" / longer.key / "lock").read_text()), signal.SIGKILL)
    while not isinstance(event, Failed | Finished) and time.monotonic() < until:
        event = executor.next(timeout=1)
    assert isinstance(event, Failed) and "job" in event.error and "\n" not in event.error
    executor.stop()


def test_stopping_ends_the_jobs(tmp_path, cell):
    executor = local(tmp_path / "work")
    executor.start(Cell(RunConfig(task=cell.config.task, training=Training(epochs=1000, batch=8))))
    (job,) = executor.running.values()
    executor.stop()
    until = time.monotonic() + 60
    while not job.done() and time.monotonic() < until:
        time.sleep(0.1)
    assert job.done() and not executor.running


def test_a_preempted_job_is_submitted_again_as_it_was():
    again = CellJob().checkpoint("text", "messages.json")
    assert isinstance(again.function, CellJob) and again.args == ("text", "messages.json")


def test_without_slurm_there_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(FineError, match="needs the command sbatch"):
        SlurmJobs(tmp_path)
