"""How fast puzzles become pictures: python benchmarks/rendering.py

Two threads only help where two cores are free: a thread that waits for a busy core holds up the other.
"""

import torch

from fine.allocation import keep_freed_memory
from fine.images import Images, load_images
from fine.puzzles import Puzzles, draw_puzzles
from fine.rules import rule_set
from timing import rate, show, take_turns, verdict

TARGET = 100_000
"""Images a second, on two cores."""
PUZZLES = 512
"""Puzzles rendered each time, in whole batches."""


def colour_noise() -> Images:
    """Three channels that need no download."""
    pixels = torch.randint(256, (2000, 3, 32, 32), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))
    return Images("colour noise", pixels, torch.arange(2000) % 100, tuple(f"noise-{k}" for k in range(100)))


class Rendering:
    """The same puzzles in batches of one size, with a number of threads."""

    def __init__(self, puzzles: Puzzles, *, batch: int, threads: int):
        self.render, self.threads = puzzles.renderer(), threads
        self.batches = [puzzles.specs[at : at + batch] for at in range(0, PUZZLES, batch)]

    def __call__(self) -> None:
        torch.set_num_threads(self.threads)
        for specs in self.batches:
            self.render(specs)


def main() -> None:
    keep_freed_memory()  # as training and evaluation do
    rows, candidates = [], []
    for images in (load_images("glyphs"), colour_noise()):
        puzzles = draw_puzzles(images, rule_set("affine"), PUZZLES, seed=0)
        for batch in (64, 256):
            for threads in (1, 2):
                rows.append((images.name, f"{images.pixels.shape[1]}", f"{batch}", f"{threads}"))
                candidates.append(Rendering(puzzles, batch=batch, threads=threads))
    speeds = [rate(7 * PUZZLES, seconds) for seconds in take_turns(candidates, rounds=9)]
    rows = [(*row, f"{speed:,.0f}", verdict(speed >= TARGET)) for row, speed in zip(rows, speeds, strict=True)]
    show("Rendering", ("source", "channels", "batch", "threads", "images/s", f"≥ {TARGET:,}"), rows)


if __name__ == "__main__":
    main()
