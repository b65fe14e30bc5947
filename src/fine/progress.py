"""What a person watches while a model trains: a live bar in a terminal, a line an epoch elsewhere."""

import time
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from fine.errors import printable


class Progress(Protocol):
    """Told by the training loop what is going on."""

    def step(self, *, epoch: int, done: int, loss: float, accuracy: float) -> None:
        """``done`` puzzles have been trained on since the start; loss and accuracy are those of the epoch so far."""

    def epoch(self, *, epoch: int, loss: float, accuracy: float, speed: float) -> None:
        """An epoch is over and its state is on disk."""


class Silent:
    """Shows nothing."""

    def step(self, *, epoch: int, done: int, loss: float, accuracy: float) -> None:
        pass

    def epoch(self, *, epoch: int, loss: float, accuracy: float, speed: float) -> None:
        pass


class Shown:
    """A progress bar with loss, accuracy, puzzles/s and time left; without a terminal, one line for every epoch.

    The title comes with the first step, so that nothing is announced that is refused.
    """

    def __init__(self, console: Console, title: str, *, epochs: int, puzzles: int):
        self.console, self.title, self.epochs = console, title, epochs
        self.first: tuple[int, float] | None = None
        self.bar = Bar(
            TextColumn("epoch {task.fields[epoch]}/{task.fields[epochs]}"),
            BarColumn(bar_width=None),
            TextColumn(
                "loss {task.fields[loss]:.3f}  accuracy {task.fields[accuracy]:.1%}  {task.fields[speed]:,.0f} puzzles/s"
            ),
            TimeRemainingColumn(),
            TextColumn("left"),
            console=console,
            disable=not console.is_terminal,
            expand=True,
        )
        self.row = self.bar.add_task(
            "train", total=epochs * puzzles, epoch=1, epochs=epochs, loss=float("nan"), accuracy=0.0, speed=0.0
        )

    def __enter__(self) -> "Shown":
        self.bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.stop()

    def step(self, *, epoch: int, done: int, loss: float, accuracy: float) -> None:
        if self.title:
            self.console.print(printable(self.title), highlight=False, soft_wrap=True, markup=False)
            self.title = ""
        now = time.monotonic()
        done_then, then = self.first = self.first or (done, now)
        speed = (done - done_then) / (now - then) if now > then else 0.0
        self.bar.update(self.row, completed=done, epoch=epoch, loss=loss, accuracy=accuracy, speed=speed)

    def epoch(self, *, epoch: int, loss: float, accuracy: float, speed: float) -> None:
        if not self.console.is_terminal:
            self.console.print(
                f"epoch {epoch}/{self.epochs}  loss {loss:.3f}  accuracy {accuracy:.1%}  {speed:,.0f} puzzles/s",
                highlight=False,
            )
