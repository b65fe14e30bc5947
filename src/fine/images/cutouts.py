"""Cut-outs: the photographs of CIFAR-100 as objects of a smooth outline on an empty ground.

Photographs fill their frame, so that hardly anything of a larger or moved one can be seen to be
larger or moved. A cut-out has an outline and room around it, as a drawing has. Its class is that of
the photograph; its outline depends on the number of the photograph alone.
"""

from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from fine.images import cifar100
from fine.images.augmentation.filters import KNOTS, smooth_fields
from fine.images.images import Images
from fine.randomness import random_uniform

_OUTLINE = 0x637574  # first part of an address: what the random number is for
_CHUNK = 4096  # photographs cut out together, to save memory
REACH = (0.5, 0.85)
"""How far an object reaches from the middle of the frame, in half widths, before it is bent."""
BENT = 0.25
"""How much the outline is bent, in half widths."""


def load(*, size: int, data_root: Path) -> Images:
    """A cut-out of each photograph, in their order."""
    photographs = cifar100.load(size=size, data_root=data_root)
    chunks = np.array_split(np.arange(len(photographs.labels)), len(photographs.labels) // _CHUNK)
    pixels = [_cut_out(photographs.pixels[numbers], numbers) for numbers in chunks]
    return Images("cutouts", torch.cat(pixels), photographs.labels, photographs.class_names)


def _cut_out(pixels: Tensor, numbers: np.ndarray) -> Tensor:  # uint8 (n, 3, size, size)
    size = pixels.shape[-1]
    chance = random_uniform(_OUTLINE, numbers[:, None], np.arange(1 + KNOTS**2))
    reach = torch.from_numpy(REACH[0] + (REACH[1] - REACH[0]) * chance[:, 0]).float()
    noise = torch.from_numpy(2 * chance[:, 1:] - 1).float()
    places = (torch.arange(size) + 0.5) / (size / 2) - 1  # of pixels, in half widths
    distance = (places[:, None].square() + places.square()).sqrt()
    inside = reach[:, None, None, None] + BENT * smooth_fields(noise, size) - distance
    mask = (inside * (size / 2)).clamp(0, 1)  # its edge is a pixel wide
    return (pixels * mask).round().to(torch.uint8)
