"""How fast puzzles become images, as they are and augmented: python benchmarks/rendering.py [1]

By the time of the processor, on one thread, and by the clock on one thread and two. Two threads
only help where two cores are free: a thread that waits for a busy core holds up the other, which
takes minutes on a busy machine. Give 1 to leave them out. The target is for two cores with a
process on each, as `fine reproduce` uses them.
"""

import sys
import time
from statistics import median

import numpy as np
import torch

from fine.allocation import keep_freed_memory
from fine.images import Images, load_images
from fine.puzzles import Puzzles, draw_puzzles
from fine.rules import rule_set
from fine.training import Training
from fine.training.feed import Feed
from timing import show, take_turns, verdict

TARGET = 100_000
"""Images in a second, on two cores, in grey."""
PUZZLES = 256
"""Puzzles rendered each time, in whole batches."""
PARTS = ("", "turns", "all")
"""Augmentations of images."""


def colour_noise() -> Images:
    """Three channels that need no download."""
    generator = torch.Generator().manual_seed(0)
    pixels = torch.randint(256, (2000, 3, 32, 32), dtype=torch.uint8, generator=generator)
    names = tuple(f"noise-{number}" for number in range(100))
    return Images("colour noise", pixels, torch.arange(2000) % 100, names)


class Rendering:
    """The same puzzles in batches of one size, augmented anew each time, on some threads."""

    def __init__(self, puzzles: Puzzles, batch: int, parts: str, *, threads: int):
        self.feed = Feed(puzzles, Training(augment_images=parts), 0, torch.device("cpu"))
        self.batches = np.split(np.arange(PUZZLES), PUZZLES // batch)
        self.threads = threads

    def __call__(self) -> None:
        torch.set_num_threads(self.threads)
        self.feed.epoch += 1
        for numbers in self.batches:
            self.feed(numbers)


def main() -> None:
    keep_freed_memory()  # as training and evaluation do
    sources = (load_images("glyphs"), colour_noise())
    sets = [draw_puzzles(images, rule_set("affine"), PUZZLES, seed=0) for images in sources]
    cases = [(puzzles, batch, parts) for puzzles in sets for batch in (64, 256) for parts in PARTS]
    clocks = [(1, time.process_time), (1, time.perf_counter), (2, time.perf_counter)]
    columns = ["source", "augmented", "batch", "of a core", "1 thread", "2 threads"]
    if sys.argv[1:] == ["1"]:
        clocks.pop(), columns.pop()
    speeds: list[list[float]] = [[] for _ in cases]
    # Not in turns: the second thread spins on for a while, in the way of whoever comes next.
    for threads, clock in clocks:
        candidates = [Rendering(*case, threads=threads) for case in cases]
        for row, seconds in zip(speeds, take_turns(candidates, rounds=7, clock=clock), strict=True):
            row.append(7 * PUZZLES / median(seconds))
    rows = []
    for (puzzles, batch, parts), row in zip(cases, speeds, strict=True):
        grey = puzzles.images.pixels.shape[1] == 1
        met = verdict(2 * row[0] >= TARGET) if grey else ""
        shown = (f"{speed:,.0f}" for speed in row)
        rows.append((puzzles.images.name, parts or "none", f"{batch}", *shown, met))
    show("Rendering, images/s", (*columns, f"two cores ≥ {TARGET:,}"), rows)


if __name__ == "__main__":
    main()
