"""Points of an image, and the one place where images are warped: in batches, at any resolution.

    points = pixel_points(32)                  # (32, 32, 2): the centre of every pixel
    grid = sampling_grid(points - 3)           # the point three units up and to the left of each
    moved = warp(image[None], grid[None])      # so the image moves down and to the right

Points are (x, y), x to the right and y down, measured from the centre of an image that is 32 units
wide at any resolution. So 3 units are 3 pixels at 32 × 32, and 48 at 512 × 512.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

HALF = 16.0
"""Half the width of an image, in units."""


def pixel_points(size: int) -> Tensor:
    """The centre of every pixel: (size, size, 2) as (x, y), in float64."""
    ticks = (torch.arange(size, dtype=torch.float64) + 0.5) * (2 * HALF / size) - HALF
    return torch.stack(torch.meshgrid(ticks, ticks, indexing="xy"), dim=-1)


def sampling_grid(points: Tensor) -> Tensor:  # (..., h, w, 2), the same out
    """Points as torch's sampler takes them: float32, with the image reaching from −1 to 1."""
    return (points / HALF).float()


def warp(
    images: Tensor, grid: Tensor, *, mode: str = "bilinear", outside: str = "zeros"
) -> Tensor:  # (b, channels, h, w), (b, h', w', 2) -> (b, channels, h', w')
    """Images read at the points of a sampling grid: bilinear, and 0 outside the image.

    ``mode`` and ``outside`` are torch's: bicubic reads more exactly, and border goes on with the
    outermost pixels.
    """
    return F.grid_sample(images, grid, mode=mode, padding_mode=outside, align_corners=False)
