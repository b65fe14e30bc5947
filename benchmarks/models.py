"""How fast each model trains beside FINE with the same encoder: python benchmarks/models.py

Whole steps of the real trainer, rendering included, on the same puzzles and in turn. One thread, as several runs at once have.
"""

import time
from statistics import median

import torch

from fine.bench.steps import Step
from fine.models import MODELS
from fine.tasks import Task
from timing import median_ratio, show, take_turns

BATCH = 64
ENCODERS = ("p4-cnn", "conv")


def main() -> None:
    torch.set_num_threads(1)
    task = Task.preset("glyphs", rules="affine")
    for encoder in ENCODERS:
        steps = {name: Step(name, task, batch=BATCH, settings={"encoder": encoder}) for name in MODELS}
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
