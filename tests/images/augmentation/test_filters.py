"""Slopes, thresholds and smooth fields, against what they are defined by."""

import pytest
import torch
import torch.nn.functional as F

from fine.images.augmentation.filters import KNOTS, brightest, smooth_fields, steepness


@pytest.mark.parametrize("size", [32, 28])
def test_the_steepness_of_a_ramp_is_its_slope(size):
    ticks = torch.arange(size) / size
    across = ticks.expand(1, 1, size, size)
    inner = (..., slice(1, -2), slice(1, -2))
    for ramp, slope in ((across, 1), (across.mT, 1), (3 * across + 4 * across.mT, 5)):
        steep = steepness(ramp.contiguous())
        torch.testing.assert_close(steep[inner], torch.full_like(steep[inner], slope / size))
        steep[inner] = 0
        assert not steep.any()  # the border


def test_steepness_is_that_of_sobel_on_a_blurred_image(photographs):
    smooth = torch.tensor([1.0, 3.0, 3.0, 1.0]) / 8  # [1 2 1] twice, halfway between pixels
    slope = torch.tensor([-1.0, -1.0, 1.0, 1.0]) / 4
    across = F.conv2d(photographs, torch.outer(smooth, slope)[None, None])
    down = F.conv2d(photographs, torch.outer(slope, smooth)[None, None])
    expected = (across**2 + down**2).sqrt()
    torch.testing.assert_close(steepness(photographs)[..., 1:-2, 1:-2], expected)


@pytest.mark.parametrize("share", [0.06, 0.2, 0.4])
def test_a_threshold_keeps_about_the_share_that_is_asked_for(photographs, share):
    shares = torch.full((len(photographs), 1, 1, 1), share)
    kept = brightest(photographs, shares, most=0.4)
    assert kept.min() == 0 and kept.max() == 1
    assert abs((kept > 0).float().mean() - share) < 0.02
    # No pixel that is kept is darker than one that is not.
    least = torch.where(kept > 0, photographs, 1).flatten(1).amin(1)
    most = torch.where(kept > 0, 0, photographs).flatten(1).amax(1)
    assert (least >= most).all()


def test_nothing_is_brightest_in_a_flat_image():
    assert not brightest(torch.full((1, 1, 32, 32), 0.7), torch.zeros(1, 1, 1, 1), most=0.4).any()


def test_fields_are_smooth_and_of_unit_variance():
    noise = 2 * torch.rand(2000, KNOTS**2, generator=torch.Generator().manual_seed(0)) - 1
    fields = smooth_fields(noise, 32)
    assert fields.shape == (2000, 1, 32, 32)
    assert abs(fields.mean()) < 0.02 and abs(fields.var() - 1) < 0.05
    step = (fields[..., 1:] - fields[..., :-1]).square().mean().sqrt()
    assert step < 0.25  # independent pixels would have √2
    flat = smooth_fields(torch.ones(1, KNOTS**2), 28)  # splines add up to the same everywhere
    torch.testing.assert_close(flat, flat[..., :1, :1].expand_as(flat))
