"""What tests of experiments share: results that no run made, and tiny cells."""

from collections import deque

from fine.evaluation import wilson
from fine.experiments import Cell, Record
from fine.experiments.executors import Event, Failed, Finished, Step
from fine.experiments.records import Epoch, record
from fine.puzzles.task import Task
from fine.training import RunConfig, Training

PROVENANCE = {
    "fine": "0.1.0",
    "torch": "2.13.0",
    "python": "3.11.7",
    "machine": "x86_64, 1 threads",
    "commit": "abc1234",
}
ROTATION = Cell(RunConfig(model="esbn", task=Task.preset("omniglot", rules="rotation")))


def result(accuracy: float = 0.75, puzzles: int = 400, **more: object) -> dict[str, object]:
    """What the result.json of a run folder may say."""
    wrong = {"wrong rule": 1 - accuracy, "wrong object": 0.0, "both wrong": 0.0}
    rule = {"family": "rotation", "rule": "rotation 15°", "puzzles": puzzles, "right": accuracy}
    return {
        "accuracy": accuracy,
        "interval": list(wilson(round(accuracy * puzzles), puzzles)),
        "puzzles": puzzles,
        "mistakes": wrong,
        "by_rule": [rule | wrong],
        "minutes": 1.5,
        **PROVENANCE,
        **more,
    }


def recorded(cell: Cell, accuracy: float = 0.75, **more: object) -> Record:
    """The record of a cell whose run has that result."""
    return record(cell, result(accuracy, **more), (Epoch(1.2, 0.4), Epoch(0.6, 0.7)))


def outcome() -> dict[str, object]:
    """What `run_cell` may return: half of the puzzles right, after one epoch."""
    return {"result": result(0.5, minutes=0.5), "curve": [[1.0, 0.3]]}


def tiny(*, model: str = "fine", seed: int = 0, epochs: int = 1, train_count: int = 16) -> Cell:
    """A cell over the folder `images`, trained in a moment."""
    task = Task(images="folder:images", rules="swap", train_count=train_count, test_count=8)
    training = Training(epochs=epochs, batch=8, seed=seed)
    return Cell(RunConfig(model=model, task=task, training=training))


FOUR = [tiny(seed=seed) for seed in range(4)]


class FakeExecutor:
    """An executor whose cells end at once, except for those that fail, hang, or report twice."""

    def __init__(
        self,
        *,
        jobs: int = 2,
        failing: tuple[str, ...] = (),
        hanging: tuple[str, ...] = (),
        twice: bool = False,
    ):
        self.jobs, self.failing, self.hanging, self.twice = jobs, failing, hanging, twice
        self.started: list[str] = []
        self.events: deque[Event] = deque()
        self.stopped = False
        self.waited = 0.0

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
        self.waited += timeout
        return None

    def stop(self) -> None:
        self.stopped = True
