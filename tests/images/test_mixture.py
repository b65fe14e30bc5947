"""Several sources as one."""

import pytest
import torch

from fine.errors import FineError
from fine.images import Images, load_images
from fine.images.mixture import mix


def source(
    name: str, classes: tuple[str, ...], *, channels: int = 1, brightness: int = 0
) -> Images:
    pixels = torch.full((2 * len(classes), channels, 8, 8), brightness, dtype=torch.uint8)
    return Images(name, pixels, torch.arange(len(classes)).repeat_interleave(2), classes)


def test_a_mixture_has_all_images_and_a_class_of_two_sources_once():
    mixed = mix([source("a", ("apple", "bear")), source("b", ("cat", "apple"), brightness=9)])
    assert mixed.name == "a+b"
    assert mixed.class_names == ("apple", "bear", "cat")
    assert mixed.labels.tolist() == [0, 0, 1, 1, 2, 2, 0, 0]
    assert mixed.sources is not None and mixed.sources.tolist() == [0] * 4 + [1] * 4
    assert mixed.pixels[:, 0, 0, 0].tolist() == [0] * 4 + [9] * 4


def test_a_mixture_is_in_colour_if_one_source_is():
    mixed = mix([source("a", ("apple",)), source("b", ("cat",), channels=3)])
    assert mixed.pixels.shape == (4, 3, 8, 8)
    assert mixed.with_channels(1).sources is mixed.sources


def test_a_source_twice_is_one_line():
    with pytest.raises(FineError, match=r"'glyphs\+glyphs' has glyphs twice: name every source"):
        load_images("glyphs+glyphs")


def test_an_unknown_part_is_named():
    with pytest.raises(FineError, match="'nothing'"):
        load_images("glyphs+nothing")
