"""How long cells will take, from how long similar ones took."""

import statistics
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from fine.experiments.cells import Cell
from fine.experiments.records import Record

GUESS = 500.0
"""Puzzles per second on one thread where nothing was measured: `fine` on a recent CPU."""
TEST_COST = 1 / 3
"""Cost of a test puzzle relative to a training puzzle, which also has a backward pass."""
START = 8.0
"""Seconds until a new process has loaded its images and shows its first puzzle."""


@dataclass(frozen=True)
class Estimate:
    """How long a cell takes on one thread, and where that comes from."""

    seconds: float
    basis: str


def estimate(cell: Cell, records: Iterable[Record]) -> Estimate:
    """How long a cell takes: from the records most like it, otherwise from a guess."""
    if cell.probe is not None:  # its run is trained by now, or by the first probe that needs it
        seconds = START + TEST_COST * cell.probe.count / GUESS
        return Estimate(seconds, f"guessed: {GUESS:.0f} puzzles/s, once its run is there")
    known = [record for record in records if record.minutes > 0 and not record.probe]
    model, images, settings = cell.config.model, cell.config.task.images, cell.settings

    def same_settings(record: Record) -> bool:
        same_model = record.model == model and record.settings == settings
        return same_model and record.task.images == images

    likeness: list[tuple[str, Callable[[Record], bool]]] = [
        (f"{model} on {images}", same_settings),
        (model, lambda record: record.model == model),
        ("other models", lambda record: True),
    ]
    for name, alike in likeness:
        speeds = [speed(record) for record in known if alike(record)]
        if speeds:
            return Estimate(_seconds(cell, statistics.median(speeds)), f"measured: {name}")
    return Estimate(_seconds(cell, GUESS), f"guessed: {GUESS:.0f} puzzles/s")


def speed(record: Record) -> float:
    """Training puzzles per second."""
    return record.epochs * record.train_puzzles / (60 * record.minutes)


def _seconds(cell: Cell, puzzles_per_second: float) -> float:
    task, training = cell.config.task, cell.config.training
    puzzles = training.epochs * task.train_count + TEST_COST * task.test_count
    return START + puzzles / puzzles_per_second
