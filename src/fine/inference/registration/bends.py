"""Waves and fisheyes, for many candidates at once: where they read, and how that changes.

    bend = BENDS["wave"]
    sources = bend.sources(points, parameters)                    # (k, n, 2)
    by_point, by_parameter = bend.pulled(points, parameters, slopes)

`pulled` takes slopes of an image at the points that are read back to those of the output, and to
the parameters: the chain rule, in closed form.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fine.geometry.warp import HALF


@dataclass(frozen=True)
class Bend:
    """A family of maps that are not affine."""

    name: str
    sources: Callable[[Tensor, Tensor], Tensor]
    """Points (k, n, 2), parameters (k, p, 1) -> the points read (k, n, 2)."""
    pulled: Callable[[Tensor, Tensor, Tensor], tuple[Tensor, Tensor]]
    """Points, parameters, slopes (k, 2, n) there -> slopes (k, 2, n) by the points and (k, p, n) by
    the parameters."""
    steps: tuple[float, ...]
    """A small change of each parameter."""
    least: tuple[float, ...]
    most: tuple[float, ...]
    """Between these each parameter stays: with others a bend can look like anything."""

    def allows(self, parameters: NDArray[np.float64]) -> NDArray[np.bool_]:  # (k, p) -> (k,)
        """Which parameters are between the least and the most."""
        between = (parameters >= self.least) & (parameters <= self.most)
        return np.asarray(between.all(axis=1))


def _waves(points: Tensor, p: Tensor) -> Tensor:
    amplitude, waves = p.unbind(1)
    x, y = points.unbind(-1)
    return torch.stack((x, y + amplitude / HALF * torch.cos(torch.pi * waves * y)), dim=-1)


def _waves_pulled(points: Tensor, p: Tensor, slopes: Tensor) -> tuple[Tensor, Tensor]:
    amplitude, waves = p.unbind(1)
    y = points[..., 1]
    across, down = slopes.unbind(1)
    phase = torch.pi * waves * y
    falling = -amplitude / HALF * torch.pi * torch.sin(phase) * down
    by_point = torch.stack((across, down + falling * waves), dim=1)
    return by_point, torch.stack((torch.cos(phase) / HALF * down, falling * y), dim=1)


def _fisheyes(points: Tensor, p: Tensor) -> Tensor:
    offset = points - p[:, :2].transpose(1, 2)
    return points + offset * p[:, 2:] * offset.norm(dim=-1, keepdim=True)


def _fisheyes_pulled(points: Tensor, p: Tensor, slopes: Tensor) -> tuple[Tensor, Tensor]:
    offset = points.transpose(-1, -2) - p[:, :2]  # (k, 2, n)
    strength = p[:, 2:]
    radius = offset.norm(dim=1, keepdim=True).clamp(min=1e-6)
    outward = (offset * slopes).sum(1, keepdim=True)
    bent = strength * (radius * slopes + offset * outward / radius)
    return slopes + bent, torch.cat((-bent, radius * outward), dim=1)


BENDS = {
    "wave": Bend("wave", _waves, _waves_pulled, (1e-2, 1e-2), (-8.0, 0.25), (8.0, 6.0)),
    "fisheye": Bend(
        "fisheye", _fisheyes, _fisheyes_pulled, (3e-3,) * 3, (-1.0, -1.0, -0.5), (1.0, 1.0, 2.0)
    ),
}
