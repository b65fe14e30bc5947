"""The pixels of a result, and the points of the frame that they are.

    frame = Frame(4000, 3000)                          # of the input image, in pixels
    canvas = make_canvas(point_map, frame, "expand")
    canvas.points(range(0, 64), range(0, 4000))        # (64, 4000, 2), as the map takes them

Pixel coordinates are continuous: the centre of the first pixel is 0.5.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fine.apply.settings import CanvasKind
from fine.errors import FineError
from fine.geometry.point_map import PointMap
from fine.images.limits import FULL_SIZE

Floats = NDArray[np.float64]

_REACH = 3.0  # frame units, how far from the centre a result is looked for
_STEPS = 601  # points a side, when a result is looked for
_ALMOST = 1e-6  # pixels by which a result may stick out of its canvas
_LONGEST = 30_000
"""Pixels of a side of a result; a JPEG has up to 65,500."""


@dataclass(frozen=True)
class Frame:
    """The input image: its size, and the unit that points are measured in."""

    width: int
    height: int

    @property
    def unit(self) -> float:
        """Pixels of one frame unit, half the longer side."""
        return max(self.width, self.height) / 2

    @property
    def centre(self) -> Floats:
        return np.array([self.width / 2, self.height / 2])

    def pixels_of(self, points: Floats) -> Floats:  # (..., 2), the same out
        """Points of the frame in pixels of the input image."""
        return np.asarray(points, dtype=np.float64) * self.unit + self.centre

    def contains(self, pixels: Floats) -> NDArray[np.bool_]:  # (..., 2) -> (...)
        """Which places, in pixels, are on the image; one that is no number is not."""
        x, y = pixels[..., 0], pixels[..., 1]
        return (x >= 0) & (x < self.width) & (y >= 0) & (y < self.height)


@dataclass(frozen=True)
class Canvas:
    """The result: its size, and where its top left corner is, in pixels from the centre."""

    frame: Frame
    width: int
    height: int
    left: float
    top: float

    def points(self, rows: range, columns: range, *, finer: int = 1) -> Floats:
        """The centres of pixels as points (rows, columns, 2); of ``finer``² parts of each."""
        x = (_centres(columns, finer) + self.left) / self.frame.unit
        y = (_centres(rows, finer) + self.top) / self.frame.unit
        points = np.empty((len(y), len(x), 2))
        points[..., 0] = x
        points[..., 1] = y[:, None]
        return points

    def affine(self, matrix: Floats) -> tuple[Floats, Floats]:
        """A matrix of points as (2, 2) and (2,), from pixels of the result to those of the image"""
        linear = np.asarray(matrix, dtype=np.float64)[:, :2]
        shift = matrix[:, 2] * self.frame.unit + self.frame.centre
        return linear, linear @ np.array([self.left, self.top]) + shift


def make_canvas(point_map: PointMap, frame: Frame, kind: CanvasKind) -> Canvas:
    """The canvas of a result, as large as the image or as all of the moved image."""
    if kind == "keep":
        return Canvas(frame, frame.width, frame.height, -frame.width / 2, -frame.height / 2)
    low, high = _extent(point_map, frame)
    width, height = (max(1, math.ceil(size - _ALMOST)) for size in high - low)
    if width * height > FULL_SIZE.pixels or max(width, height) > _LONGEST:
        raise FineError(
            f"the result would have {width:,} × {height:,} pixels: expected at most "
            f"{FULL_SIZE.pixels // 1_000_000} megapixels; use the canvas keep"
        )
    left, top = (low + high) / 2 - np.array([width, height]) / 2
    return Canvas(frame, width, height, float(left), float(top))


def _extent(point_map: PointMap, frame: Frame) -> tuple[Floats, Floats]:
    """Corners of the smallest box, in pixels from the centre, that has all of the image in it."""
    half = frame.centre
    if point_map.matrix is not None:
        matrix = np.asarray(point_map.matrix, dtype=np.float64)
        if abs(np.linalg.det(matrix[:, :2])) < 1e-9:
            raise FineError("the map flattens an image to a line: there is no canvas for all of it")
        corners = np.array([[-1, -1], [1, -1], [-1, 1], [1, 1]]) * half
        back = np.linalg.inv(matrix[:, :2])
        places = (corners - matrix[:, 2] * frame.unit) @ back.T
        return places.min(axis=0), places.max(axis=0)
    return _searched_extent(point_map, frame)


def _searched_extent(point_map: PointMap, frame: Frame) -> tuple[Floats, Floats]:
    """The extent under a map that is not affine: looked for on a grid, then on a finer one."""
    reach = np.array([_REACH, _REACH])
    low, high = -reach, reach
    for _ in range(2):
        x, y = (np.linspace(low[axis], high[axis], _STEPS) for axis in (0, 1))
        points = np.stack(np.meshgrid(x, y), axis=-1)
        inside = frame.contains(frame.pixels_of(point_map.sources(points)))
        if not inside.any():
            raise FineError("the map shows nothing of the image: there is no canvas for it")
        step = (high - low) / (_STEPS - 1)
        found = points[inside]
        low, high = found.min(axis=0) - step, found.max(axis=0) + step
    # Half a step is the mean of what the search can have missed.
    return (low + step / 2) * frame.unit, (high - step / 2) * frame.unit


def _centres(numbers: range, finer: int) -> Floats:
    return numbers.start + (np.arange(len(numbers) * finer) + 0.5) / finer
