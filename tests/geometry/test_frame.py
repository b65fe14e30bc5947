"""Frames of any shape: points are centred and isotropic, and maps of pixels undo them."""

import numpy as np
import pytest

from fine.geometry.frame import frame_points, pixel_maps, unit_of


def test_the_longer_side_spans_two_units_and_the_centre_is_the_origin():
    points = frame_points(40, 60, unit=unit_of((40, 60)))
    assert points.shape == (40, 60, 2)
    assert points.mean((0, 1)) == pytest.approx([0, 0])
    assert points[0, 0] == pytest.approx([-1 + 1 / 60, -2 / 3 + 1 / 60])


def test_points_of_an_image_are_its_own_pixels():
    columns, rows = pixel_maps(frame_points(3, 5, unit=unit_of((3, 5))), (3, 5))
    assert columns.dtype == rows.dtype == np.float32
    assert columns == pytest.approx(np.tile(np.arange(5), (3, 1)), abs=1e-6)
    assert rows == pytest.approx(np.tile(np.arange(3)[:, None], (1, 5)), abs=1e-6)
