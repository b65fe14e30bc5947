"""Images at their own size, for rules that are found and drawn there."""

import numpy as np
import pytest
import torch
from PIL import Image, ImageDraw

from fine.errors import FineError
from fine.inference.full_images import LONGEST, example_pixels, open_image


def icon(colour: str, *, ground: str | None = None) -> Image.Image:
    """A bar on a transparent ground, or on a coloured one."""
    image = Image.new("RGBA", (60, 40), ground or (0, 0, 0, 0))
    ImageDraw.Draw(image).rectangle((10, 10, 50, 20), fill=colour)
    return image


@pytest.mark.parametrize("ground", ["white", "black"])
def test_a_transparent_image_lies_on_the_ground_of_the_other(ground):
    before, after = icon("grey"), icon("grey", ground=ground).convert("RGB")
    x, y = example_pixels(before, after)
    torch.testing.assert_close(x.expand_as(y), y)


def test_two_transparent_images_lie_on_one_paper():
    # By itself each would lie on the paper on which it shows better: black, and white.
    x, y = example_pixels(icon("#c0c0c0"), icon("#303030"))
    assert torch.equal(x[:, 0, 0], y[:, 0, 0])


def test_an_example_is_reduced_by_one_factor():
    before, after = Image.new("L", (2 * LONGEST, LONGEST)), Image.new("L", (LONGEST, LONGEST))
    x, y = example_pixels(before, after)
    assert x.shape == (1, LONGEST // 2, LONGEST)
    assert y.shape == (1, LONGEST // 2, LONGEST // 2)


def test_grey_and_colour_make_an_example():
    x, y = example_pixels(Image.new("L", (8, 6), 51), Image.new("RGB", (8, 6), (51, 51, 51)))
    torch.testing.assert_close(x, y)


@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.float32])
def test_an_array_is_an_image_of_its_size(kind):
    white = 1 if kind is np.float32 else np.iinfo(kind).max
    image = open_image(np.full((5, 9, 3), white, dtype=kind))
    assert image.size == (9, 5) and image.getpixel((0, 0)) == (255, 255, 255)


@pytest.mark.parametrize("source", [b"", b"no image", 3])
def test_what_is_no_image_is_one_line(source):
    with pytest.raises(FineError) as caught:
        open_image(source)
    assert "\n" not in str(caught.value)
