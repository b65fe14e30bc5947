"""Slopes, thresholds and smooth random fields, for whole batches of images."""

from functools import cache

import torch
from torch import Tensor

KNOTS = 7
"""Random numbers of a smooth field along each axis."""


def steepness(images: Tensor) -> Tensor:  # (n, 1, h, w), the same out
    """By how much a slightly blurred image changes per pixel; 0 at its border.

    The blur is [1 2 1] along both axes. Slopes are differences along the two diagonals, which
    together are what Sobel's operator finds.
    """
    wide = images.shape[-1]
    blurred = images.flatten(1)  # rows one after another: a shift by ``wide`` is one downwards
    for shift in (wide, wide, 1, 1):
        blurred = blurred[:, :-shift] + blurred[:, shift:]
    falling = blurred[:, wide + 1 :] - blurred[:, : -wide - 1]
    rising = blurred[:, wide:-1] - blurred[:, 1:-wide]
    squares = falling.square_().addcmul_(rising, rising)
    steep = torch.zeros_like(images)
    inner = steep.flatten(1)[:, wide + 1 : -2 * wide - 2]
    torch.sqrt(squares.mul_(2 / 32**2), out=inner)  # sums of 16 pixels, over a distance of two
    steep[..., :1] = steep[..., -2:] = 0  # where shifts ran into the next row
    return steep


def brightest(values: Tensor, share: Tensor, *, most: float) -> Tensor:
    """The brightest share of the pixels of (n, 1, h, w): a soft threshold, 0 below it.

    The threshold is that of every third row and column. ``share`` (n, 1, 1, 1) is at most ``most``.
    """
    sample = values[..., ::3, ::3].flatten(1)
    count = sample.shape[1]
    ranked = sample.topk(int(most * count) + 1, dim=1).values
    threshold = ranked.gather(1, (share.flatten(1) * count).long())[..., None, None]
    # 1 is reached a quarter of the way up to the brightest pixel; in a flat image there is none.
    rise = 4 / (values.flatten(1).amax(1)[:, None, None, None] - threshold).clamp(min=1e-3)
    return (values - threshold).mul_(rise).clamp_(0, 1)


def smooth_fields(noise: Tensor, size: int) -> Tensor:  # (n, KNOTS²) -> (n, 1, size, size)
    """Random fields with a variance of about 1: cubic B-splines over a grid of random numbers."""
    splines = _splines(size, noise.device)
    return (splines.T @ (noise.view(-1, KNOTS, KNOTS) @ splines))[:, None]


@cache
def _splines(size: int, device: torch.device) -> Tensor:  # (KNOTS, size)
    """What every knot adds to every pixel along one axis."""
    place = 1 + (KNOTS - 3) * (torch.arange(size, dtype=torch.float64) + 0.5) / size
    away = (place - torch.arange(KNOTS)[:, None]).abs()
    near, far = 2 / 3 - away**2 + away**3 / 2, (2 - away).clamp(min=0) ** 3 / 6
    splines = torch.where(away < 1, near, far)
    spread = splines.square().sum(0).mean() / 3**0.5  # of numbers between −1 and 1, on both axes
    return (splines / spread.sqrt()).float().to(device)
