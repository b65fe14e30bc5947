"""Writes a run, a stopped run and a ledger in the present format, to be kept for ever: python tests/formats/make.py

Run it once when a format gets a new number; what older versions wrote is never written again.
"""

import contextlib
import json
import sys
from pathlib import Path

import torch

from fine.experiments import Cell, Ledger
from fine.experiments.ledger import failure
from fine.experiments.work import read_outcome, work
from fine.progress import Silent
from fine.protocols import Training
from fine.runs import FORMAT, Run, RunConfig
from fine.tasks import Task
from fine.training import train

CONFIG = RunConfig(
    task=Task(images="glyphs", rules="translation", train_classes=4, test_classes=4, train_count=8, test_count=4),
    training=Training(epochs=2, batch=4),
    settings={"code": 64, "columns": 4, "slots": 2},
)


def pictures() -> torch.Tensor:
    """One puzzle that needs no data and no random numbers: waves of seven lengths."""
    ticks = torch.arange(32.0)
    return torch.stack([torch.sin(ticks[:, None] / (n + 2) + ticks / 5) for n in range(7)])[None, :, None] / 2 + 0.5


class Stop(Silent):
    """Stops after the first epoch."""

    def epoch(self, **_: float) -> None:
        raise KeyboardInterrupt


def main() -> None:
    place = Path(__file__).parent / str(FORMAT)
    if place.exists():
        sys.exit(f"{place} is there already: files of a format are made once")
    cell = Cell(CONFIG)
    outcome = work(cell, place / "finished")
    with contextlib.suppress(KeyboardInterrupt):
        train(CONFIG, place / "stopped", progress=Stop())
    ledger = Ledger(place / "ledger")
    ledger.write(read_outcome(cell, outcome))
    ledger.write(failure(cell.with_seed(1), "there was no more memory"))
    with torch.no_grad():
        logits = Run(place / "finished").load()(pictures())
    (place / "finished/puzzles.png").unlink()
    (place / "answers.json").write_text(json.dumps(logits[0].tolist()) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
