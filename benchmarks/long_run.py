"""Whether memory grows over a long run: python benchmarks/long_run.py [--steps 2000] [--evaluations 200]

Trains something small for many steps and tests it many times, and fits a line through the memory in use, each half by itself:
the first half may still be warming up. Fails if the second half grows by more than a kilobyte a step or a test.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from fine.evaluation import evaluate
from fine.progress import Silent
from fine.protocols import Training
from fine.runs import Run, RunConfig
from fine.tasks import Task
from fine.training import Trainer
from timing import show, verdict

LARGEST_SLOPE = 1.0
"""Kilobytes a step or a test."""
EPOCH = 10
"""Steps an epoch: a state is written after each, as in a real run."""


def kilobytes_in_use() -> float:
    """Resident memory of this process (Linux)."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1024


def slope(samples: list[tuple[int, float]]) -> float:
    """Kilobytes a step, by least squares."""
    steps, memory = np.array(samples, dtype=float).T
    return float(np.polyfit(steps, memory, 1)[0])


class Watched(Silent):
    """Notes the memory in use after every epoch."""

    def __init__(self) -> None:
        self.samples: list[tuple[int, float]] = []

    def epoch(self, *, epoch: int, **_: float) -> None:
        self.samples.append((epoch * EPOCH, kilobytes_in_use()))


def train(steps: int, folder: Path) -> list[tuple[int, float]]:
    task = replace(Task.preset("glyphs", rules="affine"), train_count=8 * EPOCH, test_count=50)
    config = RunConfig(task=task, training=Training(epochs=steps // EPOCH, batch=8, fresh=True))
    run = Run(folder / "run")
    run.save_config(config)
    watched = Watched()
    Trainer(run, config, torch.device("cpu")).fit(watched)
    return watched.samples


def test(times: int) -> list[tuple[int, float]]:
    config = RunConfig(task=replace(Task.preset("glyphs", rules="affine"), test_count=50))
    model, puzzles = config.build(), config.task.test_puzzles()
    samples = []
    for number in range(times):
        evaluate(model, puzzles).summary()
        samples.append((number, kilobytes_in_use()))
    return samples


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--evaluations", type=int, default=200)
    wanted = parser.parse_args()
    torch.set_num_threads(1)
    rows, met = [], True
    with tempfile.TemporaryDirectory() as folder:
        runs: tuple[tuple[str, Callable[[], list[tuple[int, float]]]], ...] = (
            (f"{wanted.steps:,} training steps", lambda: train(wanted.steps, Path(folder))),
            (f"{wanted.evaluations:,} evaluations", lambda: test(wanted.evaluations)),
        )
        for name, work in runs:
            samples = work()
            halves = [slope(samples[: len(samples) // 2]), slope(samples[len(samples) // 2 :])]
            met &= halves[1] <= LARGEST_SLOPE
            memory = f"{samples[0][1] / 1024:,.0f} → {samples[-1][1] / 1024:,.0f}"
            rows.append((name, memory, *(f"{half:+.3f}" for half in halves), verdict(halves[1] <= LARGEST_SLOPE)))
    columns = ("", "MB in use", "first half, KB each", "second half, KB each", f"≤ {LARGEST_SLOPE:g}")
    show("Memory over a long run", columns, rows)
    return not met


if __name__ == "__main__":
    sys.exit(main())
