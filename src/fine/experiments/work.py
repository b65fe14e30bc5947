"""What is done for one cell: train its run, or go on where it was stopped, and hand back its result, or what its probe finds.

`python -m fine.experiments.work` does it as a process of its own. It reads a cell from standard input, a line of JSON, tells on
standard output how it goes, a line of JSON each time, and is then ready for another cell. It ends at once when its input is
closed, as it is when the process that started it dies: so no cell is ever left running alone.
"""

import contextlib
import csv
import json
import os
import queue
import sys
import threading
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from fine.errors import FineError
from fine.experiments.cells import Cell
from fine.experiments.ledger import Epoch, Record, record
from fine.experiments.measuring import measure
from fine.experiments.probes import Probe
from fine.locking import locked
from fine.models import model_config
from fine.progress import Progress
from fine.runs import Run, RunConfig
from fine.storage import read_json
from fine.training import begin, go_on
from fine.typed_json import read_as

PATIENCE = 20.0
"""Seconds to wait for the process of an earlier attempt to be gone."""
A_TRAINING = 24 * 3600.0
"""Seconds a probe waits while another one has the run trained that both of them need."""


def work(cell: Cell, folder: Path, *, device: str = "cpu", progress: Progress | None = None) -> dict[str, Any]:
    """Bring the run of a cell to its end, from wherever it is, and return its result and its learning curve."""
    if cell.probe is not None:
        trained = partial(_trained, work_folder=folder.parent, device=device, progress=progress)
        return {"result": measure(cell, trained, device=device), "curve": []}
    return _train(cell, folder, device=device, progress=progress, patience=PATIENCE)


def _trained(config: RunConfig, *, work_folder: Path, device: str, progress: Progress | None) -> Run:
    """The finished run of a configuration among those of a work folder; trained now if it is not there."""
    cell = Cell(config)
    folder = work_folder / cell.key
    if not Run(folder).finished:
        _train(cell, folder, device=device, progress=progress, patience=A_TRAINING)
    return Run(folder)


def _train(cell: Cell, folder: Path, *, device: str, progress: Progress | None, patience: float) -> dict[str, Any]:
    with locked(folder, patience=patience):
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
    """All that training depends on, and nothing of the test but whether its pictures have colours."""
    task = replace(config.task, test_images="", test_rules="", test_classes=0, test_count=1, data_root="")
    settings = asdict(model_config(config.model, config.settings))
    return {**asdict(config), "task": asdict(task), "settings": settings, "channels": config.task.picture_channels}


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
    probe = None if cell.probe is None else asdict(cell.probe)
    return json.dumps({"config": asdict(cell.config), "probe": probe, "folder": str(folder), "device": device})


def from_text(text: str) -> tuple[Cell, Path, str]:
    """What `as_text` was given."""
    content = json.loads(text)
    cell = Cell(read_as(RunConfig, content["config"]), Probe(**content["probe"]) if content["probe"] else None)
    return cell, Path(content["folder"]), content["device"]


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
    """Work on the cells in standard input."""
    cells: queue.SimpleQueue[str] = queue.SimpleQueue()

    def tell(message: dict[str, Any]) -> None:
        print(json.dumps(message), flush=True)

    threading.Thread(target=_listen, args=(cells,), daemon=True).start()
    while True:
        tell(attempt(cells.get(), tell))


def _listen(cells: "queue.SimpleQueue[str]") -> None:
    """Take in cells while one is worked on, and end with the one who started us."""
    for line in sys.stdin:
        cells.put(line)
    os._exit(1)


if __name__ == "__main__":
    main()
