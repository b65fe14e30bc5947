"""Images of any shape in frame units: the points of a frame's pixels, and maps of pixels.

    points = frame_points(300, 400, unit=200.0)         # (300, 400, 2): the centres of its pixels
    columns, rows = pixel_maps(point_map.sources(points), (300, 400))    # as OpenCV's remap wants

fine.geometry.point_map says what frame units are.
"""

import numpy as np
from numpy.typing import NDArray

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
    sources: NDArray[np.float64], size: Size
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:  # (h, w, 2) -> (h, w), (h, w)
    """The columns and the rows of points, in an image of ``size``.

    Whole numbers are centres of pixels, as OpenCV and SciPy count: ``cv2.remap(image, columns,
    rows, cv2.INTER_LINEAR)`` and ``scipy.ndimage.map_coordinates(image, (rows, columns))``.
    """
    height, width = size
    pixels = sources * unit_of(size) + np.array([width, height]) / 2 - 0.5
    return pixels[..., 0].astype(np.float32), pixels[..., 1].astype(np.float32)
