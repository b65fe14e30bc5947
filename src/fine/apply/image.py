"""One image under a map, at its own size.

result = apply_map(photograph, point_map, Settings(canvas="expand"))
"""

import numpy as np
from PIL import Image

from fine.apply.affine import draw_affine
from fine.apply.canvas import Frame, make_canvas
from fine.apply.modes import prepare
from fine.apply.remap import draw_remapped
from fine.apply.settings import Settings
from fine.geometry.point_map import PartlyNegativeMap, PointMap

DEFAULT = Settings()


def apply_map(image: Image.Image, point_map: PointMap, settings: Settings = DEFAULT) -> Image.Image:
    """A Pillow image under a map: in its mode, or the nearest that can be interpolated.

    A palette becomes RGB, or RGBA if it is transparent.
    """
    partly = isinstance(point_map, PartlyNegativeMap) and point_map.partly_negative
    negative = point_map.negative and not partly
    prepared = prepare(image, settings, negative=negative)
    del image  # it may be as large as what is prepared
    canvas = make_canvas(point_map, Frame(*prepared.image.size), settings.canvas)
    if point_map.matrix is not None:
        matrix = np.asarray(point_map.matrix, dtype=np.float64)
        warped = draw_affine(
            prepared.image, canvas, matrix, resample=settings.resample, fill=prepared.fill
        )
    else:
        warped = draw_remapped(
            prepared.image, canvas, point_map, resample=settings.resample, fill=prepared.fill
        )
    return prepared.finish(warped, negative=negative)
