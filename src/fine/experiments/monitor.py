"""Shows cells while they run: a live table in a terminal, lines elsewhere."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from fine.experiments.cells import Cell
from fine.experiments.durations import show_duration, show_minutes
from fine.experiments.estimates import estimate
from fine.experiments.executors import Step
from fine.experiments.experiment import label
from fine.experiments.records import Failure, Record

QUIET = 30.0
"""Seconds between two lines about one cell, where there is no terminal."""
REDRAW = 0.25
"""Seconds between two drawings of the table."""


@dataclass
class Row:
    """A running cell."""

    cell: Cell
    guess: float
    """Seconds it will take, before its speed is known."""
    since: float = field(default_factory=time.monotonic)
    first: tuple[int, float] | None = None
    """Puzzles shown, and when, at its first step: a resumed cell does not start with none."""
    step: Step | None = None
    printed: float = field(default_factory=time.monotonic)

    @property
    def puzzles(self) -> int:
        """Puzzles that the whole training shows."""
        return self.cell.config.training.epochs * self.cell.config.task.train_count

    @property
    def left(self) -> float:
        """Seconds until it ends."""
        now = time.monotonic()
        if self.step and self.first and self.step.done > self.first[0]:
            seconds_each = (now - self.first[1]) / (self.step.done - self.first[0])
            return (self.puzzles - self.step.done) * seconds_each
        return max(0.0, self.guess - (now - self.since))

    def texts(self) -> tuple[str, ...]:
        """Epoch, loss, accuracy and time left."""
        epochs = self.cell.config.training.epochs
        if self.step is None:
            return f"0/{epochs}", "", "", show_duration(self.left)
        testing = self.step.done >= self.puzzles
        return (
            f"{self.step.epoch}/{epochs}",
            f"{self.step.loss:.3f}",
            f"{self.step.accuracy:.1%}",
            "testing" if testing else show_duration(self.left),
        )


class TerminalMonitor:
    """Shows cells as they run; use it as a context."""

    def __init__(
        self,
        console: Console,
        cells: Sequence[Cell],
        records: Sequence[Record],
        *,
        jobs: int,
        budget: float | None = None,
    ):
        self.console, self.jobs = console, jobs
        self.until = None if budget is None else time.monotonic() + budget
        self.guesses = {cell.key: estimate(cell, records).seconds for cell in cells}
        self.total, self.done = len(cells), 0
        self.rows: dict[str, Row] = {}
        self.live = Live(console=console, auto_refresh=False, transient=True)
        self.drawn = 0.0

    def __enter__(self) -> "TerminalMonitor":
        if self.console.is_terminal:
            self.live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.console.is_terminal:
            self.live.stop()

    def started(self, cell: Cell) -> None:
        self.rows[cell.key] = Row(cell, self.guesses.pop(cell.key))
        if not self.console.is_terminal:
            self._print(f"started   {cell.key}")

    def step(self, cell: Cell, step: Step) -> None:
        row = self.rows[cell.key]
        row.step, now = step, time.monotonic()
        row.first = row.first or (step.done, now)
        if not self.console.is_terminal and now - row.printed > QUIET:
            row.printed = now
            epoch, loss, accuracy, left = row.texts()
            progress = f"epoch {epoch}  loss {loss}  accuracy {accuracy}  {left} left"
            self._print(f"running   {cell.key}  {progress}")

    def ended(self, cell: Cell, entry: Record | Failure) -> None:
        self.rows.pop(cell.key)
        self.done += 1
        if isinstance(entry, Failure):
            self._print(("failed", "bold red"), f"    {cell.key}  {entry.error}")
            return
        result = f"{entry.metric} {entry.value:.1%}, {show_minutes(entry.minutes)} min"
        self._print(("finished", "green"), f"  {cell.key}  {result}")

    def tick(self, waiting: int) -> None:
        now = time.monotonic()
        if self.console.is_terminal and now - self.drawn > REDRAW:
            self.drawn = now
            self.live.update(self._table(waiting), refresh=True)

    def _table(self, waiting: int) -> Group:
        heads = ("model", "task", "seed", "epoch", "loss", "accuracy", "left")
        table = Table(*heads, box=None, padding=(0, 2, 0, 0))
        for row in self.rows.values():
            config = row.cell.config
            settings = (f"{name} {value}" for name, value in row.cell.settings.items())
            images = " → ".join(filter(None, (config.task.images, config.task.test_images)))
            task = f"{images}, {config.task.rules}, {config.task.train_count:,} puzzles"
            model = " ".join((label(config.model), *settings))
            table.add_row(model, task, str(row.cell.seed), *row.texts())
        running = sum(row.left for row in self.rows.values())
        left = show_duration((running + sum(self.guesses.values())) / self.jobs)
        text = f"{self.done} of {self.total} cells done, {waiting} waiting, about {left} left"
        if self.until is not None:
            text += f"; stops in {show_duration(max(0.0, self.until - time.monotonic()))}"
        return Group(table, Text(text))

    def _print(self, *parts: str | tuple[str, str]) -> None:
        """Print a line of texts, some of them with a style."""
        self.console.print(Text.assemble(*parts), highlight=False, soft_wrap=True)
