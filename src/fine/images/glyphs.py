"""Generated characters: unlimited classes of unlimited drawings, for work without a download.

    draw(np.array([7, 7]), np.array([0, 1]))   # two drawings of character 7: uint8 (2, 1, 32, 32)

A class is a character of an invented script: one to four strokes from a small vocabulary (stems,
bowls, hooks, loops, dots), where later strokes start on earlier ones. A drawing is the character as
one hand drew it once: warped, slanted, shaken, with some pen.

An image depends on its class, its drawing and its size alone, not on its neighbours in the batch or
on the number of threads. It is computed by + − × ÷ √ in float64 and rounded to bytes at the end.
Another machine, which may fuse a multiplication with an addition, draws the same image except for a
rare grey level.
"""

import numpy as np
import torch
from torch import Tensor

from fine.errors import FineError
from fine.images.glyph_skeletons import POINTS, STROKES, Floats, Integers, length, skeletons_of
from fine.images.images import Images
from fine.randomness import random_uniform

_HAND = 0x68616E64  # first part of an address: what the random number is for
_CHUNK = 128  # images drawn together: 50 MB of temporaries at 32 × 32, 200 MB at 105 × 105


def draw(classes: Integers, drawings: Integers, *, size: int = 32) -> Tensor:
    """Drawing ``drawings[i]`` of character ``classes[i]`` for each i: uint8 (n, 1, size, size).

    Ink is 255 on 0.
    """
    if np.ndim(classes) != 1 or np.shape(classes) != np.shape(drawings):
        raise FineError(
            f"glyphs: classes and drawings have shapes {np.shape(classes)} and "
            f"{np.shape(drawings)}: give two flat arrays of one length"
        )
    if size < 8:
        raise FineError(f"glyphs: size {size} is too small to show strokes: give 8 or more")
    images = torch.empty(len(classes), 1, size, size, dtype=torch.uint8)
    order = np.argsort(classes, kind="stable")  # so that few skeletons are made more than once
    for first in range(0, len(order), _CHUNK):
        chunk = order[first : first + _CHUNK]
        distinct, which = np.unique(classes[chunk], return_inverse=True)
        skeletons, count = skeletons_of(distinct)
        path, pen = _draw_by_hand(skeletons[which], classes[chunk], drawings[chunk])
        images[chunk] = _ink(path, pen, count[which], size)
    return images


def load(*, size: int = 32, classes: int = 400, drawings: int = 20) -> Images:
    """The first ``classes`` characters in their first ``drawings`` drawings, sorted by class."""
    labels = np.repeat(np.arange(classes), drawings)
    pixels = draw(labels, np.tile(np.arange(drawings), classes), size=size)
    names = tuple(f"glyph-{number:04d}" for number in range(classes))
    return Images("glyphs", pixels, torch.from_numpy(labels), names)


def _draw_by_hand(
    skeletons: Floats, classes: Integers, drawings: Integers
) -> tuple[Floats, Floats]:
    """The strokes of each drawing and half the width of its pen, in a frame of [−1, 1]²."""
    streams = np.arange(8 + 9 * 2 + STROKES * 4 * 2)
    chance = random_uniform(_HAND, classes[:, None], drawings[:, None], streams) * 2 - 1
    field = chance[:, 8:26].reshape(-1, 9, 1, 1, 2)
    shake = chance[:, 26:].reshape(-1, STROKES, 4, 1, 2)
    path = _bend(skeletons, field, shake)  # (n, strokes, points, 2)
    return _place(path, chance[:, :7]), 0.048 * (1 + 0.16 * chance[:, 7])


def _bend(skeletons: Floats, field: Floats, shake: Floats) -> Floats:
    """Skeletons on warped paper, so that strokes that meet stay together; then each bent alone."""
    across, down = (_bernstein(skeletons[..., axis] / 2 + 0.5) for axis in (0, 1))
    path = skeletons.copy()
    for knot in range(9):
        path += 0.22 * (across[knot // 3] * down[knot % 3])[..., None] * field[:, knot]
    extent = np.ptp(skeletons, axis=2, keepdims=True).max(axis=-1, keepdims=True)
    flexibility = np.minimum(extent + 0.1, 1)  # short strokes bend less, so that dots stay dots
    t = np.linspace(0, 1, POINTS)[:, None]
    cubic = ((1 - t) ** 2 * (1 - t), 3 * (1 - t) ** 2 * t, 3 * (1 - t) * t**2, t**2 * t)
    for knot, weight in enumerate(cubic):
        path += 0.1 * weight * flexibility * shake[:, :, knot]
    return path


def _bernstein(t: Floats) -> tuple[Floats, Floats, Floats]:
    return (1 - t) * (1 - t), 2 * t * (1 - t), t * t


def _place(path: Floats, chance: Floats) -> Floats:
    """Strokes stretched, slanted, rotated, scaled and moved, and kept inside the frame."""
    width, height, slant, tilt, scale = (part[:, None, None] for part in chance[:, :5].T)
    shift = chance[:, None, None, 5:7]
    x, y = path[..., 0] * (1 + 0.12 * width), path[..., 1] * (1 + 0.1 * height)
    x = x - 0.14 * slant * y
    tan = 0.06 * tilt  # of half the angle: ±7° without a sine
    cos_part, sin_part, norm = 1 - tan * tan, 2 * tan, 1 + tan * tan
    x, y = (cos_part * x - sin_part * y) / norm, (sin_part * x + cos_part * y) / norm
    path = np.stack([x, y], axis=-1) * (0.6 + 0.08 * scale[..., None]) + 0.07 * shift
    outermost = np.abs(path).max(axis=(1, 2, 3), keepdims=True)
    return path * np.minimum(1, 0.86 / outermost)


def _ink(path: Floats, pen: Floats, count: Integers, size: int) -> Tensor:  # (n, 1, size, size)
    """Images of strokes: a pixel is as bright as its centre is deep inside the nearest stroke."""
    path, pen = (path + 1) * (size / 2) - 0.5, pen * (size / 2)  # in pixels
    image, stroke = np.nonzero(np.arange(STROKES) < count[:, None])
    start = path[image, stroke, :-1].reshape(-1, 2)
    along = path[image, stroke, 1:].reshape(-1, 2) - start
    image = image.repeat(POINTS - 1)  # of each segment between two points
    # A segment inks the patch of pixels around its middle. A margin holds what hangs over.
    margin = int(np.ceil(length(along).max() / 2 + pen.max() + 0.5))
    middle, patch = np.rint(start + along / 2), np.arange(-margin, margin + 1)
    column, row = (middle[:, :1] + patch)[:, None, :], (middle[:, 1:] + patch)[:, :, None]
    ax, ay = along[:, 0, None, None], along[:, 1, None, None]
    dx, dy = column - start[:, 0, None, None], row - start[:, 1, None, None]
    nearest = np.clip((dx * ax + dy * ay) / np.maximum(ax * ax + ay * ay, 1e-12), 0, 1)
    dx, dy = dx - nearest * ax, dy - nearest * ay
    cover = np.clip(pen[image, None, None] + 0.5 - np.sqrt(dx * dx + dy * dy), 0, 1)
    wide = size + 2 * margin
    pixel = ((image[:, None, None] * wide + row + margin) * wide + column + margin).astype(np.int64)
    canvas = np.zeros(len(path) * wide * wide, dtype=np.uint8)
    grey = np.rint(cover * 255).astype(np.uint8)
    np.maximum.at(canvas, pixel.ravel(), grey.ravel())  # the same in any order
    return torch.from_numpy(canvas).view(-1, 1, wide, wide)[:, :, margin:-margin, margin:-margin]
