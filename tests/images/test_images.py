"""Images: grey and colour, and the names of the package."""

import pytest
import torch

import fine.images
from fine.errors import FineError
from fine.images import Images


def colour(*rgb: int) -> Images:
    pixels = torch.tensor(rgb, dtype=torch.uint8).reshape(1, 3, 1, 1).expand(1, 3, 4, 4)
    return Images("test", pixels, torch.zeros(1, dtype=torch.int64), ("only",))


@pytest.mark.parametrize(
    ("rgb", "grey"),
    # ITU-R 601: 0.299 × 255 = 76.245, 0.587 × 255 = 149.685, 0.114 × 255 = 29.07
    [
        ((255, 0, 0), 76),
        ((0, 255, 0), 150),
        ((0, 0, 255), 29),
        ((255, 255, 255), 255),
        ((0, 0, 0), 0),
        ((9, 9, 9), 9),
    ],
)
def test_grey_is_itu_601_luminance(rgb: tuple[int, int, int], grey: int) -> None:
    pixels = colour(*rgb).with_channels(1).pixels
    assert pixels.shape == (1, 1, 4, 4)
    assert pixels.dtype == torch.uint8
    assert (pixels == grey).all()


def test_grey_to_colour_and_back_changes_nothing() -> None:
    every_grey = torch.arange(256, dtype=torch.uint8).reshape(1, 1, 16, 16)
    images = Images("test", every_grey, torch.zeros(1, dtype=torch.int64), ("only",))
    there = images.with_channels(3)
    assert there.pixels.shape == (1, 3, 16, 16)
    assert torch.equal(there.with_channels(1).pixels, every_grey)
    assert images.with_channels(1) is images


def test_other_channels_are_refused() -> None:
    with pytest.raises(FineError, match="cannot have 2 channels"):
        colour(1, 2, 3).with_channels(2)


def test_every_exported_name_exists() -> None:
    assert all(hasattr(fine.images, name) for name in fine.images.__all__)
