"""Solves exported puzzles with NumPy alone: no torch, no JAX, and nothing of `fine`.

    fine puzzles --rules rotation --count 200 --export puzzles.npz
    python examples/numpy_only.py puzzles.npz answers.csv
    fine score answers.csv puzzles.npz

The program knows one thing about the rules: they are rotations. It tries every 15° on x, keeps the
angle that comes nearest to y, rotates the new image by it, and takes the nearest choice.
"""

import sys
from pathlib import Path

import numpy as np

ANGLES = np.arange(0, 360, 15)


def rotate(images, degrees):
    """Images (n, height, width), rotated counter-clockwise, between pixels by bilinear weights."""
    size = images.shape[-1]
    centre = (size - 1) / 2
    down, right = np.mgrid[:size, :size] - centre
    cos, sin = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    # Where each pixel of the result is read from.
    from_right, from_down = cos * right - sin * down + centre, sin * right + cos * down + centre
    left, top = np.floor(from_right).astype(int), np.floor(from_down).astype(int)
    result = np.zeros(images.shape)
    for x, y in ((left, top), (left + 1, top), (left, top + 1), (left + 1, top + 1)):
        weight = (1 - np.abs(from_right - x)) * (1 - np.abs(from_down - y))
        inside = (x >= 0) & (x < size) & (y >= 0) & (y < size)
        result += weight * inside * images[:, y.clip(0, size - 1), x.clip(0, size - 1)]
    return result


def solve(puzzles):
    """Grey puzzles (n, 7, height, width): x, y, new and four choices -> places (n,)."""
    x, y, new, choices = puzzles[:, 0], puzzles[:, 1], puzzles[:, 2], puzzles[:, 3:]
    errors = [np.square(rotate(x, angle) - y).sum((1, 2)) for angle in ANGLES]
    best = np.argmin(errors, axis=0)
    guess = np.empty(new.shape)
    for number, angle in enumerate(ANGLES):
        guess[best == number] = rotate(new[best == number], angle)
    return np.square(choices - guess[:, None]).sum((2, 3)).argmin(axis=1)


def main(source, target):
    exported = np.load(source)
    puzzles = exported["images"].mean(axis=2) / 255  # grey, 0 to 1
    letters = np.array(list("ABCD"))[solve(puzzles)]
    rows = zip(exported["number"], letters, strict=True)
    lines = ["number,answer", *(f"{number},{letter}" for number, letter in rows)]
    Path(target).write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
