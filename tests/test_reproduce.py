"""Promises of `fine reproduce`: it runs what it is asked, refuses what it cannot run, and loses nothing when it is killed."""

import contextlib
import json
import os
import random
import signal
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from fine import cli
from fine.experiments import Cell, Ledger, make_experiment
from fine.experiments.ledger import Record
from fine.locking import locked
from fine.protocols import Training
from fine.runs import Run
from fine.storage import read_json

TINY = ("--train-count", "16", "--test-count", "8", "--epochs", "1", "--batch", "8")


@pytest.fixture(autouse=True)
def workplace(tmp_path, noisy_pictures, monkeypatch) -> Path:
    """An empty current folder but for a folder of pictures."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def reproduce(fine):
    """Run `fine reproduce …` in this process: the exit code, and all that was said."""

    def call(*arguments: object) -> tuple[int, str]:
        code, out, err = fine("reproduce", *arguments)
        return code, out + err

    return call


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("tabel1",), "did you mean 'table1'?"),
        (("table1", "--protocol", "fast"), "unknown protocol 'fast'"),
        (("table1", "--budget", "later"), "write it as 2h"),
        (("table1", "--models", "esbm"), "did you mean 'esbn'?"),
        (("all", "--models", "esbn,gpt"), "unknown model"),
        (("table1", "--columns", "turn"), "unknown column of table1 'turn'"),
        (("table1", "--seeds", "0"), "seeds is 0"),
        (("table1", "--jobs", "-1"), "jobs is -1"),
        (("table1", "--cluster", "slurm"), "choose one of ray"),
        (("table1", "--epochs", "0"), "epochs is 0"),
        (("table1", "--images", "paintings"), "unknown task 'paintings'"),
        (("table1", "--data-root", "nowhere"), "run `fine data download omniglot`"),
        (("table4", "--images", "folder:nowhere"), "nowhere"),
        (("scaling", "--train-count", "5"), "leave out --train-count"),
        (("table1", "--views", "8", "--images", "glyphs", "--device", "abacus"), "device 'abacus' cannot be used"),
    ],
)
def test_what_cannot_be_run_is_refused_before_anything_is_written(reproduce, arguments, words):
    before = sorted(Path().rglob("*"))
    code, said = reproduce(*arguments)
    assert code == 2 and words in said and said.count("\n") == 1
    assert sorted(Path().rglob("*")) == before


def test_experiments_are_listed(reproduce):
    code, said = reproduce()
    assert code == 0 and all(name in said for name in ("table1", "table4", "figure-memories", "scaling"))
    assert reproduce("--list")[1] == said


def test_a_dry_run_says_how_long_it_would_take_and_does_nothing(reproduce):
    code, said = reproduce("table1", "--dry-run", "--jobs", "2", "--seeds", "3", "--models", "fine,esbn")
    assert code == 0 and "60 cells, 0 of them done" in said and "guessed: 500 puzzles/s" in said and "2 at once" in said
    assert not Path("results").exists() and not Path("runs").exists()


def test_two_at_a_time_in_one_folder_are_refused(reproduce):
    with locked(Path("runs/reproduce")):
        code, said = reproduce("table1", "--images", "folder:pictures", *TINY)
    assert code == 2 and f"process {os.getpid()} is working in runs/reproduce" in said


SOME = ("table1", "--images", "folder:pictures", "--models", "fine", "--columns", "swap,rotation", "--jobs", "2")


def swap_and_rotation() -> tuple[Cell, Cell]:
    """The two cells of SOME."""
    experiment = make_experiment("table1", images="folder:pictures", training=Training(epochs=1, batch=8))
    experiment = experiment.change(train_count=16, test_count=8)
    return experiment.place("fine", "swap").cell, experiment.place("fine", "rotation").cell


def test_a_table_is_run_with_one_cell_failing_and_mended(reproduce):
    swap, rotation = swap_and_rotation()
    Run(Path("runs/reproduce") / swap.key).save_config(rotation.config)  # in its way
    code, said = reproduce(*SOME, *TINY)
    ledger = Ledger(Path("results/ledger"))
    assert code == 1 and "1 cells failed" in said, said
    assert [entry.key for entry in ledger.records()] == [rotation.key]
    assert [entry.key for entry in ledger.failures()] == [swap.key]
    assert "holds another run" in ledger.failures()[0].error
    (page,) = Path("results").glob("table1-*.md")
    assert "failed" in page.read_text() and "1 of 80 places" in page.read_text()

    (Path("runs/reproduce") / swap.key / "config.json").unlink()
    written = ledger.path(rotation.key).stat().st_mtime_ns
    code, said = reproduce(*SOME, *TINY)
    assert code == 0 and [entry.key for entry in ledger.records()] == sorted((rotation.key, swap.key)), said
    assert ledger.path(rotation.key).stat().st_mtime_ns == written
    assert "2 of 80 places" in page.read_text()
    found = ledger.read(swap.key)
    result = read_json(Path("runs/reproduce") / swap.key / "result.json")
    assert isinstance(found, Record) and found.accuracy == result["accuracy"] and len(found.curve) == 1
    assert found.commit == result["commit"] and found.machine.endswith("1 threads")


def test_the_budget_stops_a_command_and_the_next_goes_on(reproduce):
    # So many epochs that the budget ends among them, and so short ones that the state of several is on disk.
    swap, _ = swap_and_rotation()
    swap = Cell(replace(swap.config, training=replace(swap.config.training, epochs=3000)))
    options = (*SOME[:6], "swap", *TINY[:4], "--epochs", "3000", "--batch", "8", "--jobs", "1")
    folder = Path("runs/reproduce") / swap.key
    code, said = reproduce(*options, "--budget", "5s")
    while not Run(folder).state.exists():  # on a slow machine that may not be enough to start
        code, said = reproduce(*options, "--budget", "10s")
    assert code == 0 and "1 cells are left" in said and "0 of 80 places" in said
    assert not Ledger(Path("results/ledger")).entries()
    before = (folder / "metrics.csv").read_text().splitlines()
    assert 1 < len(before) <= 3000
    after = before
    while len(after) <= len(before):
        reproduce(*options, "--budget", "10s")
        after = (folder / "metrics.csv").read_text().splitlines()
    assert after[: len(before)] == before, "it went on, and did not start again"


def in_a_fork(*arguments: str) -> int:
    """Start `fine reproduce` as a process that need not import torch first; returns its id."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads: this one has no use for theirs
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


def finished(ledger: Ledger) -> dict[str, bytes]:
    return {entry.key: ledger.path(entry.key).read_bytes() for entry in ledger.records()}


def without_times(ledger: Ledger) -> Iterator[dict[str, object]]:
    for path in sorted(ledger.folder.iterdir()):
        if path.suffix == ".json":
            content = json.loads(path.read_text())
            yield {name: value for name, value in content.items() if name not in ("minutes", "date")}


def test_killed_at_twenty_moments_no_finished_cell_is_lost_and_none_is_there_twice(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    options = (*SOME[:4], "fine", "--columns", "swap,rotation", "--jobs", "1", *TINY)
    started = time.monotonic()
    os.waitpid(in_a_fork(*options, "--results", "calm", "--work", "calm-runs"), 0)
    calm, ledger = Ledger(Path("calm/ledger")), Ledger(Path("results/ledger"))
    assert len(calm.records()) == 2, Path("said").read_text()
    a_cell = (time.monotonic() - started) / 2

    moments, before = random.Random(0), finished(ledger)
    for _ in range(20):
        victim = in_a_fork(*options)
        time.sleep(moments.uniform(0, 1.1 * a_cell))
        os.kill(victim, signal.SIGKILL)
        os.waitpid(victim, 0)
        now = finished(ledger)
        assert before.items() <= now.items(), "a finished cell is lost or was written again"
        assert not ledger.failures()
        before = now
    os.waitpid(in_a_fork(*options), 0)
    assert before.items() <= finished(ledger).items()
    assert list(without_times(ledger)) == list(without_times(calm))
    assert len(list(Path("runs/reproduce").glob("*/config.json"))) == 2


def test_no_cell_goes_on_alone_when_its_command_is_killed():
    swap, _ = swap_and_rotation()
    endless = Cell(replace(swap.config, training=replace(swap.config.training, epochs=100_000)))
    victim = in_a_fork(*SOME[:6], "swap", *TINY[:4], "--epochs", "100000", "--batch", "8", "--jobs", "1")
    folder = Path("runs/reproduce") / endless.key
    for _ in range(600):
        if Run(folder).state.exists():
            break
        time.sleep(0.05)
    worker = int((folder / "lock").read_text())
    os.kill(worker, 0)  # it is there
    os.kill(victim, signal.SIGKILL)
    os.waitpid(victim, 0)
    with locked(folder, patience=5):  # and lets go of its folder
        pass
