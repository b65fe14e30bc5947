"""Images of any shape in frame units: the points of a frame's pixels, and maps of pixels.

    points = frame_points(300, 400, unit=200.0)         # (300, 400, 2): the centres of its pixels
    across, down = pixel_maps(point_map, (300, 400), out=(300, 400))     # as OpenCV's remap wants

fine.geometry.point_map says what frame units are.
"""

import numpy as np
from numpy.typing import NDArray

from fine.geometry.point_map import PointMap

Size = tuple[int, int]
"""Height and width, in pixels."""


def unit_of(size: Size) -> float:
    """Pixels in a frame unit, for an input image of this height and width."""
    return max(size) / 2


def frame_points(height: int, width: int, *, unit: float) -> NDArray[np.float64]:
    """The centre of every pixel of a frame as (x, y): (height, width, 2)."""
    x = (np.arange(width) + 0.5 - width / 2) / unit
    y = (np.arange(height) + 0.5 - height / 2) / unit
    return np.stack(np.meshgrid(x, y), axis=-1)


def pixel_maps(
    point_map: PointMap, size: Size, *, out: Size
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The column and the row of an image of ``size`` that each pixel of the result is read from.

    Whole numbers are centres of pixels, as OpenCV and SciPy count: ``cv2.remap(image, columns,
    rows, cv2.INTER_LINEAR)`` and ``scipy.ndimage.map_coordinates(image, (rows, columns))``.
    """
    unit = unit_of(size)
    sources = point_map.sources(frame_points(*out, unit=unit)) * unit
    height, width = size
    columns = sources[..., 0] + width / 2 - 0.5
    rows = sources[..., 1] + height / 2 - 0.5
    return columns.astype(np.float32), rows.astype(np.float32)
