"""`fine reproduce` loses nothing when it is killed, and leaves nothing running."""

import json
import os
import random
import signal
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from fine.experiments import Cell, Ledger
from fine.io.locks import locked
from fine.training import Run
from support.reproduce import (
    OURS,
    TINY,
    reproduce_in_a_fork,
    start_workers_warm,
    swap_and_rotation,
)

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def workplace(tmp_path, noisy_images, monkeypatch, warm_python) -> Path:
    """An empty current folder except for a folder of images."""
    monkeypatch.chdir(tmp_path)
    start_workers_warm(warm_python, monkeypatch)
    return tmp_path


def finished(ledger: Ledger) -> dict[str, bytes]:
    return {entry.key: ledger.path(entry.key).read_bytes() for entry in ledger.records()}


def without_times(ledger: Ledger) -> Iterator[dict[str, object]]:
    for path in sorted(ledger.folder.iterdir()):
        if path.suffix == ".json":
            content = json.loads(path.read_text())
            yield {key: content[key] for key in content if key not in ("minutes", "date")}


def test_killed_at_twenty_moments_no_finished_cell_is_lost_and_none_is_there_twice(
    monkeypatch, record_property
):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    options = (*OURS, "--columns", "swap,rotation", "--jobs", "1", *TINY)
    started = time.monotonic()
    os.waitpid(reproduce_in_a_fork(*options, "--results", "calm", "--work", "calm-runs"), 0)
    calm, ledger = Ledger(Path("calm/ledger")), Ledger(Path("results/ledger"))
    assert len(calm.records()) == 2, Path("said").read_text()
    a_cell = (time.monotonic() - started) / 2

    moments, before = random.Random(0), finished(ledger)
    for _ in range(20):
        victim = reproduce_in_a_fork(*options)
        time.sleep(moments.uniform(0, 1.1 * a_cell))
        os.kill(victim, signal.SIGKILL)
        os.waitpid(victim, 0)
        now = finished(ledger)
        assert before.items() <= now.items(), "a finished cell is lost or was written again"
        assert not ledger.failures()
        before = now
    os.waitpid(reproduce_in_a_fork(*options), 0)
    assert before.items() <= finished(ledger).items()
    assert list(without_times(ledger)) == list(without_times(calm))
    assert len(list(Path("runs/reproduce").glob("*/config.json"))) == 2
    record_property("figure", "20 kills")


def test_no_cell_runs_on_alone_when_its_command_is_killed():
    swap, _ = swap_and_rotation()
    training = replace(swap.config.training, epochs=100_000)
    endless = Cell(replace(swap.config, training=training))
    epochs = ("--epochs", "100000", "--batch", "8", "--jobs", "1")
    victim = reproduce_in_a_fork(*OURS, "--columns", "swap", *TINY[:4], *epochs)
    folder = Path("runs/reproduce") / endless.key
    while not Run(folder).checkpoint.exists():
        assert os.waitpid(victim, os.WNOHANG) == (0, 0), Path("said").read_text()
        time.sleep(0.05)
    worker = int((folder / "lock").read_text())
    os.kill(worker, 0)  # it is there
    os.kill(victim, signal.SIGKILL)
    os.waitpid(victim, 0)
    with locked(folder, patience=60):  # and lets go of its folder
        pass
