"""The background that an example shows: the colour of what its result has uncovered.

uncovered_background(before, after, point_map)        # "#ffffff", "transparent", or ""
"""

import numpy as np
from PIL import Image

from fine.apply.canvas import Frame, make_canvas
from fine.apply.settings import TRANSPARENT
from fine.geometry.point_map import PointMap

_SIDE = 256  # pixels: enough to see a colour
_LEAST = 0.002  # of the result that must be uncovered
_EDGE = 1.5  # pixels next to the image, which are mixed with it
_ALIKE = 12  # levels of 255 that the middle half of a colour may spread


def uncovered_background(before: Image.Image, after: Image.Image, point_map: PointMap) -> str:
    """A background as `Settings` takes it; empty if little is uncovered, or in many colours."""
    if before.width * after.height != before.height * after.width:
        return ""  # another canvas, of which it is not known where it lies
    scale = min(1.0, _SIDE / max(before.size))
    frame = Frame(*(max(1, round(side * scale)) for side in before.size))
    canvas = make_canvas(point_map, frame, "keep")
    points = canvas.points(range(frame.height), range(frame.width))
    places = frame.pixels_of(point_map.sources(points))
    distance = np.maximum(np.maximum(-places, 0), places - (frame.width, frame.height)).max(axis=-1)
    outside = ~(distance <= _EDGE)  # and what is no number
    if outside.mean() < _LEAST:
        return ""
    if after.mode.startswith("I;16"):  # Pillow would clip 16 bits to 8 instead of scaling them
        after = Image.fromarray((np.asarray(after) >> 8).astype(np.uint8))
    shown = after.convert("RGBA").resize((frame.width, frame.height), Image.Resampling.NEAREST)
    colours = np.asarray(shown)[outside]  # (n, 4)
    low, middle, high = np.quantile(colours, (0.25, 0.5, 0.75), axis=0)
    if middle[3] < 128:
        return TRANSPARENT
    if (high - low)[:3].max() > _ALIKE:
        return ""
    red, green, blue = (round(float(value)) for value in middle[:3])
    return f"#{red:02x}{green:02x}{blue:02x}"
