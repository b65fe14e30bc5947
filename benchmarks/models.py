"""How fast each model trains beside FINE, same encoder: python benchmarks/models.py [NAME …]

Whole steps of the real trainer, rendering included, on the same puzzles and in turn. One thread, as
several runs at once have.
"""

import sys
import time
from collections.abc import Sequence
from statistics import median

import torch

from fine.bench.steps import Step
from fine.models import MODELS
from fine.puzzles.task import Task
from timing import median_ratio, show, take_turns

BATCH = 64
ENCODERS = ("p4-cnn", "conv")


def main(names: Sequence[str]) -> None:
    """Measure these models, or all of them, beside `fine`."""
    torch.set_num_threads(1)
    task = Task.preset("glyphs", rules="affine")
    columns = ("model", "parameters", "puzzles/core-s", "beside fine")
    for encoder in ENCODERS:
        steps = {
            name: Step(name, task, batch=BATCH, settings=with_encoder(name, encoder))
            for name in dict.fromkeys(("fine", *(names or MODELS)))
        }
        times = take_turns(list(steps.values()), rounds=15, clock=time.process_time)
        seconds = dict(zip(steps, times, strict=True))
        rows = []
        for name, taken in seconds.items():
            speed, ratio = BATCH / median(taken), median_ratio(seconds["fine"], taken)
            rows.append((name, f"{steps[name].parameters:,}", f"{speed:,.0f}", f"{ratio:.2f}×"))
        show(f"Training with the {encoder} encoder, batch {BATCH}", columns, rows)


def with_encoder(name: str, encoder: str) -> dict[str, str]:
    """The settings of a model with this encoder; none, if it has no encoder."""
    return {"encoder": encoder} if hasattr(MODELS[name].config, "encoder") else {}


if __name__ == "__main__":
    main(sys.argv[1:])
