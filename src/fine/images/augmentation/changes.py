"""Changes that leave an image what it is: negative, thick strokes, mask, frame, colours, contrast.

Each happens to its share of the images and leaves the others as they are, bit for bit. Black stays
black under all of them but `invert`, so an empty ground stays empty.
"""

import numpy as np
import torch
from torch import Tensor

from fine.images.augmentation.chance import Chance
from fine.images.augmentation.filters import KNOTS, smooth_fields

INVERTED, THICKENED, MASKED, FRAMED, COLOURED, BENT = 1 / 4, 1 / 3, 1 / 3, 1 / 2, 1 / 2, 1 / 2
"""Shares of the images."""
HIDDEN = (-0.8, 0.4)
"""Where the field of a mask is below such a number, nothing is shown: a fifth to two thirds."""
FRAME = (2.0, 7.0)
"""Pixels of 32 that a frame takes from each side, rounded down."""
TINT = 0.2
"""How much of a channel passes a coloured glass at least."""
BEND = 3.0
"""The slope of the steepest brightness curve at black; that of the flattest is 1 / BEND."""
GAIN = 0.5
"""What white becomes at least."""


def invert(images: Tensor, chance: Chance) -> Tensor:  # (n, channels, h, w), the same out
    """Negatives."""
    white = chance.each(chance.happens(INVERTED))
    return (white - images).abs_()


def thick(images: Tensor, chance: Chance) -> Tensor:
    """Strokes thicker by up to a pixel on each side."""
    rows = chance.happens(THICKENED).nonzero()[0]
    where, own = torch.from_numpy(rows).to(images.device), chance[rows]
    some = images.index_select(0, where)
    thicker = some.lerp(_dilated(some), own.each(own.uniform(0, 1)))
    return images.index_copy(0, where, thicker)


def _dilated(images: Tensor) -> Tensor:
    """The brightest of each pixel and its eight neighbours."""
    for axis in (-2, -1):
        length, before = images.shape[axis] - 1, images
        images = before.clone()
        for here, neighbour in ((0, 1), (1, 0)):
            grown = images.narrow(axis, here, length)
            torch.maximum(grown, before.narrow(axis, neighbour, length), out=grown)
    return images


def mask(images: Tensor, chance: Chance) -> Tensor:
    """Smooth parts of images, as if cut out with scissors."""
    rows = chance.happens(MASKED).nonzero()[0]
    where, own = torch.from_numpy(rows).to(images.device), chance[rows]
    fields = smooth_fields(own.noise(KNOTS**2), images.shape[-1])
    masks = fields.sub_(own.each(own.uniform(*HIDDEN))).mul_(3).clamp_(0, 1)
    return images.index_copy(0, where, images.index_select(0, where) * masks)


def frame(images: Tensor, chance: Chance) -> Tensor:
    """Images with nothing near their border."""
    size = images.shape[-1]
    width = np.floor(chance.uniform(*FRAME) * (size / 32)) * chance.happens(FRAMED)
    places = np.arange(size)
    inside = np.minimum(places, size - 1 - places) >= width[:, None]
    across = chance.tensor(inside)[:, None, None]  # (n, 1, 1, w)
    return (images * across).mul_(across.mT)


def colours(images: Tensor, chance: Chance) -> Tensor:
    """Images as if seen through coloured glass; grey images have no colour to change."""
    if images.shape[1] == 1:
        return images
    happens = chance.happens(COLOURED)
    passed = [chance.uniform(TINT, 1, channel) for channel in (1, 2, 3)]  # red, green, blue
    glass = np.where(happens[:, None], np.stack(passed, axis=1), 1)
    return images * chance.tensor(glass)[:, :, None, None]


def contrast(images: Tensor, chance: Chance) -> Tensor:
    """Images through a curve that keeps black black, and with less light: g x / (x + b (1 − x))."""
    happens = chance.happens(BENT)
    bend = BEND ** (chance.uniform(-1, 1) * happens)
    gain = np.where(happens, chance.uniform(GAIN, 1, 2), 1)
    below = (images * chance.each((1 - bend) / gain)).add_(chance.each(bend / gain))
    return torch.div(images, below, out=below)
