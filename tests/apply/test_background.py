"""The background is that of the example."""

import numpy as np
import pytest
from PIL import Image

from fine.apply import Settings, apply_map, uncovered_background
from support.point_maps import MIRROR, rotation, translation


@pytest.mark.parametrize("background", ["#ffffff", "#000000", "#2040ff", "transparent"])
def test_it_is_the_colour_of_what_was_uncovered(background):
    noise = np.random.default_rng(0).integers(256, size=(90, 120, 3), dtype=np.uint8)
    before = Image.fromarray(noise)
    for point_map in (rotation(20), translation(0.2, 0.1)):
        after = apply_map(before, point_map, Settings(background=background))
        assert uncovered_background(before, after, point_map) == background


def test_where_nothing_is_uncovered_it_is_not_known():
    noise = np.random.default_rng(0).integers(256, size=(90, 120, 3), dtype=np.uint8)
    before = Image.fromarray(noise)
    assert uncovered_background(before, apply_map(before, MIRROR), MIRROR) == ""
    assert uncovered_background(before, before, rotation(20)) == ""  # many colours


def test_that_of_16_bits_is_scaled_and_not_clipped():
    noise = np.random.default_rng(0).integers(65536, size=(90, 120), dtype=np.uint16)
    before = Image.fromarray(noise)
    after = apply_map(before, rotation(20), Settings(background="#4e4e4e"))
    assert uncovered_background(before, after, rotation(20)) == "#4e4e4e"
