"""The whole augmentation: addressed by bits, independent of the batch, and never nothing to see."""

import numpy as np
import pytest
import torch

from fine.images.augmentation import PARTS, ImageAugmentation
from fine.images.glyphs import draw
from fine.randomness import random_bits

EACH = [(part,) for part in PARTS]


@pytest.fixture(scope="module")
def colour(photographs):
    return torch.cat((photographs, photographs.flip(0), 1 - photographs), dim=1)


def test_without_parts_and_with_turns_alone_nothing_is_to_be_done():
    assert not ImageAugmentation(()) and not ImageAugmentation(("turns",))
    assert ImageAugmentation(("mask",)) and ImageAugmentation(("turns", "edges"))


@pytest.mark.parametrize("parts", [*EACH[:-1], PARTS], ids="+".join)
def test_images_change_within_their_range(photographs, colour, bits, parts):
    for images in (photographs, colour):
        before = images.clone()
        shown = ImageAugmentation(parts)(images, bits)
        assert torch.equal(images, before)  # what was given is not written into
        assert shown.shape == images.shape and shown.dtype == images.dtype
        assert shown.min() >= 0 and shown.max() <= 1
        assert (shown != images).any() or (parts == ("colours",) and images.shape[1] == 1)


@pytest.mark.parametrize("parts", [*EACH[:-1], PARTS], ids="+".join)
def test_an_image_becomes_the_same_in_any_batch(colour, bits, parts):
    augment = ImageAugmentation(parts)
    whole = augment(colour, bits)
    backwards = augment(colour.flip(0), bits[::-1])
    torch.testing.assert_close(backwards.flip(0), whole, rtol=0, atol=1e-5)
    few = [augment(colour[at : at + 1], bits[at : at + 1]) for at in range(8)]
    torch.testing.assert_close(torch.cat(few), whole[:8], rtol=0, atol=1e-5)
    assert torch.equal(augment(colour, bits), whole)


def test_other_bits_make_another_image(photographs, bits):
    augment = ImageAugmentation(("edges", "mask", "frame", "contrast"))
    one, other = augment(photographs, bits), augment(photographs, bits + np.uint64(1))
    assert (one != other).flatten(1).any(1).float().mean() > 0.9


def test_a_part_does_the_same_whatever_else_is_on(photographs, bits):
    framed = ImageAugmentation(("frame",))(photographs, bits) == 0
    both = ImageAugmentation(("frame", "contrast"))(photographs, bits) == 0
    assert torch.equal(framed, both) and framed.any()


def test_enough_is_left_of_a_thin_drawing(bits):
    glyphs = draw(np.arange(60), np.zeros(60, dtype=np.int64)).repeat(4, 1, 1, 1) / 255
    shown = ImageAugmentation(("bright", "dark", "mask", "frame"))(glyphs, bits)
    assert (shown != glyphs).flatten(1).any(1).float().mean() > 0.4
    left = shown.flatten(1).var(1) / glyphs.flatten(1).var(1)
    assert left.min() > 0.25 - 1e-3
    # The dark parts of a bright drawing are nothing, so that drawing stays itself.
    dark = ImageAugmentation(("dark",))(glyphs, bits)
    assert torch.equal(dark, glyphs)


def test_an_empty_image_stays_finite(bits):
    for value in (0.0, 1.0):
        flat = torch.full((len(bits), 1, 32, 32), value)
        shown = ImageAugmentation(PARTS)(flat, bits)
        assert torch.isfinite(shown).all() and shown.min() >= 0 and shown.max() <= 1


@pytest.mark.parametrize("size", [28, 32, 64])
def test_any_size_will_do(size):
    images = torch.rand(30, 1, size, size, generator=torch.Generator().manual_seed(0))
    shown = ImageAugmentation(PARTS)(images, random_bits(np.arange(30)))
    assert shown.shape == images.shape


def test_no_images_are_no_trouble():
    shown = ImageAugmentation(PARTS)(torch.empty(0, 1, 32, 32), np.empty(0, dtype=np.uint64))
    assert shown.shape == (0, 1, 32, 32)


@pytest.mark.slow
def test_it_runs_where_the_images_are(photographs, bits):
    """On `meta`, a tensor that is made elsewhere would be refused."""
    images = photographs.to("meta")
    assert ImageAugmentation(PARTS)(images, bits).device.type == "meta"
