"""Patchwork: 1,024 random changes of an image, for encoders to pretrain on before any named rule.

| number // 4 % 4 | what moves |
|---|---|
| 0 | the whole image is bent |
| 1 | nothing if the brightness changes, else the whole image is bent |
| 2 | one side of a straight cut is bent |
| 3 | two cuts make four pieces, and each is shifted |

| number % 4 | brightness |
|---|---|
| 0 | inverted |
| 1 | inverted on one side of a cut |
| 2, 3 | unchanged |

To bend is to rotate, stretch, rotate, shift and add two waves. Patchwork 17 is the same on every
machine. The family is not in `all`, because nothing is tested on it.
"""

import math

import numpy as np
import torch
from torch import Tensor

from fine.geometry.warp import HALF
from fine.randomness import random_uniform
from fine.rules.families import register_family

PATCHWORKS = 1024
_PATCHWORK = 6  # address of random numbers; see puzzles/task.py and training/feed.py for others
# The random numbers of a patchwork, by use.
_BEND, _CUTS, _SHIFTS, _NEGATIVE = slice(0, 16), slice(16, 20), slice(20, 28), slice(28, 30)


def _negative(points: Tensor, number: float) -> Tensor:
    part = number % 4
    if part == 0:
        return torch.ones(points.shape[:-1], dtype=torch.bool)
    if part == 1:
        return _beyond_cut(points, _chances(number)[_NEGATIVE])
    return torch.zeros(points.shape[:-1], dtype=torch.bool)


@register_family(
    "patchwork",
    grid=[(number,) for number in range(PATCHWORKS)],
    label="number {:g}".format,
    negative=_negative,
    pretraining_only=True,
)
def patchwork(points: Tensor, number: float) -> Tensor:
    chances = _chances(number)
    moved = number // 4 % 4
    if moved == 1 and number % 4 < 2:
        return points
    if moved < 2:
        return _bend(points, chances[_BEND])
    first, second = chances[_CUTS][:2], chances[_CUTS][2:]
    beyond_first = _beyond_cut(points, first)
    if moved == 2:
        return torch.where(beyond_first[..., None], _bend(points, chances[_BEND]), points)
    piece = 2 * beyond_first.long() + _beyond_cut(points, second).long()
    shifts = 2 * HALF * (_tensor(chances[_SHIFTS], points).view(4, 2) - 0.5)
    return points + shifts[piece]


def _chances(number: float) -> list[float]:
    """The random numbers of a patchwork, each from 0 to 1."""
    return random_uniform(_PATCHWORK, int(number), np.arange(_NEGATIVE.stop)).tolist()


def _bend(points: Tensor, chances: list[float]) -> Tensor:
    first, second = (_rotation(chance, points) for chance in chances[:2])
    stretch = _tensor([0.5 * 3**chance for chance in chances[2:4]], points)  # by 0.5 to 1.5
    shift = 20 * (_tensor(chances[4:6], points) - 0.5)
    source = (points @ first) * stretch @ second + shift
    for at in (6, 11):
        direction, waves, phase, *height = chances[at : at + 5]
        frequency = math.pi * (0.5 + 2.5 * waves) / HALF
        along = points @ _rotation(direction, points)[0]
        wave = torch.cos(frequency * along + 2 * math.pi * phase)
        source = source + 8 * wave[..., None] * (_tensor(height, points) - 0.5)
    return source


def _beyond_cut(points: Tensor, chances: list[float]) -> Tensor:
    """Which points lie beyond a straight line, at any angle and up to 10 units from the centre."""
    return points @ _rotation(chances[0], points)[0] > 20 * (chances[1] - 0.5)


def _rotation(chance: float, points: Tensor) -> Tensor:  # (2, 2)
    cos, sin = math.cos(2 * math.pi * chance), math.sin(2 * math.pi * chance)
    return _tensor([[cos, -sin], [sin, cos]], points)


def _tensor(values: list[float] | list[list[float]], points: Tensor) -> Tensor:
    return torch.tensor(values, dtype=points.dtype)
