"""Example pairs for tests of registration: an image with no symmetry, and Pillow's own warps."""

import numpy as np
import torch
from PIL import Image


def photograph(width: int = 96, height: int = 64, *, seed: int = 0) -> Image.Image:
    """A smooth colour image without any symmetry."""
    rng = np.random.default_rng(seed)
    coarse, fine = (
        Image.fromarray(rng.integers(0, 256, (cells, cells, 3), dtype=np.uint8)).resize(
            (width, height), Image.Resampling.BICUBIC
        )
        for cells in (4, 9)
    )
    return Image.blend(coarse, fine, 0.4)


def tensor(image: Image.Image) -> torch.Tensor:  # (3, h, w)
    """A Pillow image as registration takes it."""
    return torch.from_numpy(np.asarray(image).astype(np.float32) / 255).movedim(-1, 0)


def moved(image: Image.Image, matrix: list[list[float]]) -> Image.Image:
    """An image under a map by Pillow: 2 × 3, output point -> input point, in frame units."""
    unit, centre = max(image.size) / 2, np.array(image.size) / 2
    linear, shift = np.array(matrix)[:, :2], np.array(matrix)[:, 2]
    offset = shift * unit + centre - linear @ centre
    data = (*linear[0], offset[0], *linear[1], offset[1])
    return image.transform(image.size, Image.Transform.AFFINE, data, Image.Resampling.BICUBIC)
