"""Changes: each does what it says to its share of the images, and nothing to the others."""

import pytest
import torch

from fine.images.augmentation import changes
from fine.images.augmentation.chance import chances
from fine.images.augmentation.parts import CHANGES

CPU = torch.device("cpu")
SHARES = {
    "invert": changes.INVERTED,
    "thick": changes.THICKENED,
    "mask": changes.MASKED,
    "frame": changes.FRAMED,
    "colours": changes.COLOURED,
    "contrast": changes.BENT,
}


def changed(images, bits, name):
    """The images that a change happened to, before and after."""
    chance = chances(bits, CPU)[name]
    after = getattr(changes, name)(images, chance)
    happened = torch.from_numpy(chance.happens(SHARES[name]))
    assert torch.equal(after[~happened], images[~happened])  # bit for bit
    assert after.shape == images.shape and after.min() >= 0 and after.max() <= 1
    return images[happened], after[happened]


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_happens_to_its_share(photographs, bits, name):
    before, after = changed(photographs.expand(-1, 3, -1, -1).contiguous(), bits, name)
    share, count = SHARES[name], len(bits)
    assert abs(len(before) / count - share) < 4 * (share * (1 - share) / count) ** 0.5
    assert (before != after).flatten(1).any(1).float().mean() > 0.9


@pytest.mark.parametrize("name", [name for name in CHANGES if name != "invert"])
def test_an_empty_ground_stays_empty(photographs, bits, name):
    drawing = photographs * (photographs > 0.6)
    before, after = changed(drawing, bits, name)
    if name == "thick":  # strokes grow by no more than a pixel
        near = torch.nn.functional.max_pool2d(before, 3, 1, 1)
        assert not after[near == 0].any()
    else:
        assert not after[before == 0].any()


@pytest.mark.parametrize("name", [name for name in CHANGES if name != "colours"])
def test_channels_are_changed_together(photographs, bits, name):
    grey = changed(photographs, bits, name)[1]
    colour = changed(photographs.expand(-1, 3, -1, -1).contiguous(), bits, name)[1]
    assert torch.equal(colour, grey.expand(-1, 3, -1, -1))


def test_inverting_twice_changes_nothing(photographs, bits):
    before, after = changed(photographs, bits, "invert")
    torch.testing.assert_close(1 - after, before)


def test_thick_lies_between_an_image_and_the_brightest_neighbour(photographs, bits):
    before, after = changed(photographs, bits, "thick")
    most = torch.nn.functional.max_pool2d(before, 3, 1, 1)
    assert (after >= before).all() and (after <= most + 1e-6).all()


def test_a_mask_hides_a_smooth_part(photographs, bits):
    before, after = changed(photographs, bits, "mask")
    kept = after / before
    hidden = (kept == 0).float().mean((1, 2, 3))
    assert 0.2 < hidden.mean() < 0.6 and hidden.max() < 1
    # What is neither hidden nor shown is a thin seam.
    assert ((kept > 0.05) & (kept < 0.95)).float().mean() < 0.2


def test_a_frame_is_empty_and_what_it_holds_is_not(photographs, bits):
    before, after = changed(photographs, bits, "frame")
    widths = set()
    for image, framed in zip(before, after, strict=True):
        width = int((framed[0].amax(0) == 0).sum()) // 2
        inner = (..., slice(width, 32 - width), slice(width, 32 - width))
        assert torch.equal(framed[inner], image[inner])
        outside = framed.clone()
        outside[inner] = 0
        assert not outside.any()
        widths.add(width)
    assert widths == {2, 3, 4, 5, 6}


def test_a_coloured_glass_is_the_same_all_over_an_image(photographs, bits):
    before, after = changed(photographs.expand(-1, 3, -1, -1).contiguous(), bits, "colours")
    glass = (after / before).flatten(2)
    assert glass.std(2).max() < 1e-5 and glass.min() >= changes.TINT - 1e-6
    assert len(glass[:, :, 0].unique()) == glass[:, :, 0].numel()  # a colour of its own for each


def test_grey_images_have_no_colour_to_change(photographs, bits):
    chance = chances(bits, CPU)["colours"]
    assert torch.equal(changes.colours(photographs, chance), photographs)


def test_contrast_keeps_the_order_of_brightness(photographs, bits):
    before, after = changed(photographs, bits, "contrast")
    order = before.flatten(1).argsort(1)
    ordered = after.flatten(1).gather(1, order)
    assert (ordered.diff(dim=1) >= -1e-6).all()
    white = changed(torch.ones_like(photographs), bits, "contrast")[1][:, 0, 0, 0]
    assert white.min() >= changes.GAIN - 1e-6 and len(white.unique()) == len(white)
