"""Promises of the runner: only what is missing is run, nothing finished is lost, nothing is there twice, however it ends."""

import os
import sys
import time
from collections import deque
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from fine.errors import FineError
from fine.experiments import Cell, Ledger
from fine.experiments.durations import read_duration, show_duration
from fine.experiments.estimates import GUESS, START, TEST_COST, estimate
from fine.experiments.executors import Event, Failed, Finished, LocalProcesses, Step
from fine.experiments.ledger import Epoch, Record, record
from fine.experiments.runner import Unwatched, run_cells
from fine.experiments.watching import Watched
from fine.experiments.work import as_text, find_learned, from_text, work
from fine.locking import locked
from fine.protocols import Training
from fine.runs import Run, RunConfig
from fine.tasks import Task
from fine.training import train

TINY = ("--train-count", "16", "--test-count", "8", "--epochs", "1", "--batch", "8")


@pytest.fixture(autouse=True)
def workplace(tmp_path, noisy_pictures, monkeypatch) -> Path:
    """An empty current folder but for a folder of pictures."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def tiny(*, model: str = "fine", seed: int = 0, epochs: int = 1, train_count: int = 16) -> Cell:
    task = Task(images="folder:pictures", rules="swap", train_count=train_count, test_count=8)
    return Cell(RunConfig(model=model, task=task, training=Training(epochs=epochs, batch=8, seed=seed)))


FOUR = [tiny(seed=seed) for seed in range(4)]


@pytest.fixture
def ledger(tmp_path) -> Ledger:
    return Ledger(tmp_path / "ledger")


def outcome(accuracy: float = 0.5) -> dict[str, object]:
    made = {"fine": "0", "torch": "2", "python": "3", "machine": "a machine", "commit": "abc1234"}
    result = {"accuracy": accuracy, "interval": [0.4, 0.6], "mistakes": {}, "by_rule": [], "minutes": 0.5, **made}
    return {"result": result, "curve": [[1.0, 0.3]]}


class Staged:
    """An executor whose cells end at once, but for those that fail, hang, or speak twice."""

    def __init__(self, *, jobs: int = 2, failing: tuple[str, ...] = (), hanging: tuple[str, ...] = (), twice: bool = False):
        self.jobs, self.failing, self.hanging, self.twice = jobs, failing, hanging, twice
        self.started: list[str] = []
        self.events: deque[Event] = deque()
        self.stopped = False

    def start(self, cell: Cell) -> None:
        self.started.append(cell.key)
        if cell.key in self.failing:
            self.events.append(Failed(cell.key, "it\n  broke"))
        elif cell.key not in self.hanging:
            self.events.append(Step(cell.key, epoch=1, done=16, loss=1.0, accuracy=0.3))
            self.events.extend([Finished(cell.key, outcome())] * (2 if self.twice else 1))

    def next(self, *, timeout: float) -> Event | None:
        if self.events:
            return self.events.popleft()
        time.sleep(timeout)
        return None

    def stop(self) -> None:
        self.stopped = True


def test_only_what_is_missing_is_run(ledger):
    first = Staged()
    summary = run_cells(FOUR[:2], ledger, first, watcher=Unwatched())
    assert [entry.key for entry in summary.finished] == first.started == [cell.key for cell in FOUR[:2]]
    again = Staged()
    summary = run_cells([*FOUR, *FOUR], ledger, again, watcher=Unwatched())
    assert again.started == [cell.key for cell in FOUR[2:]] and again.stopped
    assert not summary.failed and not summary.left and len(ledger.records()) == 4


def test_a_cell_that_fails_is_written_down_stops_no_other_and_is_tried_again(ledger):
    bad = FOUR[1].key
    summary = run_cells(FOUR, ledger, Staged(jobs=1, failing=(bad,)), watcher=Unwatched())
    assert [(entry.key, entry.error) for entry in summary.failed] == [(bad, "it broke")] == [
        (entry.key, entry.error) for entry in ledger.failures()
    ]  # fmt: skip
    assert len(summary.finished) == 3
    mended = Staged()
    run_cells(FOUR, ledger, mended, watcher=Unwatched())
    assert mended.started == [bad] and len(ledger.records()) == 4 and not ledger.failures()


def test_a_result_that_comes_twice_counts_once(ledger):
    summary = run_cells(FOUR, ledger, Staged(jobs=4, twice=True), watcher=Unwatched())
    assert len(summary.finished) == len(ledger.entries()) == 4


def test_a_result_that_makes_no_sense_is_a_failure(ledger):
    executor = Staged(hanging=(FOUR[0].key,))
    executor.events.append(Finished(FOUR[0].key, {"result": {}}))
    (failed,) = run_cells(FOUR[:1], ledger, executor, watcher=Unwatched()).failed
    assert "cannot be read" in failed.error


def test_the_budget_stops_and_says_what_is_left(ledger):
    executor = Staged(jobs=1, hanging=(FOUR[1].key,))
    started = time.monotonic()
    summary = run_cells(FOUR, ledger, executor, watcher=Unwatched(), budget=0.4)
    assert 0.4 <= time.monotonic() - started < 2 and executor.stopped
    assert [entry.key for entry in summary.finished] == [FOUR[0].key]
    assert [cell.key for cell in summary.left] == [cell.key for cell in FOUR[1:]]
    assert run_cells(FOUR, ledger, Staged(), watcher=Unwatched(), budget=0).left == tuple(FOUR[1:])


def test_cells_are_ended_when_the_runner_is_interrupted(ledger):
    class Interrupted(Staged):
        def next(self, *, timeout: float) -> Event | None:
            raise KeyboardInterrupt

    executor = Interrupted()
    with pytest.raises(KeyboardInterrupt):
        run_cells(FOUR, ledger, executor, watcher=Unwatched())
    assert executor.stopped and not ledger.entries()


def test_a_cell_is_sent_as_a_line(tmp_path):
    text = as_text(FOUR[3], tmp_path, "cpu")
    assert "\n" not in text and from_text(text) == (FOUR[3], tmp_path, "cpu")


def test_work_goes_on_from_wherever_a_run_is(workplace):
    cell = tiny(epochs=2)
    whole = work(cell, workplace / "whole")
    assert work(cell, workplace / "whole") == whole, "a finished run is not run again"
    half = workplace / "half"
    train_one_epoch(cell, half)
    assert Run(half).state.exists()
    went_on = work(cell, half)
    assert went_on["curve"] == whole["curve"] and len(whole["curve"]) == 2
    for outcome in (whole, went_on):
        del outcome["result"]["minutes"]
    assert went_on == whole
    with pytest.raises(FineError, match="holds another run"):
        work(tiny(seed=5), half)


def train_one_epoch(cell: Cell, folder: Path) -> None:
    class Stop:
        def step(self, **_: float) -> None:
            pass

        def epoch(self, **_: float) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(cell.config, folder, progress=Stop())


def events(executor: LocalProcesses, *, until: int = 1) -> list[Event]:
    """All that happens until so many cells have ended."""
    seen: list[Event] = []
    while sum(not isinstance(event, Step) for event in seen) < until:
        event = executor.next(timeout=30)
        assert event is not None, "nothing happens"
        seen.append(event)
    return seen


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("import os; os.kill(os.getpid(), 9)", "ended with code -9: it said nothing"),
        ("print('some trouble'); raise SystemExit(3)", "ended with code 3: some trouble"),
        ("import sys; sys.stdin.readline(); raise ValueError('bad')", "ended with code 1: ValueError: bad"),
        ("""import sys; sys.stdin.readline(); print('chatter'); print('{"error": "no luck"}')""", "no luck"),
    ],
)
def test_a_process_that_dies_is_a_failure(workplace, script, words):
    executor = LocalProcesses(workplace / "work", jobs=1, command=(sys.executable, "-c", script))
    executor.start(FOUR[0])
    (end,) = events(executor)
    executor.stop()
    assert isinstance(end, Failed) and words in end.error


def test_a_process_that_is_gone_before_it_has_its_cell_is_heard(workplace):
    class Late(LocalProcesses):
        def _process(self):
            process = super()._process()
            process.wait()
            return process

    executor = Late(workplace / "work", jobs=1, command=(sys.executable, "-c", "print('some trouble'); raise SystemExit(3)"))
    executor.start(FOUR[0])
    (end,) = events(executor)
    executor.stop()
    assert isinstance(end, Failed) and "ended with code 3: some trouble" in end.error


def test_stopping_ends_processes_at_once(workplace):
    executor = LocalProcesses(workplace, jobs=2, command=(sys.executable, "-c", "import time; time.sleep(60)"))
    for cell in FOUR[:2]:
        executor.start(cell)
    processes = [process for process, _ in executor.readers.values()]
    started = time.monotonic()
    executor.stop()
    assert time.monotonic() - started < 5 and all(process.returncode for process in processes)


def test_a_folder_is_locked_for_one(workplace):
    busy = pytest.raises(FineError, match=f"process {os.getpid()} is working in")
    with locked(workplace / "work"), busy, locked(workplace / "work"):
        pass
    with locked(workplace / "work"):
        pass


@pytest.mark.parametrize(
    ("text", "seconds"), [("2h", 7200), ("90m", 5400), ("1h30m", 5400), ("45s", 45), ("0.5h", 1800), ("0m", 0)]
)
def test_durations_are_read(text, seconds):
    assert read_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "2", "soon", "-1h", "1.2.3m", "5m2h", "1d"])
def test_what_is_no_duration_is_refused(text):
    with pytest.raises(FineError, match="is not a length of time: write it as 2h"):
        read_duration(text)


def test_durations_are_shown():
    assert list(map(show_duration, (5, 59, 60, 3599, 3600, 12_000))) == ["5 s", "59 s", "1 min", "1 h", "1 h", "3 h 20 min"]


def test_an_estimate_comes_from_records_that_are_alike_or_says_that_it_is_a_guess():
    cell, other = tiny(train_count=1000), tiny(model="esbn", train_count=1000)

    def measured(cell: Cell, minutes: float) -> Record:
        return replace(record(cell, outcome()["result"], (Epoch(1, 1),)), minutes=minutes)

    shown = 1000 + TEST_COST * 8
    assert estimate(cell, []).seconds == pytest.approx(START + shown / GUESS)
    assert "guessed" in estimate(cell, []).basis
    # A record of 1,000 puzzles in a tenth of a minute is 1000 / 6 puzzles a second.
    guess = estimate(cell, [measured(other, 0.1)])
    assert guess.seconds == pytest.approx(START + shown * 6 / 1000) and guess.basis == "measured: other models"
    guess = estimate(cell, [measured(other, 0.1), measured(cell, 0.2)])
    assert guess.seconds == pytest.approx(START + shown * 12 / 1000) and guess.basis == "measured: fine on folder:pictures"


@pytest.mark.parametrize("terminal", [True, False])
def test_what_is_going_on_is_shown(workplace, ledger, terminal):
    with (workplace / "seen").open("w+", encoding="utf-8") as file:
        console = Console(file=file, force_terminal=terminal, width=120)
        with Watched(console, FOUR, [], jobs=2, budget=60) as watcher:
            summary = run_cells(
                FOUR, ledger, Staged(failing=(FOUR[0].key,), hanging=(FOUR[3].key,)), watcher=watcher, budget=0.6
            )
        file.seek(0)
        seen = file.read()
    assert len(summary.left) == 1
    assert f"{FOUR[0].key}  it broke" in seen and f"{FOUR[1].key}  50.0% right" in seen
    assert ("3 of 4 cells done, 0 waiting" in seen and "stops in" in seen) == terminal


def test_what_has_been_learned_already_is_only_tested_again(tmp_path):
    first = tiny()
    second = Cell(replace(first.config, task=replace(first.config.task, test_count=9)))
    folders = [tmp_path / "work" / cell.key for cell in (first, second)]
    trained, tested = (work(cell, folder) for cell, folder in zip((first, second), folders, strict=True))
    assert trained["result"]["minutes"] > 0 == tested["result"]["minutes"] and tested["result"]["puzzles"] == 9
    alone = work(second, tmp_path / "elsewhere" / second.key)
    assert alone["result"]["by_rule"] == tested["result"]["by_rule"] and alone["curve"] == tested["curve"]
    weights = [Run(folder).weights.read_bytes() for folder in (*folders, tmp_path / "elsewhere" / second.key)]
    assert weights[0] == weights[1] == weights[2]


@pytest.mark.parametrize("other", [tiny(seed=1), tiny(epochs=2), tiny(train_count=24), tiny(model="relation-net")])
def test_what_was_learned_otherwise_is_not_taken_over(tmp_path, other):
    work(tiny(), tmp_path / "work" / "one")
    assert find_learned(tiny().config, tmp_path / "work" / "two") is not None
    assert find_learned(other.config, tmp_path / "work" / "two") is None
