"""Drawings as a model was trained to see them: with bright ink on black.

Rules fill what they uncover with black, so the ground of a drawing, its paper, must become black.
Whether there is a ground is decided once for all images of a puzzle, on x and x', to which no rule
has been applied: if one brightness prevails at their borders and covers much of them, that is the
ground. If it is brighter than the drawing, all images become negatives; then the ground becomes 0
and the brightest ink 1. Light that falls from one side is evened out before, image by image. Images
without a ground stay as they are.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from fine.inference.reading import border, luminance

NEAR = 0.12
"""Pixels whose brightness is this near to that of the ground belong to it."""
AT_BORDER, OF_ALL = 0.75, 0.4
"""Shares of the border and of the whole that a ground must have; most photographs lack one."""
AT_EACH_BORDER = 0.8
"""The share of the border of each image, where all of them must have the ground: more than is left
of it if an image is moved to one side."""
_LEAST_CONTRAST = 0.02  # between ground and ink
_FITS = 4  # of the plane of light: by least squares, then without the outliers of the fit before
_OUTLIER = 0.1  # from the plane: a stroke that reaches the border
_PLANE = 0.75  # share of the border that must lie on the plane
_SMALL = 1e-4  # keeps the fit of a plane to few pixels solvable


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


def find_ground(plain: Tensor) -> Ground:  # (b, n, channels, size, size)
    """The ground of puzzles, from those of their images to which no rule has been applied."""
    brightness = luminance(plain)  # (b, n, size, size)
    (level,) = _quantiles(border(brightness).flatten(1), (0.5,))
    darkest, brightest = _quantiles(brightness.flatten(1), (0.005, 0.995))
    light = level > brightness.mean((1, 2, 3))
    ink = torch.where(light, darkest, brightest)
    near = (brightness - level[:, None, None, None]).abs() <= NEAR
    at_border = border(near).float().mean((1, 2)) >= AT_BORDER
    of_all = near.float().mean((1, 2, 3)) >= OF_ALL
    there = at_border & of_all & ((ink - level).abs() > _LEAST_CONTRAST)
    return Ground(there, light, level, ink)


def as_ink(images: Tensor, ground: Ground) -> Tensor:  # (b, n, channels, size, size), same
    """Images with bright ink on black, where there is a ground."""
    fields = (ground.there, ground.level, ground.ink)
    there, level, ink = (field[:, None, None, None, None] for field in fields)
    scaled = (images - level) / torch.where(there, ink - level, 1)
    return torch.where(there, scaled.clamp(0, 1), images)


def bright_ink(
    images: Tensor, plain: Sequence[int] = (0, 2), *, everywhere: bool = False
) -> Tensor:
    """Puzzles (b, n, channels, size, size) with bright ink on black where they have a ground.

    ``plain`` are the places of the images to which no rule has been applied: x is first, x' third.
    With ``everywhere``, the ground must also be what rules have uncovered in the other images: so a
    white wall in photographs that were moved on black is none.
    """
    even = evenly_lit(images)
    ground = find_ground(even[:, list(plain)])
    if everywhere:
        near = (luminance(even) - ground.level[:, None, None, None]).abs() <= NEAR
        in_all = (border(near).float().mean(2) >= AT_EACH_BORDER).all(dim=1)
        ground = ground._replace(there=ground.there & in_all)
    return torch.where(ground.there[:, None, None, None, None], as_ink(even, ground), images)


def evenly_lit(images: Tensor) -> Tensor:  # (b, n, channels, size, size), same
    """Images without the slope of brightness along their borders, where that is a plane."""
    brightness = luminance(images)
    ticks = torch.linspace(-1, 1, images.shape[-1], device=images.device)
    across, down = ticks.expand(len(ticks), -1), ticks[:, None].expand(-1, len(ticks))
    slopes = torch.stack((across, down))  # (2, size, size)
    known = torch.cat((border(slopes), torch.ones_like(border(slopes[:1])))).T  # (m, 3)
    seen = border(brightness)[..., None]  # (b, n, m, 1)
    small = _SMALL * torch.eye(3, device=seen.device)
    trust = torch.ones_like(seen)
    for _ in range(_FITS):
        weighted = (trust * known).mT
        plane = torch.linalg.solve(weighted @ known + small, weighted @ seen)  # (b, n, 3, 1)
        trust = ((known @ plane - seen).abs() < _OUTLIER).float()
    is_plane = trust.mean((2, 3)) >= _PLANE
    slope = (plane[..., :2, :, None] * slopes).sum(2) * is_plane[..., None, None]
    return (images - slope[:, :, None]).clamp(0, 1)


def _quantiles(values: Tensor, shares: Sequence[float]) -> list[Tensor]:  # (b, n) -> (b,) a share
    ordered = values.sort(dim=1).values
    return [ordered[:, round(share * (values.shape[1] - 1))] for share in shares]
