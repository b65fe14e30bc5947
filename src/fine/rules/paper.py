"""The nine families of the paper.

Translation, rotation, reflection, shear, scale and swap have exactly the grids of its appendix. For
fisheye, wave and black-white it gives formulas without ranges; docs/rules.md explains the ranges
here.
"""

import itertools
import math
from collections.abc import Sequence

import torch
from torch import Tensor

from fine.geometry.warp import HALF
from fine.rules.families import register_family


def linear(points: Tensor, matrix: Sequence[Sequence[float]]) -> Tensor:
    """The points under a forward 2 × 2 matrix, read backwards through its inverse."""
    (a, b), (c, d) = matrix
    inverse = torch.tensor([[d, -b], [-c, a]], dtype=points.dtype) / (a * d - b * c)
    return (inverse * points[..., None, :]).sum(-1)


@register_family(
    "translation",
    grid=list(itertools.product((-9, -6, -3, 0, 3, 6, 9), repeat=2)),
    label="({:g}, {:g})".format,
    unseen=lambda right, down: abs(right) > 3 or abs(down) > 3,
)
def translation(points: Tensor, right: float, down: float) -> Tensor:
    return points - torch.tensor([right, down], dtype=points.dtype)


@register_family(
    "rotation",
    grid=[(15 * k,) for k in range(24)],
    label="{:g}°".format,
    unseen=lambda degrees: degrees > 180,
)
def rotation(points: Tensor, degrees: float) -> Tensor:
    """Counter-clockwise as seen, so y (which points down) carries the minus."""
    quarter, rest = divmod(degrees, 90)  # whole quarter turns are kept exact: they permute pixels
    cos, sin = math.cos(math.radians(rest)), math.sin(math.radians(rest))
    for _ in range(int(quarter) % 4):
        cos, sin = -sin, cos
    return linear(points, [[cos, sin], [-sin, cos]])


@register_family(
    "reflection",
    grid=[(1, 0), (0, 1)],
    label=lambda left_right, _: "left-right" if left_right else "top-bottom",
)
def reflection(points: Tensor, left_right: float, top_bottom: float) -> Tensor:
    return points * torch.tensor([1 - 2 * left_right, 1 - 2 * top_bottom], dtype=points.dtype)


@register_family(
    "shear",
    grid=list(itertools.product(range(-60, 61, 15), repeat=2)),
    label="({:g}°, {:g}°)".format,
    unseen=lambda across, down: abs(across) > 30 or abs(down) > 30,
)
def shear(points: Tensor, across: float, down: float) -> Tensor:
    """A horizontal shear, then a vertical one: both have determinant 1, so an inverse exists."""
    a, b = math.tan(math.radians(across)), math.tan(math.radians(down))
    return linear(points, [[1, a], [b, 1 + a * b]])


@register_family("scale", grid=[(0.5,), (0.75,), (1.0,), (1.25,)], label="×{:g}".format)
def scale(points: Tensor, factor: float) -> Tensor:
    return points / factor


@register_family(
    "fisheye",
    grid=[(x, y, d) for d in (0.3, 0.8) for x, y in itertools.product((-0.5, 0, 0.5), repeat=2)],
    label="at ({:g}, {:g}), strength {:g}".format,
)
def fisheye(points: Tensor, centre_x: float, centre_y: float, distortion: float) -> Tensor:
    """T(p) = p + (p − c)·d·|p − c|, with lengths in half-widths of the image."""
    offset = points / HALF - torch.tensor([centre_x, centre_y], dtype=points.dtype)
    return points + HALF * offset * distortion * offset.norm(dim=-1, keepdim=True)


@register_family(
    "wave",
    grid=[(a, k) for k in (1, 2, 3) for a in (-4, -2, 2, 4)],
    label="height {:g}, {:g} waves".format,
)
def wave(points: Tensor, amplitude: float, waves: float) -> Tensor:
    """T(x) = x, T(y) = y + a·cos(f·y), with f = 2π·waves per image height."""
    x, y = points.unbind(-1)
    return torch.stack((x, y + amplitude * torch.cos(math.pi * waves / HALF * y)), dim=-1)


def _part_name(axis: float, cut: float, side: float) -> str:
    names = {(0, -1): "left of", (0, 1): "right of", (1, -1): "above", (1, 1): "below"}
    return f"{names[int(axis), int(side)]} {cut:g}"


def _negative_part(points: Tensor, axis: float, cut: float, side: float) -> Tensor:
    return (points[..., int(axis)] - cut) * side > 0


@register_family(
    "black-white",
    grid=[(axis, cut, side) for axis in (0, 1) for cut in (-8, -4, 0, 4, 8) for side in (-1, 1)],
    label=_part_name,
    negative=_negative_part,
)
def black_white(points: Tensor, axis: float, cut: float, side: float) -> Tensor:
    """Nothing moves; the image is cut in two, and one part becomes its negative."""
    return points


@register_family(
    "swap",
    grid=list(itertools.permutations(range(4))),
    label="{:g}{:g}{:g}{:g}".format,
)
def swap(points: Tensor, *origins: float) -> Tensor:
    """Quarter q of the result (0 1 over 2 3) is read from quarter origins[q] of the image."""
    x, y = points.unbind(-1)
    quarter = (x > 0).long() + 2 * (y > 0).long()
    origin = torch.tensor(origins, dtype=torch.long)[quarter]
    right, down = origin % 2 - quarter % 2, origin // 2 - quarter // 2
    return torch.stack((x + HALF * right, y + HALF * down), dim=-1)
