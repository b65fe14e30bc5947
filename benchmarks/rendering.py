"""How fast puzzles become images, as they are and augmented: python benchmarks/rendering.py

Two threads only help where two cores are free: a thread that waits for a busy core holds up the
other. The time of the processor alone, on one thread, says what rendering costs on any machine.
"""

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
PUZZLES = 512
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
    rows = []
    # Not in turns: the second thread spins on for a while, in the way of whoever comes next.
    for threads, clock in ((1, time.process_time), (1, time.perf_counter), (2, time.perf_counter)):
        candidates = [Rendering(*case, threads=threads) for case in cases]
        times = take_turns(candidates, rounds=9, clock=clock)
        for (puzzles, batch, parts), seconds in zip(cases, times, strict=True):
            images, speed = puzzles.images, 7 * PUZZLES / median(seconds)
            measured = "processor" if clock is time.process_time else "clock"
            shape = (images.name, parts or "none", f"{batch}", f"{threads}", measured)
            grey = images.pixels.shape[1] == 1
            met = verdict(speed >= TARGET) if grey else ""
            rows.append((*shape, f"{speed:,.0f}", met))
    columns = ("source", "augmented", "batch", "threads", "time", "images/s", f"≥ {TARGET:,}")
    show("Rendering", columns, rows)


if __name__ == "__main__":
    main()
