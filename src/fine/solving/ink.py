"""Drawings as a model was trained to see them: with ink bright on black.

Rules fill what they uncover with black, so a ground must be black where there is one. Whether drawings have a ground is seen
in x and x', the two pictures of a puzzle to which nothing has happened yet, and decided once for all pictures of the puzzle: if
one brightness prevails at their borders and covers much of them, that is the ground. If it is brighter than the drawing, all
pictures become their negatives; then the ground becomes 0 and the brightest ink 1. Light that falls from one side is evened out
before, picture by picture. Pictures without a ground stay as they are.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from fine.solving.pictures import border, luminance

NEAR = 0.12
"""Pixels whose brightness is this near to that of the ground belong to it."""
AT_BORDER, OF_ALL = 0.75, 0.4
"""Shares of the border and of the whole that a ground must have; most photographs lack one or the other."""


class Ground(NamedTuple):
    """What lies behind the drawings of each puzzle; all of shape (b,)."""

    there: Tensor
    """bool: whether there is a ground at all."""
    light: Tensor
    """bool: whether it is brighter than what is drawn on it."""
    level: Tensor
    """Its brightness."""
    ink: Tensor
    """Brightness of what differs from it most."""


def find_ground(plain: Tensor) -> Ground:
    """The ground of puzzles, from the pictures (b, n, channels, size, size) of each to which nothing has happened."""
    brightness = luminance(plain)
    (level,) = _quantiles(border(brightness).flatten(1), (0.5,))
    darkest, brightest = _quantiles(brightness.flatten(1), (0.005, 0.995))
    light = level > brightness.mean((1, 2, 3))
    ink = torch.where(light, darkest, brightest)
    near = (brightness - level[:, None, None, None]).abs() <= NEAR
    at_border, of_all = border(near).float().mean((1, 2)), near.float().mean((1, 2, 3))
    there = (at_border >= AT_BORDER) & (of_all >= OF_ALL) & ((ink - level).abs() > 0.02)
    return Ground(there, light, level, ink)


def as_ink(pictures: Tensor, ground: Ground) -> Tensor:
    """Pictures (b, n, channels, size, size) with bright ink on black, where there is a ground."""
    level, ink = (value[:, None, None, None, None] for value in (ground.level, ground.ink))
    there = ground.there[:, None, None, None, None]
    return torch.where(there, ((pictures - level) / torch.where(there, ink - level, 1)).clamp(0, 1), pictures)


def bright_ink(pictures: Tensor, plain: Sequence[int] = (0, 2)) -> Tensor:
    """Puzzles (b, n, channels, size, size) with bright ink on black where they have a ground.

    ``plain`` are the places of the pictures to which nothing has happened: x is first and x' third.
    """
    even = evenly_lit(pictures)
    ground = find_ground(even[:, list(plain)])
    return torch.where(ground.there[:, None, None, None, None], as_ink(even, ground), pictures)


def evenly_lit(pictures: Tensor) -> Tensor:
    """Pictures (b, n, channels, size, size) without the slope of brightness along their borders, where that is a plane."""
    brightness = luminance(pictures)
    across = torch.linspace(-1, 1, pictures.shape[-1], device=pictures.device)
    slopes = torch.stack((across.expand(len(across), -1), across[:, None].expand(-1, len(across))))  # (2, size, size)
    known = torch.cat((border(slopes), torch.ones_like(border(slopes[:1])))).T  # (m, 3)
    seen = border(brightness)[..., None]  # (b, n, m, 1)
    trust = torch.ones_like(seen)
    for _ in range(4):  # least squares, then again without what lies far from the plane: strokes that reach the border
        plane = torch.linalg.solve(
            (trust * known).mT @ known + 1e-4 * torch.eye(3, device=seen.device), (trust * known).mT @ seen
        )
        trust = ((known @ plane - seen).abs() < 0.1).float()
    is_plane = trust.mean((2, 3)) >= 0.75
    slope = (plane[..., :2, :, None] * slopes).sum(2) * is_plane[..., None, None]  # (b, n, size, size)
    return (pictures - slope[:, :, None]).clamp(0, 1)


def _quantiles(values: Tensor, shares: tuple[float, ...]) -> tuple[Tensor, ...]:  # (b, n) -> one (b,) a share
    ordered = values.sort(dim=1).values
    return tuple(ordered[:, round(share * (values.shape[1] - 1))] for share in shares)
