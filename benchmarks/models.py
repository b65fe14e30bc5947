"""How fast each model trains beside FINE with the same encoder: python benchmarks/models.py

Whole steps of the real trainer, rendering included, on the same puzzles and in turn. One thread, as several runs at once have.
"""

import tempfile
import time
from pathlib import Path
from statistics import median

import torch

from fine.models import MODELS
from fine.protocols import Training
from fine.runs import Run, RunConfig
from fine.tasks import Task
from fine.training import Trainer
from timing import median_ratio, show, take_turns

BATCH = 64
ENCODERS = ("p4-cnn", "conv")


class Step:
    """A training step of one model."""

    def __init__(self, model: str, encoder: str, task: Task):
        config = RunConfig(model=model, task=task, training=Training(batch=BATCH), settings={"encoder": encoder})
        self.trainer = Trainer(Run(Path(tempfile.mkdtemp())), config, torch.device("cpu"))
        self.trainer.model.train()
        self.render, self.specs = self.trainer.puzzles.renderer(), self.trainer.puzzles.specs[:BATCH]

    @property
    def parameters(self) -> int:
        return sum(weight.numel() for weight in self.trainer.model.parameters())

    def __call__(self) -> None:
        self.trainer._step(self.render(self.specs), 1e-6, BATCH, 0)


def main() -> None:
    torch.set_num_threads(1)
    task = Task.preset("glyphs", rules="affine")
    for encoder in ENCODERS:
        steps = {name: Step(name, encoder, task) for name in MODELS}
        seconds = dict(zip(steps, take_turns(list(steps.values()), rounds=15, clock=time.process_time), strict=True))
        rows = []
        for name, taken in seconds.items():
            speed, ratio = BATCH / median(taken), median_ratio(seconds["fine"], taken)
            rows.append((name, f"{steps[name].parameters:,}", f"{speed:,.0f}", f"{ratio:.2f}×"))
        show(
            f"Training with the {encoder} encoder, batch {BATCH}",
            ("model", "parameters", "puzzles/core-s", "beside fine"),
            rows,
        )


if __name__ == "__main__":
    main()
