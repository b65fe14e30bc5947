"""Smaller images: exact area averaging."""

import numpy as np
import pytest
import torch

from fine.images.resampling import shrink


@pytest.mark.parametrize(("before", "after"), [(105, 32), (105, 28), (32, 28), (64, 32)])
def test_shrinking_agrees_with_averaging_an_enlarged_image(before: int, after: int) -> None:
    """A slow, exact reference: enlarged ``after`` times, new pixels are blocks of ``before``²."""
    image = np.random.default_rng(0).integers(0, 256, (before, before)).astype(np.int64)
    blocks = image.repeat(after, 0).repeat(after, 1).reshape(after, before, after, before)
    exact = np.rint(blocks.sum(axis=(1, 3)) / before**2)
    shrunk = shrink(torch.from_numpy(image.astype(np.uint8))[None, None], after)
    assert shrunk.is_contiguous()
    assert np.array_equal(shrunk[0, 0].numpy(), exact)


def test_shrinking_keeps_a_flat_image_flat() -> None:
    assert (shrink(torch.full((2, 3, 105, 105), 201, dtype=torch.uint8), 32) == 201).all()
