"""What is done for one cell: train its run, or go on where it was stopped, and hand back its result.

`python -m fine.experiments.work` does it as a process of its own. It reads a cell from standard input, a line of JSON, tells on
standard output how it goes, a line of JSON each time, and ends at once when standard input is closed, as it is when the process
that started it dies: so no cell is ever left running alone.
"""

import contextlib
import csv
import json
import os
import sys
import threading
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch

from fine.errors import FineError
from fine.experiments.cells import Cell
from fine.experiments.ledger import Epoch, Record, record
from fine.locking import locked
from fine.models import model_config
from fine.progress import Progress
from fine.protocols import Training
from fine.runs import Run, RunConfig
from fine.storage import read_json
from fine.tasks import Task
from fine.training import begin, go_on

PATIENCE = 20.0
"""Seconds to wait for the process of an earlier attempt to be gone."""


def work(cell: Cell, folder: Path, *, device: str = "cpu", progress: Progress | None = None) -> dict[str, Any]:
    """Bring the run of a cell to its end, from wherever it is, and return its result and its learning curve."""
    with locked(folder, patience=PATIENCE):
        run = Run(folder)
        if run.exists and not cell.same_run(run.config()):
            raise FineError(f"{folder} holds another run than {cell.key}: delete it, or choose another work folder")
        if not run.exists:
            learned = find_learned(cell.config, folder)
            begin(cell.config, folder, contextlib.nullcontext(), device=device, progress=progress, learned=learned)
        elif not run.finished:
            go_on(folder, device=device, progress=progress)
        return {"result": read_json(folder / "result.json"), "curve": read_curve(folder / "metrics.csv")}


def find_learned(config: RunConfig, folder: Path) -> Run | None:
    """A finished run beside ``folder`` that learned what this one would and was tested on something else, if there is one."""
    for other in sorted(folder.parent.iterdir()):
        with contextlib.suppress(FineError):
            if Run(other).finished and _learning(Run(other).config()) == _learning(config):
                return Run(other)
    return None


def _learning(config: RunConfig) -> dict[str, Any]:
    """All that training depends on, and nothing of the test."""
    task = replace(config.task, test_images="", test_rules="", test_classes=0, test_count=1, data_root="")
    settings = asdict(model_config(config.model, config.settings))
    return {**asdict(config), "task": asdict(task), "settings": settings, "channels": 0}


def read_outcome(cell: Cell, outcome: dict[str, Any]) -> Record:
    """The record of a cell from what `work` returned."""
    return record(cell, outcome["result"], tuple(Epoch(*point) for point in outcome["curve"]))


def read_curve(path: Path) -> list[tuple[float, float]]:
    """Loss and accuracy of every epoch in a metrics.csv."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return [(round(float(row["loss"]), 5), round(float(row["accuracy"]), 5)) for row in csv.DictReader(file)]
    except (OSError, KeyError, ValueError, TypeError, csv.Error) as problem:  # a short row gives None, which is no number
        raise FineError(
            f"{path} cannot be read as a learning curve ({problem}): delete its folder to run it again"
        ) from problem


def as_text(cell: Cell, folder: Path, device: str) -> str:
    """A cell to be run, as a line of JSON."""
    return json.dumps({"config": asdict(cell.config), "folder": str(folder), "device": device})


def from_text(text: str) -> tuple[Cell, Path, str]:
    """What `as_text` was given."""
    content = json.loads(text)
    config = content["config"]
    task, training = Task(**config.pop("task")), Training(**config.pop("training"))
    return Cell(RunConfig(task=task, training=training, **config)), Path(content["folder"]), content["device"]


class Told:
    """Progress as messages."""

    def __init__(self, tell: Callable[[dict[str, Any]], None], cell: Cell):
        self.tell, self.puzzles = tell, cell.config.task.train_count

    def step(self, *, epoch: int, done: int, loss: float, accuracy: float) -> None:
        self.tell({"epoch": epoch, "done": done, "loss": loss, "accuracy": accuracy})

    def epoch(self, *, epoch: int, loss: float, accuracy: float, speed: float) -> None:
        self.step(epoch=epoch, done=epoch * self.puzzles, loss=loss, accuracy=accuracy)


def attempt(text: str, tell: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """Work on a cell given as text, with one thread; whatever goes wrong is an error in the answer and stops no other cell."""
    torch.set_num_threads(1)
    try:
        cell, folder, device = from_text(text)
        return work(cell, folder, device=device, progress=Told(tell, cell))
    except FineError as problem:
        return {"error": str(problem)}
    except Exception as problem:
        return {"error": f"{type(problem).__name__}: {problem}"}


def main() -> None:
    """Work on the cell in standard input."""

    def tell(message: dict[str, Any]) -> None:
        print(json.dumps(message), flush=True)

    text = sys.stdin.buffer.raw.readline().decode()  # type: ignore[union-attr]  # unbuffered, for the lifeline reads on
    threading.Thread(target=_end_with_the_one_who_started_us, daemon=True).start()
    tell(attempt(text, tell))


def _end_with_the_one_who_started_us() -> None:
    while os.read(sys.stdin.fileno(), 1):
        pass
    os._exit(1)


if __name__ == "__main__":
    main()
