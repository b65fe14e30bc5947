"""Puzzles in colour: python benchmarks/colours.py [MODEL …] [--count 100] [--pixels]

Letters, icons and silhouettes that Pillow has moved (tests/support/other_renderers.py), in inks of
random colours on white, and photographs of CIFAR-100 in their own colours. In the rows `ink`, the
wrong object is the right one in another ink that is as bright, so that grey images are no help.
Right answers of the networks alone, or with --pixels as `fine solve` gives them.
"""

import argparse
import functools
import os
import random
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
from PIL import Image

from fine import load, solve_many
from timing import show

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from support.other_renderers import SIDE, OtherPuzzle, make_puzzle

LIGHT = np.array([0.299, 0.587, 0.114])
"""How bright red, green and blue are."""
Ink = np.ndarray
"""(3,) in 0..1"""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("models", nargs="*", default=["universal-colour", "universal"])
    parser.add_argument("--count", type=int, default=100, help="puzzles of a row")
    parser.add_argument("--pixels", action="store_true", help="with rules tried on the pixels")
    options = parser.parse_args()
    rows = []
    for kind in ("letters", "icons", "silhouettes", "photographs", "ink"):
        for near in (False, True):
            puzzles = [make(kind, number, near=near) for number in range(options.count)]
            shares = []
            for name in options.models:
                asked = [(one.x, one.y, one.new, one.choices) for one in puzzles]
                answers = solve_many(load(name), asked, verify=options.pixels)
                right = [a.index == one.answer for a, one in zip(answers, puzzles, strict=True)]
                shares.append(f"{np.mean(right):.0%}")
            rows.append((kind, "near" if near else "far", str(len(puzzles)), *shares))
    show("Puzzles in colour", ("images", "wrong rule", "n", *options.models), rows)


def make(kind: str, number: int, *, near: bool) -> OtherPuzzle:
    """A puzzle in colour."""
    if kind == "photographs":
        return make_puzzle(
            kind, "pillow", number=120_000 + number, near=near, photographs=photographs()
        )
    drawn = "letters" if kind == "ink" else kind
    made = make_puzzle(drawn, "pillow", number=120_000 + number, near=near)
    rng = random.Random(number)
    least = 0.3 if kind == "ink" else 0.0  # there is no other ink that is as dark as black
    inks = [np.array([rng.uniform(least, 0.6) for _ in range(3)]) for _ in range(2)]
    choices = [coloured(choice, inks[1]) for choice in made.choices]
    if kind == "ink":
        wrong = as_bright_as(inks[1], rng)
        place = made.answer
        choices = [choices[place], coloured(made.choices[place], wrong)]
        choices, place = (choices, 0) if rng.random() < 0.5 else (choices[::-1], 1)
        made = replace(made, answer=place)
    return replace(
        made,
        x=coloured(made.x, inks[0]),
        y=coloured(made.y, inks[0]),
        new=coloured(made.new, inks[1]),
        choices=choices,
    )


def coloured(image: Image.Image, ink: Ink) -> Image.Image:
    """A drawing on white in another ink than black."""
    paper = np.asarray(image)[..., None] / 255
    return Image.fromarray(np.round(255 * (paper + (1 - paper) * ink)).astype(np.uint8))


def as_bright_as(ink: Ink, rng: random.Random) -> Ink:
    """Another ink of the same brightness that is easily told from it."""
    while True:
        other = np.array([rng.random() for _ in range(3)])
        other *= (ink @ LIGHT) / (other @ LIGHT)
        if other.max() <= 1 and np.abs(other - ink).max() > 0.25:
            return other


@functools.cache
def photographs() -> np.ndarray:
    """Photographs of CIFAR-100's test set at twice their size."""
    file = Path(os.environ.get("FINE_DATA", "data")) / "cifar-100-binary/test.bin"
    records = np.fromfile(file, dtype=np.uint8, count=3074 * 400).reshape(-1, 3074)
    images = records[:, 2:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
    size = (SIDE, SIDE)
    large = [Image.fromarray(image).resize(size, Image.Resampling.LANCZOS) for image in images]
    return np.stack([np.asarray(image) for image in large]) / 255


if __name__ == "__main__":
    main()
