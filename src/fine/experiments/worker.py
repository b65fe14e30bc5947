"""Runs one cell: trains its run, or resumes it, and returns the result; or takes its probe.

`python -m fine.experiments.worker` does so as a process. It reads a cell as a line of JSON from
standard input, reports progress as lines of JSON on standard output, and is then ready for another
cell. It ends at once when its input is closed, which also happens when the process that started it
dies: no cell is left running alone.
"""

import contextlib
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
from fine.experiments.measures import measure
from fine.experiments.probes import Probe
from fine.experiments.records import Epoch, Record, Test, record
from fine.io.files import read_json
from fine.io.locks import locked
from fine.io.tables import read_table
from fine.models import model_config
from fine.training.api import resume_locked, start_locked
from fine.training.checkpoint import TEST_ACCURACY
from fine.training.progress import Progress
from fine.training.run import Run, RunConfig, as_dict, from_dict

PATIENCE = 20.0
"""Seconds to wait for the process of an earlier attempt to be gone."""
A_TRAINING = 24 * 3600.0
"""Seconds a probe waits while another one trains the run that both of them need."""

Message = dict[str, Any]


def run_cell(
    cell: Cell, folder: Path, *, device: str = "cpu", progress: Progress | None = None
) -> Message:
    """Complete the run of a cell, from wherever it is; its result and its learning curve."""
    if cell.probe is None:
        return _train(cell, folder, device=device, progress=progress, patience=PATIENCE)
    trained = partial(_trained, work_folder=folder.parent, device=device, progress=progress)
    return {"result": measure(cell, trained, device=device), "curve": [], "test_curve": []}


def _trained(
    config: RunConfig, *, work_folder: Path, device: str, progress: Progress | None
) -> Run:
    """The finished run of a configuration in a work folder; trained now if it is not there."""
    cell = Cell(config)
    folder = work_folder / cell.key
    if not Run(folder).finished:
        _train(cell, folder, device=device, progress=progress, patience=A_TRAINING)
    return Run(folder)


def _train(
    cell: Cell, folder: Path, *, device: str, progress: Progress | None, patience: float
) -> Message:
    with locked(folder, patience=patience):
        run = Run(folder)
        if run.exists and not cell.same_run(run.config()):
            raise FineError(
                f"{folder} holds another run than {cell.key}: delete it, or choose another work "
                "folder"
            )
        if not run.exists:
            start_locked(
                cell.config,
                folder,
                contextlib.nullcontext(),
                device=device,
                progress=progress,
                trained=find_trained(cell.config, folder),
            )
        elif not run.finished:
            resume_locked(folder, device=device, progress=progress)
        result = read_json(folder / "result.json")
        curve, test_curve = read_curve(folder / "metrics.csv")
        return {"result": result, "curve": curve, "test_curve": test_curve}


def find_trained(config: RunConfig, folder: Path) -> Run | None:
    """A finished run beside ``folder`` with the same training and another test, if there is one."""
    for other in sorted(folder.parent.iterdir()):
        with contextlib.suppress(FineError):
            if Run(other).finished and _training(Run(other).config()) == _training(config):
                return Run(other)
    return None


def _training(config: RunConfig) -> dict[str, Any]:
    """All that training depends on, and nothing of the test except the channels of its images."""
    task = replace(
        config.task,
        test_images="",
        test_rules="",
        test_distractors="",
        test_classes=0,
        test_count=1,
        data_root="",
    )
    return {
        **as_dict(config),
        "task": asdict(task),
        "settings": asdict(model_config(config.model, config.settings)),
        "channels": config.task.image_channels,
    }


def read_outcome(cell: Cell, outcome: Message) -> Record:
    """The record of a cell from what `run_cell` returned."""
    curve = tuple(Epoch(*point) for point in outcome["curve"])
    test_curve = tuple(Test(*point) for point in outcome.get("test_curve", ()))
    return record(cell, outcome["result"], curve, test_curve)


def read_curve(path: Path) -> tuple[list[tuple[float, float]], list[tuple[int, float]]]:
    """Loss and accuracy of every epoch in a metrics.csv, and test accuracies where it has them."""
    try:
        rows = read_table(path)
        curve = [(round(float(row["loss"]), 5), round(float(row["accuracy"]), 5)) for row in rows]
        tested = [row for row in rows if row.get(TEST_ACCURACY)]
        return curve, [(int(row["epoch"]), round(float(row[TEST_ACCURACY]), 5)) for row in tested]
    except (OSError, KeyError, ValueError, TypeError) as problem:
        # A short row has None for what it lacks: a TypeError.
        raise FineError(
            f"{path} cannot be read as a learning curve ({problem}): delete its folder to run it "
            "again"
        ) from problem


def as_text(cell: Cell, folder: Path, device: str) -> str:
    """A cell to be run, as a line of JSON."""
    probe = None if cell.probe is None else asdict(cell.probe)
    content = {"config": as_dict(cell.config), "probe": probe}
    return json.dumps({**content, "folder": str(folder), "device": device})


def from_text(text: str) -> tuple[Cell, Path, str]:
    """What `as_text` was given."""
    content = json.loads(text)
    probe = Probe(**content["probe"]) if content["probe"] else None
    cell = Cell(from_dict(content["config"]), probe)
    return cell, Path(content["folder"]), content["device"]


class JsonProgress:
    """Progress as messages."""

    def __init__(self, send: Callable[[Message], None], cell: Cell):
        self.send, self.puzzles = send, cell.config.task.train_count

    def step(self, *, epoch: int, done: int, loss: float, accuracy: float) -> None:
        self.send({"epoch": epoch, "done": done, "loss": loss, "accuracy": accuracy})

    def epoch(self, *, epoch: int, loss: float, accuracy: float, speed: float) -> None:
        self.step(epoch=epoch, done=epoch * self.puzzles, loss=loss, accuracy=accuracy)


def attempt(text: str, send: Callable[[Message], None]) -> Message:
    """Run a cell given as text, on one thread; any error becomes part of the answer."""
    torch.set_num_threads(1)
    try:
        cell, folder, device = from_text(text)
        return run_cell(cell, folder, device=device, progress=JsonProgress(send, cell))
    except FineError as problem:
        return {"error": str(problem)}
    except Exception as problem:
        return {"error": f"{type(problem).__name__}: {problem}"}


def main() -> None:
    """Run the cells in standard input."""
    cells: queue.SimpleQueue[str] = queue.SimpleQueue()

    def send(message: Message) -> None:
        print(json.dumps(message), flush=True)

    threading.Thread(target=_listen, args=(cells,), daemon=True).start()
    while True:
        send(attempt(cells.get(), send))


def _listen(cells: "queue.SimpleQueue[str]") -> None:
    """Take in cells while one is running, and end when the input is closed."""
    for line in sys.stdin:
        cells.put(line)
    os._exit(1)


if __name__ == "__main__":
    main()
