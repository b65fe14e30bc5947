"""Progress of a training: a live bar in a terminal, one line per epoch elsewhere."""

import time
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from fine.errors import printable


class Progress(Protocol):
    """What the training loop calls while it trains."""

    def step(self, *, epoch: int, done: int, loss: float, accuracy: float) -> None:
        """``done`` puzzles since the start of the run; loss and accuracy of the epoch so far."""

    def epoch(self, *, epoch: int, loss: float, accuracy: float, speed: float) -> None:
        """An epoch is over and its checkpoint is on disk; ``speed`` is in puzzles per second."""


class Silent:
    """Shows nothing."""

    def step(self, *, epoch: int, done: int, loss: float, accuracy: float) -> None:
        pass

    def epoch(self, *, epoch: int, loss: float, accuracy: float, speed: float) -> None:
        pass


class ProgressBar:
    """A bar with loss, accuracy, puzzles/s and time left; without a terminal, one line per epoch.

    The title is printed with the first step, so a run that is refused announces nothing.
    """

    def __init__(self, console: Console, title: str, *, epochs: int, puzzles: int):
        self.console, self.title, self.epochs = console, title, epochs
        self.first: tuple[int, float] | None = None  # puzzles done and time at the first step
        self.bar = Bar(
            TextColumn("epoch {task.fields[epoch]}/{task.fields[epochs]}"),
            BarColumn(bar_width=None),
            TextColumn(
                "loss {task.fields[loss]:.3f}  accuracy {task.fields[accuracy]:.1%}  "
                "{task.fields[speed]:,.0f} puzzles/s"
            ),
            TimeRemainingColumn(),
            TextColumn("left"),
            console=console,
            disable=not console.is_terminal,
            expand=True,
        )
        self.task = self.bar.add_task(
            "train",
            total=epochs * puzzles,
            epoch=1,
            epochs=epochs,
            loss=float("nan"),
            accuracy=0.0,
            speed=0.0,
        )

    def __enter__(self) -> "ProgressBar":
        self.bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.stop()

    def step(self, *, epoch: int, done: int, loss: float, accuracy: float) -> None:
        if self.title:
            self.console.print(printable(self.title), highlight=False, soft_wrap=True, markup=False)
            self.title = ""
        now = time.monotonic()
        done_before, then = self.first = self.first or (done, now)
        speed = (done - done_before) / (now - then) if now > then else 0.0
        self.bar.update(
            self.task, completed=done, epoch=epoch, loss=loss, accuracy=accuracy, speed=speed
        )

    def epoch(self, *, epoch: int, loss: float, accuracy: float, speed: float) -> None:
        if not self.console.is_terminal:
            self.console.print(
                f"epoch {epoch}/{self.epochs}  loss {loss:.3f}  accuracy {accuracy:.1%}  "
                f"{speed:,.0f} puzzles/s",
                highlight=False,
            )
