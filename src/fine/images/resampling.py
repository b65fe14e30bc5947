"""Smaller pictures by exact area averaging: every output pixel is the mean of the part of the picture it covers."""

import torch
from torch import Tensor


def shrink(pixels: Tensor, size: int) -> Tensor:  # uint8 (n, channels, h, w) -> uint8 (n, channels, size, size)
    """Resample to ``size`` × ``size``. Nothing aliases, and a picture keeps its mean brightness (up to rounding).

    The sums are of whole numbers below 2²⁴, which float32 holds exactly, so the bytes are the same on every machine.
    """
    height, width = pixels.shape[-2:]
    if (height, width) == (size, size):
        return pixels
    assert 255 * height * width < 2**24
    rows, columns = _coverage(height, size), _coverage(width, size)
    sums = ((part.to(torch.float32) @ columns.T).mT @ rows.T for part in torch.split(pixels, 1024))  # (…, column, row)
    return torch.cat([(part.mT / (height * width)).round().to(torch.uint8) for part in sums]).contiguous()


def _coverage(before: int, after: int) -> Tensor:  # (after, before)
    """How much of each old pixel lies in each new one along one axis, in 1/after of a pixel; rows sum to before."""
    edges = torch.arange(after + 1) * before
    old = torch.arange(before) * after
    overlap = torch.minimum(edges[1:, None], old + after) - torch.maximum(edges[:-1, None], old)
    return overlap.clamp(min=0).to(torch.float32)
