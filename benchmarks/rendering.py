"""How fast puzzles become images: python benchmarks/rendering.py

Two threads only help where two cores are free: a thread that waits for a busy core holds up the
other.
"""

from statistics import median

import torch

from fine.allocation import keep_freed_memory
from fine.images import Images, load_images
from fine.puzzles import Puzzles, draw_puzzles
from fine.rules import rule_set
from timing import show, take_turns, verdict

TARGET = 100_000
"""Images in a second, on two cores."""
PUZZLES = 512
"""Puzzles rendered each time, in whole batches."""


def colour_noise() -> Images:
    """Three channels that need no download."""
    generator = torch.Generator().manual_seed(0)
    pixels = torch.randint(256, (2000, 3, 32, 32), dtype=torch.uint8, generator=generator)
    names = tuple(f"noise-{number}" for number in range(100))
    return Images("colour noise", pixels, torch.arange(2000) % 100, names)


class Rendering:
    """The same puzzles in batches of one size, with a number of threads."""

    def __init__(self, puzzles: Puzzles, batch: int, *, threads: int):
        self.render, self.threads = puzzles.renderer(), threads
        self.batches = [puzzles.specs[at : at + batch] for at in range(0, PUZZLES, batch)]

    def __call__(self) -> None:
        torch.set_num_threads(self.threads)
        for specs in self.batches:
            self.render(specs)


def main() -> None:
    keep_freed_memory()  # as training and evaluation do
    sources = (load_images("glyphs"), colour_noise())
    sets = [draw_puzzles(images, rule_set("affine"), PUZZLES, seed=0) for images in sources]
    rows = []
    # Not in turns: the second thread spins on for a while, in the way of whoever comes next.
    for threads in (1, 2):
        cases = [(puzzles, batch) for puzzles in sets for batch in (64, 256)]
        times = take_turns([Rendering(*case, threads=threads) for case in cases], rounds=9)
        for (puzzles, batch), seconds in zip(cases, times, strict=True):
            images, speed = puzzles.images, 7 * PUZZLES / median(seconds)
            shape = (images.name, f"{images.pixels.shape[1]}", f"{batch}", f"{threads}")
            rows.append((*shape, f"{speed:,.0f}", verdict(speed >= TARGET)))
    columns = ("source", "channels", "batch", "threads", "images/s", f"≥ {TARGET:,}")
    show("Rendering", columns, rows)


if __name__ == "__main__":
    main()
