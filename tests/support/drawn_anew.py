"""Puzzles whose images are drawn anew, never resampled: the points of shapes are moved by numpy.

    made = make_puzzle("strokes", number=3, near=True)
    made.x, made.y, made.new, made.choices, made.answer

A shape is a list of polygons with a shade each. What a rule does to it is done to its points, and
then all is drawn, six times larger and averaged. Kinds of images, sizes, shades and papers are
others than those of other_renderers.py, so that a check that was made with those in view is tested
on images of another make. Rules are the same, so is when a puzzle is drawn again.
"""

import math
import random

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from support.other_renderers import FAMILIES, SIDE, OtherPuzzle, far_rule, near_rule, random_rule

KINDS = ("strokes", "leaves", "tiles", "signs")
FINER = 6
"""Pixels drawn for one that is shown, on each side."""
VISIBLE = 0.1
"""Share of the ink by which images must differ."""

Points = NDArray[np.float64]
"""(n, 2) from the middle, y down, in pixels of an image of 64."""
Shape = list[tuple[Points, float]]
"""Polygons, the first one lowest, and how much ink is on each: 0 paper, 1 all."""


def make_puzzle(
    kind: str, *, number: int, near: bool, families: tuple[str, ...] = FAMILIES
) -> OtherPuzzle:
    """The puzzle of this number; the same every time."""
    rng = random.Random(f"anew {kind} {number} {near}")
    family = families[number % len(families)]
    on_grid = number // len(families) % 2 == 0
    size = rng.choice((40, 64, 96, 150))
    paper, ink = rng.choice(((255, 20), (240, 60), (0, 255), (30, 220), (200, 90)))

    def shown(shape: Shape, matrix: tuple[float, ...]) -> NDArray[np.float64]:
        return drawn(moved(shape, matrix), size)

    while True:
        x, new, other = (DRAW[kind](rng) for _ in range(3))
        right = random_rule(family, rng, on_grid=on_grid)[1]
        wrong_rule = (
            near_rule((family, right), rng) if near else far_rule(families, rng, on_grid=on_grid)
        )
        wrong = wrong_rule[1]
        unchanged = (1, 0, 0, 0, 1, 0)
        hint = [shown(x, matrix) for matrix in (unchanged, right, wrong)]
        choices = [shown(shape, matrix) for shape in (new, other) for matrix in (right, wrong)]
        alike = [(hint[1], hint[2]), (hint[1], hint[0])]
        alike += [(choices[n], choices[m]) for n in range(4) for m in range(n)]
        inside = all(image.sum() > 0.6 * hint[0].sum() for image in hint[1:2])
        if inside and all(differ(one, two) for one, two in alike):
            break
    order = rng.sample(range(4), 4)

    def as_image(amount: NDArray[np.float64]) -> Image.Image:
        return Image.fromarray(np.round(paper + (ink - paper) * amount).astype(np.uint8))

    images = [as_image(image) for image in (hint[0], hint[1], shown(new, unchanged))]
    return OtherPuzzle(
        *images, [as_image(choices[place]) for place in order], order.index(0), family, on_grid
    )


def moved(shape: Shape, matrix: tuple[float, ...]) -> Shape:
    a, b, right, c, d, down = matrix
    linear, shift = np.array([[a, b], [c, d]]), np.array([right, down])
    return [(points @ linear.T + shift, amount) for points, amount in shape]


def drawn(shape: Shape, size: int) -> NDArray[np.float64]:
    """How much ink there is in every pixel of an image, (size, size) in 0..1."""
    large = Image.new("L", (FINER * size, FINER * size), 0)
    pen = ImageDraw.Draw(large)
    for points, amount in shape:
        corners = (points / SIDE + 0.5) * FINER * size
        pen.polygon([tuple(corner) for corner in corners], fill=round(255 * amount))
    return np.asarray(large.resize((size, size), Image.Resampling.BOX)) / 255


def differ(one: NDArray[np.float64], two: NDArray[np.float64]) -> bool:
    return float(np.abs(one - two).sum()) > VISIBLE * 2 * max(one.sum(), two.sum())


# Shapes


def strokes(rng: random.Random) -> Shape:
    """A bent line with a pen that is wide at one end, and a dot."""
    angle, at, points = (
        rng.uniform(0, 2 * math.pi),
        np.array([rng.uniform(-14, 14) for _ in "xy"]),
        [],
    )
    for _ in range(rng.randint(14, 22)):
        points.append(at)
        angle += rng.uniform(-0.3, 0.75)
        at = np.clip(at + 3.2 * np.array([math.cos(angle), math.sin(angle)]), -21, 21)
    line = np.array(points)
    along = np.gradient(line, axis=0)
    across = np.stack((-along[:, 1], along[:, 0]), 1)
    across /= np.linalg.norm(across, axis=1, keepdims=True) + 1e-9
    width = np.linspace(rng.uniform(2.5, 4), 1, len(line))[:, None]
    ribbon = [
        np.array([line[n] + across[n] * width[n], line[n + 1] + across[n + 1] * width[n + 1],
                  line[n + 1] - across[n + 1] * width[n + 1], line[n] - across[n] * width[n]])
        for n in range(len(line) - 1)
    ]  # fmt: skip
    return [*((part, 1.0) for part in ribbon), (ring(line[0], rng.uniform(3.5, 5)), 1.0)]


def leaves(rng: random.Random) -> Shape:
    """Three leaves of different lengths and shades from one point."""
    first, found = rng.uniform(0, 2 * math.pi), []
    for number in range(3):
        angle = first + number * rng.uniform(1.3, 2.4)
        length, wide = rng.uniform(10, 24), rng.uniform(3, 7)
        t = np.linspace(0, 2 * math.pi, 40)
        flat = np.stack((length * (1 - np.cos(t)) / 2, wide * np.sin(t) * np.sin(t / 2)), 1)
        cos, sin = math.cos(angle), math.sin(angle)
        found.append((flat @ np.array([[cos, sin], [-sin, cos]]), rng.uniform(0.4, 1)))
    return found


def tiles(rng: random.Random) -> Shape:
    """Some squares of a grid, each in a shade of its own."""
    places = rng.sample(
        [(right, down) for right in range(4) for down in range(4)], rng.randint(6, 9)
    )
    corners = np.array([(0, 0), (1, 0), (1, 1), (0, 1)])
    return [
        ((corners + place - 2) * 10.0, rng.choice((0.35, 0.6, 0.8, 1.0)))
        for place in map(np.array, places)
    ]


def signs(rng: random.Random) -> Shape:
    """A round or square sign with an arrow or a flag cut out of it, not in its middle."""
    reach = rng.uniform(17, 22)
    sides = rng.choice((3, 4, 5, 40))
    outline = ring(np.zeros(2), reach, sides, rng.uniform(0, 6))
    arrow = np.array([(-9, -2), (2, -2), (2, -6), (9, 0), (2, 6), (2, 2), (-9, 2)]) * rng.uniform(
        0.7, 1
    )
    flag = np.array([(-6, -9), (7, -5), (-4, -1), (-4, 9), (-6, 9)]) * rng.uniform(0.8, 1.1)
    inner = rng.choice((arrow, flag)) + np.array([rng.uniform(-4, 4), rng.uniform(-4, 4)])
    dot = ring(np.array([rng.uniform(-9, 9), rng.uniform(8, 12)]), 2.5)
    return [(outline, 1.0), (inner, rng.choice((0.0, 0.3))), (dot, 0.0)]


def ring(middle: Points, reach: float, sides: int = 40, start: float = 0.0) -> Points:
    t = start + 2 * math.pi * np.arange(sides) / sides
    return middle + reach * np.stack((np.cos(t), np.sin(t)), 1)


DRAW = {"strokes": strokes, "leaves": leaves, "tiles": tiles, "signs": signs}
