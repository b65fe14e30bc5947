"""x under candidates beside y: how much of y they explain.

    comparison = compare(level, sources)          # with errors and slopes, for a step
    losses(level, sources)                        # without them, for a search over many

A candidate predicts every pixel of y: where it reads within x, by x; elsewhere, by one colour that
fills what the rule uncovers. Errors are saturated, so a pixel that is not explained at all counts
once.
"""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fine.geometry.warp import warp
from fine.inference.registration.pairs import Level, saturated

LEAST_SHOWN = 0.02
"""Least share of y that must come from within x."""
CORRELATED = 6.0
"""Errors of neighbouring pixels go together: about so many of them count as one."""


@dataclass(frozen=True)
class Comparison:
    """x under candidates beside y."""

    loss: NDArray[np.float64]  # (k,)
    noise: NDArray[np.float64]  # (k,)
    errors: Tensor
    """(k, n)"""
    weights: Tensor
    """(k, n): of the errors, 0 where nothing is read within x."""
    slopes: Tensor
    """(k, 2, n): of x, where it is read."""
    fill: Tensor
    """(k,): the colour of what each candidate uncovers."""


def compare(level: Level, sources: Tensor) -> Comparison:  # (k, n, 2)
    """Every pixel of y beside what candidates predict for it."""
    read = sampled(level.x, sources / level.reach, mode="bicubic" if level.exact else "bilinear")
    within, beyond = inside_and_outside(level, sources)
    errors = level.settled(read[:, 0]) - level.y
    squares = errors.square()
    variance = level.variance
    saturation = 1 / (1 + squares / variance)
    explained = within.sum(1)
    fill = beyond @ level.fill_costs.T  # (k, fills)
    counted = explained + beyond.sum(1)
    cheapest = fill.min(1)
    left = (within * squares * saturation).sum(1) + cheapest.values
    loss = left / (counted.clamp(min=1) * level.baseline)
    loss = torch.where(explained < LEAST_SHOWN * len(level.y), torch.inf, loss)
    loss = torch.where(loss.isnan(), torch.inf, loss)
    weights = within * saturation.square()
    noise = CORRELATED * (weights * squares).sum(1) / weights.sum(1).clamp(min=1)
    # No image is known better than to a part of a grey level, and no sampling is exact.
    noise = noise + CORRELATED * 1e-3 * variance
    return Comparison(
        loss=loss.double().numpy(),
        noise=noise.double().numpy(),
        errors=errors,
        weights=weights,
        slopes=read[:, 1:],
        fill=level.colours[cheapest.indices],
    )


def losses(level: Level, sources: Tensor) -> Tensor:  # (k, n, 2) -> (k,)
    """The losses of candidates, without slopes: for a search over many."""
    read = sampled(level.x[:, :1], sources / level.reach)[:, 0]
    within, beyond = inside_and_outside(level, sources)
    left = (within * saturated((read - level.y).square(), level.variance)).sum(1)
    left = left + (beyond @ level.fill_costs.T).min(1).values
    explained = within.sum(1)
    loss = left / ((explained + beyond.sum(1)).clamp(min=1) * level.baseline)
    return torch.where(explained < LEAST_SHOWN * len(level.y), torch.inf, loss)


def sampled(
    x: Tensor, grid: Tensor, mode: str = "bilinear"
) -> Tensor:  # (1, c, h, w), (k, n, 2) -> (k, c, n)
    """An image read at points where its sides are at −1 and 1."""
    count, points, _ = grid.shape
    wide = grid.clamp(-4, 4).view(1, count, points, 2)  # the candidates are rows of one reading
    return warp(x, wide, mode=mode, outside="border")[0].transpose(0, 1)


def inside_and_outside(level: Level, sources: Tensor) -> tuple[Tensor, Tensor]:  # (k, n) each
    """Which pixels of y are read within x, and which beyond it; those at its border are neither."""
    depth = (level.reach - sources.abs()).amin(-1)
    return (depth > level.margin).float(), (depth < -level.margin).float()
