"""Maps of points for tests, so that no test of drawing depends on how a rule is found."""

import math
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class Affine:
    """An affine map: ``matrix`` is 2 × 3, from points of the result to points of the image."""

    matrix: np.ndarray
    negative: bool = False

    def sources(self, points: np.ndarray) -> np.ndarray:
        return points @ self.matrix[:, :2].T + self.matrix[:, 2]


def rotation(degrees: float, *, negative: bool = False) -> Affine:
    """Counter-clockwise, as one sees it; y goes down."""
    cos, sin = (function(math.radians(degrees)) for function in (math.cos, math.sin))
    return Affine(np.array([[cos, -sin, 0.0], [sin, cos, 0.0]]), negative)


def scale(factor: float) -> Affine:
    return Affine(np.array([[1 / factor, 0.0, 0.0], [0.0, 1 / factor, 0.0]]))


def translation(x: float, y: float) -> Affine:
    return Affine(np.array([[1.0, 0.0, -x], [0.0, 1.0, -y]]))


MIRROR = Affine(np.array([[-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]))


@dataclass(frozen=True)
class PointByPoint:
    """An affine map that does not say so, and is drawn as any other map would be."""

    map: Affine
    matrix: None = field(default=None, init=False)

    @property
    def negative(self) -> bool:
        return self.map.negative

    def sources(self, points: np.ndarray) -> np.ndarray:
        return self.map.sources(points)


@dataclass(frozen=True)
class Wave:
    """Rows that are shifted by a sine of their height."""

    amplitude: float = 0.1
    length: float = 0.5
    negative: bool = False
    matrix: None = field(default=None, init=False)

    def sources(self, points: np.ndarray) -> np.ndarray:
        moved = points.copy()
        turn = 2 * math.pi / self.length
        moved[..., 0] += self.amplitude * np.sin(turn * points[..., 1])
        return moved


@dataclass(frozen=True)
class SwapHalves:
    """The left half of the image on the right, and the right half on the left."""

    negative: bool = False
    matrix: None = field(default=None, init=False)

    def sources(self, points: np.ndarray) -> np.ndarray:
        moved = points.copy()
        moved[..., 0] -= np.sign(points[..., 0])
        return moved


@dataclass(frozen=True)
class NegativeRight:
    """The negative of the right half."""

    negative: bool = False
    matrix: None = field(default=None, init=False)
    partly_negative: bool = True

    def sources(self, points: np.ndarray) -> np.ndarray:
        return points

    def negative_at(self, points: np.ndarray) -> np.ndarray:
        return points[..., 0] > 0
