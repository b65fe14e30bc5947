"""Families between the grid points of the paper: their parameters are drawn from whole ranges.

    rules = rule_set("continuous")       # the six families of this file together
    rule_set("any-rotation").rules[7]    # rotation by 303.2°, on every machine
    rule_set("universal")                # these, the square, and the paper's that are not affine

Each family has 1,000 rules, always the same, so that a puzzle is still a handful of
integers. None of them is in `all`, which stays the paper's. `square` has the eight symmetries of
the square, of which the paper's families lack the two transposes.
"""

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from fine.randomness import random_uniform
from fine.rules.families import NAMED_SETS, register_family
from fine.rules.paper import linear, rotation, scale, shear, translation

RULES = 1000
"""Rules of each family."""
_CONTINUOUS = 10  # address of random numbers; see puzzles/task.py and training/feed.py for others

Range = tuple[float, float]


def _draw(stream: int, ranges: Sequence[Range]) -> list[list[float]]:
    """Parameters of all rules of a family, each even over its range."""
    address = (_CONTINUOUS, stream, np.arange(RULES)[:, None], np.arange(len(ranges)))
    low, high = np.array(ranges).T
    return (low + (high - low) * random_uniform(*address)).round(6).tolist()


def _factors(stream: int, low: float, high: float, *, count: int) -> list[list[float]]:
    """Factors, even in their logarithm: ×½ is as likely as ×2."""
    logs = _draw(stream, [(math.log(low), math.log(high))] * count)
    return [[round(math.exp(value), 6) for value in entry] for entry in logs]


@register_family("any-rotation", grid=_draw(0, [(0, 360)]), label="{:.1f}°".format, in_all=False)
def any_rotation(points: Tensor, degrees: float) -> Tensor:
    return rotation(points, degrees)


@register_family(
    "any-translation",
    grid=_draw(1, [(-10, 10), (-10, 10)]),
    label="({:.1f}, {:.1f})".format,
    in_all=False,
)
def any_translation(points: Tensor, right: float, down: float) -> Tensor:
    return translation(points, right, down)


@register_family(
    "any-scale", grid=_factors(2, 0.4, 2.2, count=1), label="×{:.2f}".format, in_all=False
)
def any_scale(points: Tensor, factor: float) -> Tensor:
    return scale(points, factor)


@register_family(
    "any-shear",
    grid=_draw(3, [(-60, 60), (-60, 60)]),
    label="({:.1f}°, {:.1f}°)".format,
    in_all=False,
)
def any_shear(points: Tensor, across: float, down: float) -> Tensor:
    return shear(points, across, down)


@register_family(
    "stretch",
    grid=_factors(4, 0.5, 2.0, count=2),
    label="×{:.2f} wide, ×{:.2f} high".format,
    in_all=False,
)
def stretch(points: Tensor, wide: float, high: float) -> Tensor:
    return points / torch.tensor([wide, high], dtype=points.dtype)


def _mix_label(mirrored: float, degrees: float, factor: float, right: float, down: float) -> str:
    mirror = "mirrored, " if mirrored else ""
    return f"{mirror}{degrees:.1f}°, ×{factor:.2f}, ({right:.1f}, {down:.1f})"


def _mixes() -> list[list[float]]:
    turned = _draw(5, [(0, 1), (0, 360), (-6, 6), (-6, 6)])
    factors = _factors(6, 0.5, 1.6, count=1)
    return [
        [float(mirror < 0.5), degrees, factor, right, down]
        for (mirror, degrees, right, down), (factor,) in zip(turned, factors, strict=True)
    ]


@register_family("any-mix", grid=_mixes(), label=_mix_label, in_all=False)
def any_mix(
    points: Tensor, mirrored: float, degrees: float, factor: float, right: float, down: float
) -> Tensor:
    """A mirror image (or not), turned, scaled and moved, in this order."""
    source = rotation(scale(translation(points, right, down), factor), degrees)
    return source * torch.tensor([1 - 2 * mirrored, 1], dtype=points.dtype)


SQUARE_SYMMETRIES = {
    (1, 0, 0, 1): "unchanged",
    (0, 1, -1, 0): "90°",
    (-1, 0, 0, -1): "180°",
    (0, -1, 1, 0): "270°",
    (-1, 0, 0, 1): "left-right",
    (1, 0, 0, -1): "top-bottom",
    (0, 1, 1, 0): "transposed",
    (0, -1, -1, 0): "transposed along the other diagonal",
}
"""Matrices of the symmetries of the square, row by row, and what people call them."""


@register_family(
    "square",
    grid=list(SQUARE_SYMMETRIES),
    label=lambda a, b, c, d: SQUARE_SYMMETRIES[int(a), int(b), int(c), int(d)],
    in_all=False,
)
def square(points: Tensor, a: float, b: float, c: float, d: float) -> Tensor:
    return linear(points, [[a, b], [c, d]])


NAMED_SETS["continuous"] = (
    *("any-translation", "any-rotation", "any-scale", "any-shear", "stretch", "any-mix"),
)
NAMED_SETS["universal"] = (
    *NAMED_SETS["continuous"],
    *("square", "swap", "black-white", "fisheye", "wave"),
)
