"""Affine maps of images, by Pillow's own transform; rotations by 90° and mirrors move pixels only.

    draw_affine(image, canvas, matrix, resample="bicubic", fill=(0, 0, 0))

An image that gets smaller is first reduced with antialiasing, to the size that one pixel of the
result is one pixel of it; else fine patterns would turn into coarse ones.
"""

import math

import numpy as np
from PIL import Image

from fine.apply.canvas import Canvas, Floats, Frame
from fine.apply.modes import Fill
from fine.apply.settings import Resample

FILTERS = {
    "nearest": Image.Resampling.NEAREST,
    "bilinear": Image.Resampling.BILINEAR,
    "bicubic": Image.Resampling.BICUBIC,
}
_UNSEEN = 0.01  # pixels: what no eye and no file of 8 bits can tell from nothing
_TRANSPOSITIONS = {
    (1, 0, 0, 1): None,
    (-1, 0, 0, 1): Image.Transpose.FLIP_LEFT_RIGHT,
    (1, 0, 0, -1): Image.Transpose.FLIP_TOP_BOTTOM,
    (-1, 0, 0, -1): Image.Transpose.ROTATE_180,
    (0, -1, 1, 0): Image.Transpose.ROTATE_90,
    (0, 1, -1, 0): Image.Transpose.ROTATE_270,
    (0, 1, 1, 0): Image.Transpose.TRANSPOSE,
    (0, -1, -1, 0): Image.Transpose.TRANSVERSE,
}
"""From pixels of the result to those of the image -> what Pillow calls it."""


def draw_affine(
    image: Image.Image, canvas: Canvas, matrix: Floats, *, resample: Resample, fill: Fill
) -> Image.Image:
    """The image under a map whose matrix is from points of the result to points of the image."""
    linear, offset = canvas.affine(matrix)
    if (moved := _transposed(image, canvas, matrix, fill)) is not None:
        return moved
    if resample != "nearest":
        image = reduced(image, *shrinkage(linear))
    scale = np.array(image.size) / (canvas.frame.width, canvas.frame.height)
    (a, b), (d, e) = scale[:, None] * linear
    c, f = scale * offset
    size = (canvas.width, canvas.height)
    return image.transform(
        size,
        Image.Transform.AFFINE,
        (a, b, c, d, e, f),
        resample=FILTERS[resample],
        fillcolor=fill,
    )


def shrinkage(linear: Floats) -> tuple[float, float]:
    """Pixels of the image, across and down, that one pixel of the result stands for; at least 1.

    For a rotation these are 1: the root mean square of a pixel's extent counts, not its corners.
    """
    across, down = np.hypot(linear[..., 0], linear[..., 1])
    return max(1.0, float(across)), max(1.0, float(down))


def reduced(image: Image.Image, across: float, down: float) -> Image.Image:
    """An image so many times smaller, antialiased; itself if that would hardly change it."""
    if max(across, down) < 1.05:
        return image
    frame = Frame(*image.size)
    size = (max(1, math.ceil(frame.width / across)), max(1, math.ceil(frame.height / down)))
    return image.resize(size, Image.Resampling.BICUBIC, reducing_gap=2.0)


def _transposed(
    image: Image.Image, canvas: Canvas, matrix: Floats, fill: Fill
) -> Image.Image | None:
    """The result if the map takes whole pixels to whole pixels, else None."""
    linear, shift = matrix[:, :2], matrix[:, 2] * canvas.frame.unit
    nearest = np.rint(linear)
    if np.abs(linear - nearest).max() * canvas.frame.unit > _UNSEEN:
        return None
    kind = tuple(int(value) for value in nearest.ravel())
    if kind not in _TRANSPOSITIONS:
        return None
    moved_by = nearest.T @ shift
    if np.abs(moved_by - np.rint(moved_by)).max() > _UNSEEN:
        return None
    swaps = kind[0] == 0
    size = image.size[::-1] if swaps else image.size
    corner = np.array([canvas.left, canvas.top]) + np.rint(moved_by) + np.array(size) / 2
    # Half a pixel is left of an image turned by 90° whose sides differ by an odd number.
    left, top = (math.floor(value + _UNSEEN) for value in corner)
    transposition = _TRANSPOSITIONS[kind]
    moved = image if transposition is None else image.transpose(transposition)
    if (left, top) == (0, 0) and size == (canvas.width, canvas.height):
        return moved
    result = Image.new(image.mode, (canvas.width, canvas.height), fill)
    result.paste(moved, (-left, -top))
    return result
