"""Runs the cells that a ledger lacks, several at once, and writes their results to it.

    with locked(work):
        executor = LocalProcesses(work, jobs=2)
        summary = run_cells(cells, ledger, executor, monitor=SilentMonitor())

It may be stopped at any moment, even by `kill -9`: finished cells are in the ledger, and running
cells resume from their last epoch.
"""

import time
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from fine.errors import FineError
from fine.experiments.cells import Cell
from fine.experiments.executors import Executor, Failed, Finished, Step
from fine.experiments.ledger import Ledger
from fine.experiments.records import Failure, Record, failure
from fine.experiments.worker import read_outcome
from fine.images import load_images
from fine.images.official import LARGEST_FILE, OFFICIAL, find_data_root, reading
from fine.io.untrusted import open_regular


class Monitor(Protocol):
    """Called while cells run."""

    def started(self, cell: Cell) -> None:
        """A cell was given to the executor."""

    def step(self, cell: Cell, step: Step) -> None:
        """The progress of a cell."""

    def ended(self, cell: Cell, entry: Record | Failure) -> None:
        """A cell was recorded in the ledger."""

    def tick(self, waiting: int) -> None:
        """Called from time to time; ``waiting`` cells have not been started."""


class SilentMonitor:
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
    """The cells of a call."""

    finished: tuple[Record, ...]
    failed: tuple[Failure, ...]
    left: tuple[Cell, ...]
    """Cells that were not run, because time was up."""


def check_images(cells: Iterable[Cell]) -> None:
    """Refuse cells whose images are missing, before any of them starts."""
    tasks = [cell.config.task for cell in cells]
    sources = {(name, task.data_root) for task in tasks for name in (task.images, task.test_images)}
    for name, root in sorted(sources):
        if name.startswith("folder:"):
            load_images(name)
        elif name in OFFICIAL:
            for file in OFFICIAL[name].files:
                path = find_data_root(root) / file
                with reading(path, name, "an official file"):
                    open_regular(path, largest=LARGEST_FILE, expected="an official file").close()


def run_cells(
    cells: Iterable[Cell],
    ledger: Ledger,
    executor: Executor,
    *,
    monitor: Monitor,
    budget: float | None = None,
) -> Summary:
    """Run the cells that have no result, until all have one or ``budget`` seconds have passed.

    A cell that fails is recorded with its error and stops no other; the next call tries it again.
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
                monitor.started(cell)
            event = executor.next(timeout=wait)
            monitor.tick(len(waiting))
            if event is None or event.key not in running:
                continue
            if isinstance(event, Step):
                monitor.step(running[event.key], event)
                continue
            cell = running.pop(event.key)
            entry = _entry(cell, event)
            ledger.write(entry)
            if isinstance(entry, Record):
                finished.append(entry)
            else:
                failed.append(entry)
            monitor.ended(cell, entry)
    finally:
        executor.stop()
    return Summary(tuple(finished), tuple(failed), (*running.values(), *waiting))


def _entry(cell: Cell, event: Finished | Failed) -> Record | Failure:
    if isinstance(event, Failed):
        return failure(cell, event.error)
    try:
        return read_outcome(cell, event.outcome)
    except (FineError, KeyError, TypeError) as problem:
        remedy = "delete its run folder to run it again"
        return failure(cell, f"its result cannot be read ({problem}): {remedy}")
