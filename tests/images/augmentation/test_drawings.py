"""Drawings: what is drawn is where the image says, and the ground is empty."""

import numpy as np
import pytest
import torch

from fine.images.augmentation.chance import chances
from fine.images.augmentation.drawings import AREAS, draw
from fine.images.augmentation.filters import steepness

CPU = torch.device("cpu")


def drawn(images, bits, name):
    """The images that became this drawing, and the drawings."""
    shown = draw(images, chances(bits, CPU), [name])
    changed = (shown != images).flatten(1).any(1)
    assert 0.4 < changed.float().mean() < 0.6  # the others stay themselves
    return images[changed], shown[changed]


@pytest.mark.parametrize("name", AREAS)
def test_an_area_is_where_its_values_are_largest(photographs, bits, name):
    images, drawings = drawn(photographs, bits, name)
    ink, values = drawings > 0, AREAS[name].values(images)
    shares = ink.float().mean((1, 2, 3))
    span = AREAS[name].least, AREAS[name].most
    assert abs(shares.mean() - sum(span) / 2) < 0.03
    assert shares.min() > span[0] - 0.1 and shares.max() < span[1] + 0.1  # of a ninth of the pixels
    least = torch.where(ink, values, 9).flatten(1).amin(1)
    most = torch.where(ink, -9, values).flatten(1).amax(1)
    assert (least >= most).all()


def test_the_edges_of_a_square_are_its_outline(bits):
    square = torch.zeros(len(bits), 1, 32, 32)
    square[..., 8:24, 8:24] = 1
    _, drawings = drawn(square, bits, "edges")
    assert not drawings[..., 11:21, 11:21].any() and not drawings[..., :5, :].any()
    sides = drawings[..., 8:24, 6:10].amax(-1), drawings[..., 6:10, 8:24].amax(-2)
    assert all((side > 0).float().mean() > 0.8 for side in sides)


def test_dark_is_bright_in_the_negative(photographs, bits):
    numbers = chances(bits, CPU)
    numbers["bright"] = numbers["dark"]
    dark = draw(photographs, numbers, ["dark"])
    bright = draw(1 - photographs, numbers, ["bright"])
    changed = (dark != photographs).flatten(1).any(1)
    torch.testing.assert_close(dark[changed], bright[changed])


def test_strokes_have_nothing_to_do_with_the_image(photographs, bits):
    _, strokes = drawn(photographs, bits, "strokes")
    _, others = drawn(1 - photographs, bits, "strokes")
    assert torch.equal(strokes, others)
    ink = (strokes > 0.5).float().mean((1, 2, 3))
    assert 0.03 < ink.mean() < 0.25 and ink.max() < 0.5
    assert len({stroke.numpy().tobytes() for stroke in strokes}) == len(strokes)
    # They are lines: steep nearly everywhere they are.
    assert (steepness(strokes)[strokes > 0.5] > 0.05).float().mean() > 0.7


def test_every_drawing_is_as_frequent_as_the_image_itself(photographs, bits):
    images = photographs.repeat(10, 1, 1, 1)
    many = np.concatenate([bits + np.uint64(k) for k in range(10)])
    shown = draw(images, chances(many, CPU), ["bright", "dark", "strokes"])
    itself = (shown == images).flatten(1).all(1).float().mean()
    assert abs(itself - 0.25) < 4 * (0.25 * 0.75 / len(images)) ** 0.5


def test_drawings_have_no_colour(photographs, bits):
    colour = torch.cat((photographs, photographs.flip(0), 1 - photographs), dim=1)
    shown = draw(colour, chances(bits, CPU), ["edges", "bright", "dark", "strokes"])
    changed = (shown != colour).flatten(1).any(1)
    assert 0.7 < changed.float().mean() < 0.9
    for channel in (1, 2):
        assert torch.equal(shown[changed][:, 0], shown[changed][:, channel])
