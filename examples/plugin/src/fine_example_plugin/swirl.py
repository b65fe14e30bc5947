"""The family `swirl`: the middle of an image is turned further than its edge."""

import math

import torch
from torch import Tensor

from fine.rules import Family


def swirl(points: Tensor, degrees: float) -> Tensor:
    """Where each point (x, y) of the result is read from, in 1/32 of the width from the middle."""
    turn = math.radians(degrees) * torch.exp(-points.norm(dim=-1) / 8)
    x, y = points.unbind(-1)
    cosine, sine = turn.cos(), turn.sin()
    return torch.stack((cosine * x + sine * y, cosine * y - sine * x), dim=-1)


SWIRL = Family(
    name="swirl",
    grid=tuple((float(degrees),) for degrees in range(-240, 241, 60) if degrees),
    label="{:+g}°".format,
    source=swirl,
)
