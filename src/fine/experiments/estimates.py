"""How long cells will take, from how long like ones took."""

import statistics
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from fine.experiments.cells import Cell
from fine.experiments.ledger import Record

GUESS = 500.0
"""Puzzles a second on one thread, where nothing has been measured: what `fine` does on a recent CPU."""
TEST_COST = 1 / 3
"""What a test puzzle costs beside a training puzzle, which is also learnt from."""
START = 8.0
"""Seconds until a new process has loaded its pictures and shows its first puzzle."""


@dataclass(frozen=True)
class Estimate:
    """How long a cell takes on one thread, and where that is from."""

    seconds: float
    basis: str


def estimate(cell: Cell, records: Iterable[Record]) -> Estimate:
    """How long a cell takes: from records as much like it as there are, otherwise from a guess."""
    if cell.probe is not None:  # its run is trained by now, or by the first probe that needs it
        return Estimate(START + TEST_COST * cell.probe.count / GUESS, f"guessed: {GUESS:.0f} puzzles/s, once its run is there")
    known = [record for record in records if record.minutes > 0 and not record.probe]
    model, images = cell.config.model, cell.config.task.images
    likeness: list[tuple[str, Callable[[Record], bool]]] = [
        (f"{model} on {images}", lambda r: r.model == model and r.settings == cell.settings and r.task.images == images),
        (model, lambda r: r.model == model),
        ("other models", lambda r: True),
    ]
    for name, alike in likeness:
        speeds = [speed(record) for record in known if alike(record)]
        if speeds:
            return Estimate(_seconds(cell, statistics.median(speeds)), f"measured: {name}")
    return Estimate(_seconds(cell, GUESS), f"guessed: {GUESS:.0f} puzzles/s")


def speed(record: Record) -> float:
    """Training puzzles a second."""
    return record.epochs * record.train_puzzles / (60 * record.minutes)


def _seconds(cell: Cell, puzzles_per_second: float) -> float:
    task = cell.config.task
    return START + (cell.config.training.epochs * task.train_count + TEST_COST * task.test_count) / puzzles_per_second
