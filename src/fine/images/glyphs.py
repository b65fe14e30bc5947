"""Generated characters: unlimited classes, each with unlimited drawings, for work without a download.

    draw(np.array([7, 7]), np.array([0, 1]))       # two drawings of character 7: uint8 (2, 1, 32, 32)

A class is a character of an invented script: one to four strokes from a small vocabulary (stems, bowls, hooks, loops,
dots), the later ones starting on the earlier ones. A drawing is that character as one hand put it down once: warped,
slanted, shaken, with some pen. A picture depends on its class, its drawing and its size, on nothing else: not on its
neighbours in the batch, nor on the number of threads. All is + − × ÷ √ in float64, rounded to a byte at the end, so
another machine, which may fuse a multiplication with an addition, draws the same picture up to a rare grey level.
"""

from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from fine.errors import FineError
from fine.images.glyph_skeletons import POINTS, STROKES, Floats, Integers, length, skeletons_of
from fine.randomness import random_uniform

if TYPE_CHECKING:
    from fine.images import Images

_HAND = 0x68616E64  # first part of an address: what the random number is for
_CHUNK = 128  # pictures made at once: about 50 MB of temporaries at 32 × 32, 200 MB at 105 × 105


def draw(classes: Integers, drawings: Integers, *, size: int = 32) -> Tensor:
    """Drawing ``drawings[i]`` of character ``classes[i]`` for each i: uint8 (n, 1, size, size), ink 255 on 0."""
    if np.ndim(classes) != 1 or np.shape(classes) != np.shape(drawings):
        shapes = f"{np.shape(classes)} and {np.shape(drawings)}"
        raise FineError(f"glyphs: classes and drawings have shapes {shapes}: give two flat arrays of one length")
    if size < 8:
        raise FineError(f"glyphs: size {size} is too small to show strokes: give 8 or more")
    pictures = torch.empty(len(classes), 1, size, size, dtype=torch.uint8)
    order = np.argsort(classes, kind="stable")  # one class after the other, so that its skeleton is made once or twice
    for first in range(0, len(order), _CHUNK):
        now = order[first : first + _CHUNK]
        distinct, which = np.unique(classes[now], return_inverse=True)
        skeletons, count = skeletons_of(distinct)
        path, pen = _by_hand(skeletons[which], classes[now], drawings[now])
        pictures[now] = _ink(path, pen, count[which], size)
    return pictures


def load(*, size: int = 32, classes: int = 400, drawings: int = 20) -> "Images":
    """The first ``classes`` characters in their first ``drawings`` drawings, sorted by class."""
    from fine.images import Images  # here, because fine.images lists this module among its sources

    labels = np.repeat(np.arange(classes), drawings)
    pixels = draw(labels, np.tile(np.arange(drawings), classes), size=size)
    names = tuple(f"glyph-{number:04d}" for number in range(classes))
    return Images(name="glyphs", pixels=pixels, labels=torch.from_numpy(labels), class_names=names)


def _by_hand(skeletons: Floats, classes: Integers, drawings: Integers) -> tuple[Floats, Floats]:
    """The strokes of each drawing in the frame [−1, 1]², (n, strokes, points, 2), and its pen's half width (n,)."""
    wish = random_uniform(_HAND, classes[:, None], drawings[:, None], np.arange(26 + STROKES * 8)) * 2 - 1
    whole, field = wish[:, :8, None, None], wish[:, 8:26].reshape(-1, 9, 1, 1, 2)
    shake = wish[:, 26:].reshape(-1, STROKES, 4, 1, 2)
    # The paper is warped as one, so that strokes that meet stay together; then each stroke is bent on its own.
    across, down = (_bernstein(skeletons[..., axis] / 2 + 0.5) for axis in (0, 1))
    path = skeletons.copy()
    for knot in range(9):
        path += 0.22 * (across[knot // 3] * down[knot % 3])[..., None] * field[:, knot]
    extent = np.ptp(skeletons, axis=2, keepdims=True).max(axis=-1, keepdims=True)
    nerve = np.minimum(extent + 0.1, 1)  # short strokes bend less, so that a dot stays a dot
    t = np.linspace(0, 1, POINTS)[:, None]
    for knot, weight in enumerate(((1 - t) ** 2 * (1 - t), 3 * (1 - t) ** 2 * t, 3 * (1 - t) * t**2, t**2 * t)):
        path += 0.1 * weight * nerve * shake[:, :, knot]
    x, y = path[..., 0] * (1 + 0.12 * whole[:, 0]), path[..., 1] * (1 + 0.1 * whole[:, 1])
    x = x - 0.14 * whole[:, 2] * y
    tan = 0.06 * whole[:, 3]  # of half the angle: ±7° without a sine
    x, y = ((1 - tan * tan) * x - 2 * tan * y) / (1 + tan * tan), (2 * tan * x + (1 - tan * tan) * y) / (1 + tan * tan)
    path = np.stack([x, y], axis=-1) * (0.6 + 0.08 * whole[:, 4, ..., None]) + 0.07 * wish[:, None, None, 5:7]
    outermost = np.abs(path).max(axis=(1, 2, 3), keepdims=True)
    return path * np.minimum(1, 0.86 / outermost), 0.048 * (1 + 0.16 * wish[:, 7])


def _bernstein(t: Floats) -> tuple[Floats, Floats, Floats]:
    return (1 - t) * (1 - t), 2 * t * (1 - t), t * t


def _ink(path: Floats, pen: Floats, count: Integers, size: int) -> Tensor:
    """Pictures (n, 1, size, size): a pixel's grey says how far its centre lies within half a pen of a stroke."""
    path, pen = (path + 1) * (size / 2) - 0.5, pen * (size / 2)
    image, stroke = np.nonzero(np.arange(STROKES) < count[:, None])
    start = path[image, stroke, :-1].reshape(-1, 2)
    along = path[image, stroke, 1:].reshape(-1, 2) - start
    image = image.repeat(POINTS - 1)
    # A segment inks only the patch of pixels around its middle; patches may hang over the frame, which gets a margin.
    margin = int(np.ceil(length(along).max() / 2 + pen.max() + 0.5))
    middle, patch = np.rint(start + along / 2), np.arange(-margin, margin + 1)
    column, row = (middle[:, :1] + patch)[:, None, :], (middle[:, 1:] + patch)[:, :, None]
    ax, ay = along[:, 0, None, None], along[:, 1, None, None]
    dx, dy = column - start[:, 0, None, None], row - start[:, 1, None, None]
    t = np.clip((dx * ax + dy * ay) / np.maximum(ax * ax + ay * ay, 1e-12), 0, 1)
    dx, dy = dx - t * ax, dy - t * ay
    cover = np.clip(pen[image, None, None] + 0.5 - np.sqrt(dx * dx + dy * dy), 0, 1)
    wide = size + 2 * margin
    pixel = ((image[:, None, None] * wide + row + margin) * wide + column + margin).astype(np.int64)
    canvas = np.zeros(len(path) * wide * wide, dtype=np.uint8)
    grey = np.rint(cover * 255).astype(np.uint8).ravel()
    np.maximum.at(canvas, pixel.ravel(), grey)  # a maximum knows no order
    return torch.from_numpy(canvas).view(-1, 1, wide, wide)[:, :, margin:-margin, margin:-margin]
