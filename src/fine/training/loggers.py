"""Curves of a training for TensorBoard or Weights & Biases, beside metrics.csv: `--log NAME`.

    with open_log("tensorboard", folder, config) as log:
        evaluation = train(config, folder, progress=log)
        log.result(evaluation)

Both are extras. Nothing is written before the first step, so a run that is refused leaves nothing.
"""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol

from fine.distributed import own_rank
from fine.errors import FineError, unknown
from fine.evaluation import Evaluation
from fine.training.progress import Progress, Silent
from fine.training.run import RunConfig


class Log(Progress, Protocol):
    """Progress that is also logged."""

    def result(self, evaluation: Evaluation) -> None:
        """The test at the end of the run."""

    def close(self) -> None:
        """Write what is not written yet."""


class Several:
    """Passes progress on to several receivers."""

    def __init__(self, *others: Progress):
        self.others = others

    def step(self, *, epoch: int, done: int, loss: float, accuracy: float) -> None:
        for other in self.others:
            other.step(epoch=epoch, done=done, loss=loss, accuracy=accuracy)

    def epoch(self, *, epoch: int, loss: float, accuracy: float, speed: float) -> None:
        for other in self.others:
            other.epoch(epoch=epoch, loss=loss, accuracy=accuracy, speed=speed)


class NoLog(Silent):
    """Writes nothing."""

    def result(self, evaluation: Evaluation) -> None:
        pass

    def close(self) -> None:
        pass


class _Scalars(NoLog):
    """Curves of numbers; what they are written with is opened with the first of them."""

    start: Callable[[], Any]
    writer: Any = None

    def step(self, *, epoch: int, done: int, loss: float, accuracy: float) -> None:
        self._write(done, {"step/loss": loss, "step/accuracy": accuracy, "step/epoch": epoch})

    def epoch(self, *, epoch: int, loss: float, accuracy: float, speed: float) -> None:
        numbers = {"loss": loss, "accuracy": accuracy, "puzzles per second": speed}
        self._write(epoch, {f"epoch/{name}": number for name, number in numbers.items()})

    def result(self, evaluation: Evaluation) -> None:
        low, high = evaluation.interval
        numbers = {"test/accuracy": evaluation.accuracy, "test/low": low, "test/high": high}
        self._write(0, numbers)

    def _write(self, place: int, numbers: dict[str, float]) -> None:
        raise NotImplementedError


class TensorBoardLog(_Scalars):
    """Event files in the folder `tensorboard` of the run: `tensorboard --logdir runs`."""

    def __init__(self, folder: Path, config: RunConfig):
        try:
            from torch.utils import tensorboard  # noqa: PLC0415  # an extra
        except ImportError:
            raise _missing("tensorboard") from None
        self.start = lambda: tensorboard.SummaryWriter(folder / "tensorboard")

    def _write(self, place: int, numbers: dict[str, float]) -> None:
        self.writer = self.writer or self.start()
        for name, number in numbers.items():
            self.writer.add_scalar(name, number, place)

    def close(self) -> None:
        if self.writer is not None:
            self.writer.close()


class WandbLog(_Scalars):
    """A run of Weights & Biases, set up by its own variables; WANDB_MODE=offline sends nothing."""

    def __init__(self, folder: Path, config: RunConfig):
        try:
            import wandb  # noqa: PLC0415  # an extra
        except ImportError:
            raise _missing("wandb") from None
        self.start = lambda: wandb.init(
            name=folder.name, dir=folder, config=asdict(config), tags=[config.model]
        )

    def _write(self, place: int, numbers: dict[str, float]) -> None:
        self.writer = self.writer or self._opened()
        part = next(iter(numbers)).partition("/")[0]
        self.writer.log({**numbers, f"{part}/at": place})

    def _opened(self) -> Any:
        writer = self.start()
        for part in ("step", "epoch", "test"):
            writer.define_metric(f"{part}/*", step_metric=f"{part}/at")
        return writer

    def close(self) -> None:
        if self.writer is not None:
            self.writer.finish()


LOGS = {"tensorboard": TensorBoardLog, "wandb": WandbLog}
"""Where curves can be written to, by name."""


def _missing(name: str) -> FineError:
    return FineError(
        f"--log {name} needs {name}: pip install 'functional-indirection[{name}]', or leave out "
        "--log"
    )


@contextlib.contextmanager
def open_log(name: str, folder: Path, config: RunConfig) -> Iterator[Log]:
    """The log of this name; an empty name, and processes of a group but the first, write none."""
    if name and name not in LOGS:
        raise unknown("log", name, LOGS)
    log: Log = LOGS[name](folder, config) if name and not own_rank() else NoLog()
    try:
        yield log
    finally:
        log.close()
