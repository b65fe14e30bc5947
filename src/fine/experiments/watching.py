"""What a person watches while cells run: a live table of the cells in hand in a terminal, lines elsewhere."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from rich.console import Console, Group
from rich.live import Live
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from fine.experiments.cells import Cell
from fine.experiments.durations import show_duration
from fine.experiments.estimates import estimate
from fine.experiments.executors import Step
from fine.experiments.experiment import label
from fine.experiments.ledger import Failure, Record

QUIET = 30.0
"""Seconds between two lines about one cell, where there is no terminal."""


@dataclass
class Row:
    """A cell in hand."""

    cell: Cell
    guess: float
    """Seconds it will take, before it has shown its speed."""
    since: float = field(default_factory=time.monotonic)
    first: tuple[int, float] | None = None
    """Puzzles shown, and when, at its first sign of life: a resumed cell does not begin with none."""
    step: Step | None = None
    told: float = field(default_factory=time.monotonic)

    @property
    def left(self) -> float:
        """Seconds until it ends."""
        now = time.monotonic()
        if self.step and self.first and self.step.done > self.first[0]:
            puzzles = self.cell.config.training.epochs * self.cell.config.task.train_count
            return (puzzles - self.step.done) * (now - self.first[1]) / (self.step.done - self.first[0])
        return max(0.0, self.guess - (now - self.since))

    def texts(self) -> tuple[str, ...]:
        """Epoch, loss, accuracy and time left."""
        epochs = self.cell.config.training.epochs
        if self.step is None:
            return f"0/{epochs}", "", "", show_duration(self.left)
        return (
            f"{self.step.epoch}/{epochs}",
            f"{self.step.loss:.3f}",
            f"{self.step.accuracy:.1%}",
            "testing" if self.step.done >= epochs * self.cell.config.task.train_count else show_duration(self.left),
        )


class Watched:
    """Shows cells as they run; use it as a context."""

    def __init__(
        self, console: Console, cells: Sequence[Cell], records: Sequence[Record], *, jobs: int, budget: float | None = None
    ):
        self.console, self.jobs = console, jobs
        self.until = None if budget is None else time.monotonic() + budget
        self.guesses = {cell.key: estimate(cell, records).seconds for cell in cells}
        self.total, self.done = len(cells), 0
        self.rows: dict[str, Row] = {}
        self.live = Live(console=console, auto_refresh=False, transient=True)
        self.drawn = 0.0

    def __enter__(self) -> "Watched":
        if self.console.is_terminal:
            self.live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.console.is_terminal:
            self.live.stop()

    def started(self, cell: Cell) -> None:
        self.rows[cell.key] = Row(cell, self.guesses.pop(cell.key))
        if not self.console.is_terminal:
            self._say(f"started   {cell.key}")

    def step(self, cell: Cell, step: Step) -> None:
        row = self.rows[cell.key]
        row.step, now = step, time.monotonic()
        row.first = row.first or (step.done, now)
        if not self.console.is_terminal and now - row.told > QUIET:
            row.told = now
            epoch, loss, accuracy, left = row.texts()
            self._say(f"running   {cell.key}  epoch {epoch}  loss {loss}  accuracy {accuracy}  {left} left")

    def ended(self, cell: Cell, entry: Record | Failure) -> None:
        self.rows.pop(cell.key)
        self.done += 1
        if isinstance(entry, Failure):
            self._say(f"[bold red]failed[/]    {cell.key}  {escape(entry.error)}")
        else:
            self._say(f"[green]finished[/]  {cell.key}  {entry.accuracy:.1%} right, {entry.minutes:.1f} min of training")

    def tick(self, waiting: int) -> None:
        now = time.monotonic()
        if self.console.is_terminal and now - self.drawn > 0.25:
            self.drawn = now
            self.live.update(self._drawn(waiting), refresh=True)

    def _drawn(self, waiting: int) -> Group:
        table = Table("model", "task", "seed", "epoch", "loss", "accuracy", "left", box=None, padding=(0, 2, 0, 0))
        for row in self.rows.values():
            config = row.cell.config
            model = " ".join((label(config.model), *(f"{name} {value}" for name, value in row.cell.settings.items())))
            images = " → ".join(filter(None, (config.task.images, config.task.test_images)))
            task = f"{images}, {config.task.rules}, {config.task.train_count:,} puzzles"
            table.add_row(model, task, str(row.cell.seed), *row.texts())
        left = (sum(row.left for row in self.rows.values()) + sum(self.guesses.values())) / self.jobs
        text = f"{self.done} of {self.total} cells done, {waiting} waiting, about {show_duration(left)} left"
        if self.until is not None:
            text += f"; stops in {show_duration(max(0.0, self.until - time.monotonic()))}"
        return Group(table, Text(text))

    def _say(self, text: str) -> None:
        self.console.print(text, highlight=False, soft_wrap=True)
