"""A rule as a map of points: from each point of the result to the point of the image it shows.

    class Turn:                                        # by 90° counter-clockwise
        negative = False
        matrix = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0]])

        def sources(self, points):
            return points @ self.matrix[:, :2].T + self.matrix[:, 2]

Points are (x, y) in frame units, for the result and for the image alike:

- The origin is the centre of the frame: of the result for the points that go in, of the input image
  for the points that come out.
- x goes to the right and y goes down.
- One unit is half the longer side of the *input* image, along both axes and in both frames. So the
  longer side of the input image spans [-1, 1], and a photograph of 3:2 reaches from -1 to 1 across
  and from -2/3 to 2/3 down. A circle stays a circle under a rotation, whatever the shape.

The centre of the pixel in column c and row r of a frame of w × h pixels is the point
((c + 0.5 - w / 2) / unit, (r + 0.5 - h / 2) / unit), where unit = max(input w, input h) / 2.
"""

from typing import Protocol, runtime_checkable

import numpy as np


@runtime_checkable
class PointMap(Protocol):
    """What moves an image: where each point of the result is read, and whether it is negated."""

    @property
    def negative(self) -> bool:
        """Whether brightness v becomes 1 - v, once the image has been read."""

    @property
    def matrix(self) -> np.ndarray | None:
        """2 × 3, output point (x, y, 1) -> input point, in frame units; None if not affine."""

    def sources(self, points: np.ndarray) -> np.ndarray:
        """Output points (..., 2) -> input points (..., 2)."""


@runtime_checkable
class PartlyNegativeMap(PointMap, Protocol):
    """A map that may negate a part of the result; then it is not affine."""

    @property
    def partly_negative(self) -> bool:
        """Whether it does. If so, `negative_at` counts, and `negative` does not."""

    def negative_at(self, points: np.ndarray) -> np.ndarray:
        """Output points (..., 2) -> whether brightness v becomes 1 - v there: bool (...)."""
