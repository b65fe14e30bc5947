"""Runs the cells a ledger lacks, several at once, and writes what comes of them: the one place where the ledger is written.

    with locked(work):
        summary = run_cells(cells, ledger, LocalProcesses(work, jobs=2), watcher=Unwatched())

It may be stopped at any moment, even by `kill -9`: finished cells are in the ledger, cells in hand go on from their last epoch.
"""

import time
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from fine.errors import FineError
from fine.experiments.cells import Cell
from fine.experiments.executors import Executor, Failed, Finished, Step
from fine.experiments.ledger import Failure, Ledger, Record, failure
from fine.experiments.work import read_outcome
from fine.images import load_images
from fine.images.official import OFFICIAL, find_data_root, reading


class Watcher(Protocol):
    """Told what is going on while cells run."""

    def started(self, cell: Cell) -> None:
        """A cell has been given to the executor."""

    def step(self, cell: Cell, step: Step) -> None:
        """A cell has come this far."""

    def ended(self, cell: Cell, entry: Record | Failure) -> None:
        """A cell is in the ledger."""

    def tick(self, waiting: int) -> None:
        """Time has passed; so many cells have not been started."""


class Unwatched:
    """Shows nothing."""

    def started(self, cell: Cell) -> None:
        pass

    def step(self, cell: Cell, step: Step) -> None:
        pass

    def ended(self, cell: Cell, entry: Record | Failure) -> None:
        pass

    def tick(self, waiting: int) -> None:
        pass


@dataclass(frozen=True)
class Summary:
    """What came of a call."""

    finished: tuple[Record, ...]
    failed: tuple[Failure, ...]
    left: tuple[Cell, ...]
    """Cells that were not brought to an end, for lack of time."""


def check_pictures(cells: Iterable[Cell]) -> None:
    """Refuse cells whose pictures are not there, before each of them finds that out for itself."""
    tasks = [cell.config.task for cell in cells]
    for name, root in sorted({(name, task.data_root) for task in tasks for name in (task.images, task.test_images)}):
        if name.startswith("folder:"):
            load_images(name)
        elif name in OFFICIAL:
            for file in OFFICIAL[name].files:
                path = find_data_root(root) / file
                with reading(path, name, "an official file"), path.open("rb"):
                    pass


def run_cells(
    cells: Iterable[Cell], ledger: Ledger, executor: Executor, *, watcher: Watcher, budget: float | None = None
) -> Summary:
    """Run those of ``cells`` that have no result yet, until all have one or ``budget`` seconds have passed.

    A cell that fails is written down with its error and stops no other; the next call tries it again.
    """
    until = None if budget is None else time.monotonic() + budget
    waiting = deque({cell.key: cell for cell in cells if not ledger.has(cell)}.values())
    running: dict[str, Cell] = {}
    finished: list[Record] = []
    failed: list[Failure] = []
    try:
        while waiting or running:
            wait = 0.25 if until is None else min(0.25, until - time.monotonic())
            if wait <= 0:
                break
            while waiting and len(running) < executor.jobs:
                cell = waiting.popleft()
                running[cell.key] = cell
                executor.start(cell)
                watcher.started(cell)
            event = executor.next(timeout=wait)
            watcher.tick(len(waiting))
            if event is None or event.key not in running:
                continue
            if isinstance(event, Step):
                watcher.step(running[event.key], event)
                continue
            cell = running.pop(event.key)
            entry = _entry(cell, event)
            ledger.write(entry)
            if isinstance(entry, Record):
                finished.append(entry)
            else:
                failed.append(entry)
            watcher.ended(cell, entry)
    finally:
        executor.stop()
    return Summary(tuple(finished), tuple(failed), (*running.values(), *waiting))


def _entry(cell: Cell, event: Finished | Failed) -> Record | Failure:
    if isinstance(event, Failed):
        return failure(cell, event.error)
    try:
        return read_outcome(cell, event.outcome)
    except (FineError, KeyError, TypeError) as problem:
        return failure(cell, f"its result cannot be read ({problem}): delete its run folder to run it again")
