"""Patchwork: random changes of a picture, for an encoder to get ready with before it meets any rule by name.

The whole picture is bent, or what lies on one side of a straight cut; or two cuts make four pieces, and each of them is moved;
or nothing moves. Besides, a quarter of all patchworks turn the brightness round, and a quarter do so on one side of a cut. To
bend is to turn, stretch, move and add two waves. Patchwork number 17 is the same on every machine. It is no family of `all`:
nothing is ever tested on it.
"""

import math

import numpy as np
import torch
from torch import Tensor

from fine.randomness import random_uniform
from fine.rules import HALF, register_family

PATCHWORKS = 1024
_PATCHWORK = 6  # address of random numbers; those of puzzles are in tasks.py, of training in training.py
_BENT, _CUT, _SHIFTS, _DARK = 0, 16, 20, 28  # where the random numbers of each part of a patchwork begin
_END = 30


def _negative(points: Tensor, number: float) -> Tensor:
    if number % 4 > 1:
        return torch.zeros(points.shape[:-1], dtype=torch.bool)
    return _beyond_a_cut(points, _shares(number)[_DARK:]) if number % 4 else torch.ones(points.shape[:-1], dtype=torch.bool)


@register_family(
    "patchwork",
    grid=[(number,) for number in range(PATCHWORKS)],
    label="number {:g}".format,
    negative=_negative,
    in_all=False,
)
def patchwork(points: Tensor, number: float) -> Tensor:
    share, moved = _shares(number), number // 4 % 4
    if moved == 1 and number % 4 < 2:
        return points  # its brightness changes
    if moved < 2:
        return _bent(points, share[_BENT:_CUT])
    first = _beyond_a_cut(points, share[_CUT:])[..., None]
    if moved == 2:
        return torch.where(first, _bent(points, share[_BENT:_CUT]), points)
    second = _beyond_a_cut(points, share[_CUT + 2 :])[..., None]
    shifts = 2 * HALF * (torch.tensor(share[_SHIFTS:_DARK], dtype=points.dtype).view(4, 2) - 0.5)
    return points + shifts[(2 * first.long() + second.long()).squeeze(-1)]


def _shares(number: float) -> list[float]:
    """Random numbers from 0 to 1."""
    return random_uniform(_PATCHWORK, int(number), np.arange(_END)).tolist()


def _bent(points: Tensor, share: list[float]) -> Tensor:
    first, second = (_turn(part, points) for part in share[:2])
    stretch = torch.tensor([0.5 * 3**part for part in share[2:4]], dtype=points.dtype)  # to between 0.5 and 1.5
    source = (points @ first) * stretch @ second + 20 * (torch.tensor(share[4:6], dtype=points.dtype) - 0.5)
    for at in (6, 11):
        angle, waves, start, *height = share[at : at + 5]
        wave = torch.cos(math.pi * (0.5 + 2.5 * waves) / HALF * (points @ _turn(angle, points)[0]) + 2 * math.pi * start)
        source = source + 8 * wave[..., None] * (torch.tensor(height, dtype=points.dtype) - 0.5)
    return source


def _beyond_a_cut(points: Tensor, share: list[float]) -> Tensor:
    """Which points lie beyond a straight line, at any angle and up to 10 pixels from the middle."""
    return points @ _turn(share[0], points)[0] > 20 * (share[1] - 0.5)


def _turn(share: float, points: Tensor) -> Tensor:  # (2, 2)
    cos, sin = math.cos(2 * math.pi * share), math.sin(2 * math.pi * share)
    return torch.tensor([[cos, -sin], [sin, cos]], dtype=points.dtype)
