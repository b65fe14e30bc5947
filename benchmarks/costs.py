"""What each table of the paper costs on few and many cores: python benchmarks/costs.py bench.json

Cells are those of `fine reproduce`, at the speeds of their models in a bench (`fine bench
--out`), with a start and a test each; colour images cost as much more as they cost `fine`. More
workers than cells do not help: a cell is one thread. Probes measure runs of table 1, which are
counted there. The column for a GPU is an estimate, not a measurement: it is assumed to wait for
its kernels to be launched, not for arithmetic.
"""

import heapq
import sys
from collections.abc import Sequence
from pathlib import Path

from fine.bench import Bench, read_bench
from fine.experiments import EXPERIMENTS, Cell, make_experiment
from fine.experiments.durations import show_duration
from fine.experiments.estimates import START
from fine.experiments.experiment import cells
from fine.training.protocols import PROTOCOLS
from timing import show

GPU = 9_000
"""Puzzles in a second that a GPU is assumed to train and to solve: a step of `fine` has 281
operations and 429 views (counted), each 10 µs of launching and Python, for 64 puzzles."""


def speeds(cell: Cell, bench: Bench) -> tuple[float, float]:
    """Training and solving puzzles/s of a cell's model."""
    rows = bench.table("speed").rows
    model = cell.config.model
    row = rows.get(model, rows["fine"])  # an older bench lacks fine-grouped, which is as fast
    return row["training, puzzles/s"], row["solving, puzzles/s"]


def puzzles(cell: Cell) -> tuple[int, int]:
    """Puzzles that a cell trains on, in all epochs, and those that it is tested on."""
    if cell.probe is not None:
        return 0, cell.probe.count
    task = cell.config.task
    return cell.config.training.epochs * task.train_count, task.test_count


def seconds(cell: Cell, bench: Bench) -> float:
    """Core-seconds of a cell; of a probe, without the training of its run."""
    task = cell.config.task
    train_speed, test_speed = speeds(cell, bench)
    in_colour = task.images == "cifar100" and task.channels != 1
    factor = 1.0
    if in_colour:
        factor = bench.table("growth").rows["channels 3"]["time a puzzle beside the usual"]
    trained, tested = puzzles(cell)
    return START + factor * (trained / train_speed + tested / test_speed)


def on_workers(lengths: Sequence[float], workers: int) -> float:
    """Seconds until all is done, the longest first, each on the worker who is free first."""
    free = [0.0] * workers
    for length in sorted(lengths, reverse=True):
        heapq.heappush(free, heapq.heappop(free) + length)
    return max(free)


def row(name: str, protocol: str, bench: Bench) -> tuple[str, ...]:
    """A table of the paper: its cells, its puzzles, and how long they take."""
    wanted = cells(make_experiment(name, training=PROTOCOLS[protocol]).places)
    lengths = [seconds(cell, bench) for cell in wanted]
    shown = [sum(puzzles(cell)) for cell in wanted]
    pairs = zip(wanted, lengths, strict=True)
    ours = sum(length for cell, length in pairs if cell.config.model == "fine")
    gpu = sum(START + count / GPU for count in shown)
    times = (ours, *(on_workers(lengths, workers) for workers in (1, 2, 100)), gpu)
    durations = (show_duration(time) if time else "·" for time in times)
    return name, str(len(wanted)), f"{sum(shown) / 1e6:,.1f}", *durations


def main() -> None:
    bench = read_bench(Path(sys.argv[1]))
    times = ("`fine` alone, 1 core", "1 core", "2 cores", "100 workers", "a GPU, estimated")
    columns = ("table", "cells", "million puzzles", *times)
    for protocol in ("quick", "paper"):
        rows = [row(name, protocol, bench) for name in EXPERIMENTS]
        show(f"What the tables cost, {protocol} protocol, one seed", columns, rows)


if __name__ == "__main__":
    main()
