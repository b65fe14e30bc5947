"""Whether a million training puzzles cost more than ten thousand: python benchmarks/big_training.py

Each is the real trainer on `fine`, in a process of its own, so that its peak memory is its own
(read from /proc: Linux). They train the first batches of an epoch, a few at a time and in turn,
in CPU time on one thread. Drawing the puzzles is shown separately. `--steps 80` sets how many
steps.
"""

import argparse
import multiprocessing
import sys
import time
from dataclasses import replace
from multiprocessing.connection import Connection
from statistics import median

import torch

from fine.bench.steps import Step
from fine.puzzles.task import Task
from fine.randomness import random_order
from specs import megabytes
from timing import median_ratio, show, verdict

SIZES = (10_000, 1_000_000)
BATCH, TURN = 64, 10
"""Puzzles in a step, and steps in a turn."""
MOST_MEGABYTES, LEAST_SPEED = 2_000, 0.95
"""Most memory of the larger at its peak, and the share of the smaller's speed it should have."""


def trainer(size: int, wire: Connection) -> None:
    """Draw the puzzles, then train a turn for every number that comes; send the seconds of each."""
    torch.set_num_threads(1)
    started = time.process_time()
    task = replace(Task.preset("glyphs", rules="affine"), train_count=size)
    step = Step("fine", task, batch=BATCH)
    order = random_order(size, 0, 0)
    wire.send(time.process_time() - started)
    while (turn := wire.recv()) is not None:
        started = time.process_time()
        for number in range(TURN * turn, TURN * (turn + 1)):
            batch = order[BATCH * number : BATCH * (number + 1)]
            step.specs = step.trainer.puzzles.specs[batch]
            step()
        wire.send(time.process_time() - started)
    wire.send((megabytes("VmRSS"), megabytes("VmHWM")))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    most = "steps that each trains; at most 156, an epoch of the smaller"
    parser.add_argument("--steps", type=int, default=80, help=most)
    turns = min(parser.parse_args().steps, SIZES[0] // BATCH) // TURN
    context, wires, workers = multiprocessing.get_context("spawn"), [], []
    for size in SIZES:
        ours, theirs = context.Pipe()
        workers.append(context.Process(target=trainer, args=(size, theirs), daemon=True))
        workers[-1].start()
        wires.append(ours)
    drawing = [wire.recv() for wire in wires]
    taken: list[list[float]] = [[], []]
    for turn in range(turns):
        for wire, seconds in zip(wires, taken, strict=True):
            wire.send(turn)
            seconds.append(wire.recv())
    rows, speed = [], median_ratio(taken[0][1:], taken[1][1:])  # the first turn warms up
    for size, wire, drawn, seconds in zip(SIZES, wires, drawing, taken, strict=True):
        wire.send(None)
        now, peak = wire.recv()
        puzzles = f"{BATCH * TURN / median(seconds[1:]):,.0f}"
        memory = (f"{now:,.0f}", f"{peak:,.0f}", verdict(peak <= MOST_MEGABYTES))
        rows.append((f"{size:,}", f"{drawn:.1f}", puzzles, *memory))
    for worker in workers:
        worker.join()
    sizes = ("MB resident", "at its peak", f"≤ {MOST_MEGABYTES:,} MB")
    columns = ("training puzzles", "start, s", "puzzles/s", *sizes)
    show(f"`fine`, {TURN * (turns - 1)} steps of {BATCH}, in turn", columns, rows)
    met = "ok" if speed >= LEAST_SPEED else "missed"
    print(f"speed of the larger: {speed:.3f} of the smaller's; ≥ {LEAST_SPEED}: {met}")
    return speed < LEAST_SPEED or peak > MOST_MEGABYTES


if __name__ == "__main__":
    sys.exit(main())
