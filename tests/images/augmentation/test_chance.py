"""Random numbers of images: each image has its own, and each use its own."""

import numpy as np
import torch

from fine.images.augmentation.chance import chances
from fine.images.augmentation.parts import CHANGES, DRAWINGS

CPU = torch.device("cpu")


def test_an_image_has_its_numbers_in_any_batch(bits):
    whole, part = chances(bits, CPU), chances(bits[[7, 3]], CPU)
    for use in whole:
        assert np.array_equal(part[use].uniform(0, 1), whole[use].uniform(0, 1)[[7, 3]])
        assert torch.equal(part[use].noise(5), whole[use].noise(5)[[7, 3]])
        assert torch.equal(whole[use][np.array([7, 3])].noise(5), part[use].noise(5))


def test_no_two_uses_share_a_number(bits):
    own = chances(bits, CPU)
    assert {*DRAWINGS, *CHANGES} < set(own)
    numbers = np.concatenate([chance.numbers.ravel() for chance in own.values()])
    assert len(np.unique(numbers)) == len(numbers)
    noise = torch.cat([chance.noise(9).flatten() for chance in own.values()])
    assert len(noise.unique()) > 0.999 * len(noise)  # float32 has fewer numbers


def test_shares_and_choices_are_those_asked_for(bits):
    chance = chances(np.arange(10_000, dtype=np.uint64), CPU)["mask"]
    spread = 4 * (0.25 * 0.75 / 10_000) ** 0.5  # four standard deviations
    assert abs(chance.happens(0.25).mean() - 0.25) < spread
    counts = np.bincount(chance.choice(4)) / 10_000
    assert len(counts) == 4 and (abs(counts - 0.25) < spread).all()
    assert not chance.happens(0).any() and chance.happens(1).all()
    numbers = chance.uniform(2, 5)
    assert numbers.min() >= 2 and numbers.max() < 5
