"""Warps: random smooth changes of a picture, for an encoder to get ready with before it meets any rule by name.

A warp turns, stretches and moves the picture, bends it by two waves and, one time in four, turns its brightness round. Warp
number 17 is the same on every machine. They are no family of `all`, for nothing is ever tested on them.
"""

import math

import numpy as np
import torch
from torch import Tensor

from fine.randomness import random_uniform
from fine.rules import HALF, register_family

WARPS = 256
_WARP = 6  # address of random numbers; those of puzzles are in tasks.py, of training in training.py


@register_family(
    "warps",
    grid=[(number,) for number in range(WARPS)],
    label="number {:g}".format,
    negative=lambda points, number: torch.full(points.shape[:-1], number % 4 == 0),
    in_all=False,
)
def warps(points: Tensor, number: float) -> Tensor:
    share = random_uniform(_WARP, int(number), np.arange(16)).tolist()
    first, second = (_turn(2 * math.pi * part, points) for part in share[:2])
    stretch = torch.tensor([0.6 * 2.5**part for part in share[2:4]], dtype=points.dtype)  # to between 0.6 and 1.5
    source = (points @ first) * stretch @ second + 12 * (torch.tensor(share[4:6], dtype=points.dtype) - 0.5)
    for at in (6, 11):
        angle, waves, start, *height = share[at : at + 5]
        along = points @ _turn(2 * math.pi * angle, points)[0]
        wave = torch.cos(math.pi * (0.5 + 2 * waves) / HALF * along + 2 * math.pi * start)
        source = source + 5 * wave[..., None] * (torch.tensor(height, dtype=points.dtype) - 0.5)
    return source


def _turn(angle: float, points: Tensor) -> Tensor:  # (2, 2)
    cos, sin = math.cos(angle), math.sin(angle)
    return torch.tensor([[cos, -sin], [sin, cos]], dtype=points.dtype)
