"""Writes runs and a ledger in the present formats, to be kept for ever.

    PYTHONPATH=tests python -m laws.formats.make

Run it once when the format of runs gets a new number; what older versions wrote is never written
again. A folder of a format has

    finished, stopped    a run, and the same one stopped after its first epoch
    answers.json         what the finished one answers to `images`
    continual            a continual run, stopped in its second stage (since format 2)
    continual.json       the size of its weights, had it not been stopped
    ledger               the record of the finished run, and a failure
"""

import contextlib
import json
import shutil
import sys
import tempfile
from pathlib import Path

import torch
from torch import Tensor

from fine.continual import ContinualConfig
from fine.experiments import Cell, Ledger
from fine.experiments.records import failure
from fine.experiments.worker import read_outcome, run_cell
from fine.io.tensors import read_tensors
from fine.puzzles.task import Task
from fine.training import Run, RunConfig, Silent, Training, train
from fine.training.run import FORMAT

TASK = Task(
    images="glyphs",
    rules="translation",
    train_classes=4,
    test_classes=4,
    train_count=8,
    test_count=4,
)
SETTINGS = {"embedding_size": 64, "columns": 4}
CONFIG = RunConfig(
    task=TASK, training=Training(epochs=2, batch=4), settings={**SETTINGS, "slots": 2}
)
CONTINUAL = ContinualConfig(
    model="fine-grouped",
    task=Task(**{**vars(TASK), "rules": "translation+rotation", "train_count": 16}),
    training=Training(epochs=2, batch=4),
    settings={**SETTINGS, "slots": 4, "groups": 2},
    strategy="anchor",
)


def images() -> Tensor:
    """One puzzle that needs no data and no random numbers: waves of seven lengths."""
    ticks = torch.arange(32.0)
    waves = [torch.sin(ticks[:, None] / (n + 2) + ticks / 5) for n in range(7)]
    return torch.stack(waves)[None, :, None] / 2 + 0.5


def answers(folder: Path) -> Tensor:
    """The logits of a finished run for `images`."""
    with torch.no_grad():
        return Run(folder).load()(images())[0]


def size(folder: Path) -> float:
    """The sum of all absolute weights of a finished run."""
    weights = read_tensors(Run(folder).weights)[0].values()
    return sum(float(weight.double().abs().sum()) for weight in weights)


class Stop(Silent):
    """Stops a training after some epochs, whichever stage they are of."""

    def __init__(self, epochs: int):
        self.left = epochs

    def epoch(self, **_: float) -> None:
        self.left -= 1
        if not self.left:
            raise KeyboardInterrupt


def main() -> None:
    place = Path(__file__).parent / str(FORMAT)
    if place.exists():
        sys.exit(f"{place} is there already: files of a format are made once")
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        with contextlib.chdir(folder):  # a stage names the folder of the one before
            write_all()
        shutil.copytree(folder, place, ignore=shutil.ignore_patterns("puzzles.png"))


def write_all() -> None:
    """Write everything into the current folder."""
    cell = Cell(CONFIG)
    outcome = run_cell(cell, Path("finished"))
    ledger = Ledger(Path("ledger"))
    ledger.write(read_outcome(cell, outcome))
    ledger.write(failure(cell.with_seed(1), "there was no more memory"))
    write("answers.json", answers(Path("finished")).tolist())
    with contextlib.suppress(KeyboardInterrupt):
        train(CONFIG, Path("stopped"), progress=Stop(1))
    train(CONTINUAL, Path("continual"))
    write("continual.json", {"size": size(Path("continual"))})
    shutil.rmtree("continual")
    with contextlib.suppress(KeyboardInterrupt):
        # Epochs of later stages count a quarter: three are the first stage and half of the second.
        train(CONTINUAL, Path("continual"), progress=Stop(3))


def write(name: str, content: object) -> None:
    Path(name).write_text(json.dumps(content) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
