"""What each table of the paper costs on few and many cores, from a bench: python benchmarks/costs.py bench.json

Cells are those of `fine reproduce`, at the speeds of their models in the bench, with a start and a test each; puzzles of colour
pictures cost as much more as they cost `fine`. More workers than cells do not help: a cell is one thread. The column for a GPU
is an estimate, not a measurement: it is taken to wait for its kernels to be launched, not for arithmetic.
"""

import heapq
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from fine.bench import Bench, read_bench
from fine.experiments import EXPERIMENTS, Cell, make_experiment
from fine.experiments.durations import show_duration
from fine.experiments.estimates import START
from fine.experiments.experiment import cells
from fine.protocols import PROTOCOLS
from timing import show

GPU = 9_000
"""Puzzles a second that a GPU is taken to train and to solve: a step of `fine` has 281 operations and 429 views (counted),
each is taken to be 10 µs of launching it and of Python, and together they show 64 puzzles."""


def speeds(bench: Bench) -> Mapping[str, tuple[float, float]]:
    """Training and solving puzzles/s of each model."""
    return {model: (row["training, puzzles/s"], row["solving, puzzles/s"]) for model, row in bench.tables[0].rows.items()}


def seconds(cell: Cell, bench: Bench) -> float:
    """Core-seconds of a cell."""
    task, (training, solving) = cell.config.task, speeds(bench)[cell.config.model]
    in_colour = task.images == "cifar100" and task.channels != 1
    factor = bench.tables[3].rows["channels 3"]["time a puzzle beside the usual"] if in_colour else 1.0
    return START + factor * (cell.config.training.epochs * task.train_count / training + task.test_count / solving)


def on_workers(lengths: Sequence[float], workers: int) -> float:
    """Seconds until all is done, when the longest is begun first and each goes to the worker who is free first."""
    free = [0.0] * workers
    for length in sorted(lengths, reverse=True):
        heapq.heappush(free, heapq.heappop(free) + length)
    return max(free)


def main() -> None:
    bench = read_bench(Path(sys.argv[1]))
    for protocol in ("quick", "paper"):
        rows = []
        for name in EXPERIMENTS:
            wanted = cells(make_experiment(name, training=PROTOCOLS[protocol]).places)
            lengths = [seconds(cell, bench) for cell in wanted]
            shown = [
                cell.config.training.epochs * cell.config.task.train_count + cell.config.task.test_count for cell in wanted
            ]
            gpu = sum(START + puzzles / GPU for puzzles in shown)
            ours = [length for cell, length in zip(wanted, lengths, strict=True) if cell.config.model == "fine"]
            times = (sum(ours), *(on_workers(lengths, workers) for workers in (1, 2, 100)), gpu)
            lasting = (show_duration(time) if time else "·" for time in times)
            rows.append((name, str(len(wanted)), f"{sum(shown) / 1e6:,.1f}", *lasting))
        columns = (
            "table",
            "cells",
            "million puzzles",
            "`fine` alone, 1 core",
            "1 core",
            "2 cores",
            "100 workers",
            "a GPU, estimated",
        )
        show(f"What the tables cost, {protocol} protocol, one seed", columns, rows)


if __name__ == "__main__":
    main()
