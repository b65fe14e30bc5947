"""The encoder of strings: letters on a circle, in places counted from both ends.

FINE composes a linear map on the rows of a code, so a code should make of the rules linear maps:

- **Letters** lie on a circle: letter n is (cos, sin) of 2πfn/26 for a frequency f. A step in the alphabet turns the circle,
  whichever letter it is, also one never seen. That after a comes b is built in, not learned.
- **Places** are counted from the left and from the right, in two blocks of rows. To reverse is then to swap the blocks, at any
  length; to drop a letter is to move one block up. What lies far from both ends is not seen.
- **Groups and order**: the first group, the last group and the letters sorted have blocks of their own, for no linear map
  finds them.

Rows are places × blocks × frequencies × (cos, sin). Columns, if there are several, show the same letters louder or softer by
how they sit among their neighbours, which is learned; every rule does the same to each.
"""

import math

import torch
from torch import Tensor, nn

from fine.errors import FineError
from fine.strings.alphabet import ALPHABET

FREQUENCIES = (3,)
"""Turns round the circle that the alphabet makes, a circle each. 3 has no common factor with 26, so no two letters meet,
and letters that are one to six steps apart, as two rules may make them, lie well apart."""
BLOCKS = 5
"""From the left, from the right, the first group, the last group, sorted."""
PLACE = BLOCKS * 2 * len(FREQUENCIES)
"""Numbers of a code for one place."""


class StringEncoder(nn.Module):
    """Reads grids of letters × places; what is learned is how loud every place of every block is."""

    row_moves = None
    circle: Tensor

    def __init__(self, *, channels: int, size: int, code: int, columns: int):
        super().__init__()
        if channels != 1:
            raise FineError(f"the encoder of strings reads grids with 1 channel, not {channels}: choose another encoder")
        self.columns, self.rows = columns, code // columns
        self.places = -(-self.rows // PLACE)
        if self.places > size:
            raise FineError(
                f"a code of {self.rows} rows has {self.places} places, and a string has {size}: give a smaller code"
            )
        angles = 2 * math.pi / len(ALPHABET) * torch.arange(min(size, len(ALPHABET)))[:, None] * torch.tensor(FREQUENCIES)
        circle = torch.stack((angles.cos(), angles.sin()), dim=2).flatten(1)
        self.register_buffer("circle", circle, persistent=False)  # (letters, 2 × frequencies)
        self.gain = nn.Parameter(torch.ones(self.places, BLOCKS, len(FREQUENCIES)))
        # Of a letter beside no equal one, after one, before one, between two; the columns start different.
        self.among = nn.Parameter(1 + 0.5 * torch.randn(4, columns)) if columns > 1 else None

    def forward(self, grids: Tensor) -> Tensor:  # (b, 1, size, size) -> (b, rows, columns)
        ink = grids[:, 0, : len(self.circle)]
        bright, letters = ink.max(dim=1)  # (b, places) twice
        there = bright > 0.5
        places = torch.arange(ink.shape[2], device=grids.device)
        last = there.sum(1, keepdim=True) - 1
        backwards = (last - places).clamp(min=0)
        numbers = torch.where(there, letters, len(self.circle))
        from_right = torch.where(places <= last, numbers.gather(1, backwards), len(self.circle))
        groups = [torch.where(_in_first_group(block), block, len(self.circle)) for block in (numbers, from_right)]
        blocks = (numbers, from_right, *groups, numbers.sort(dim=1).values)
        shown = torch.stack([block[:, : self.places] for block in blocks], dim=2)  # (b, places, blocks)
        circle = torch.cat((self.circle, torch.zeros_like(self.circle[:1])))  # no letter is the middle of the circle
        code = circle[shown].unflatten(3, (len(FREQUENCIES), 2)) * self.gain[..., None]
        code = code[..., None]  # (b, places, blocks, frequencies, 2, columns)
        if self.among is not None:
            loudness = torch.stack([self._among(block)[:, : self.places] for block in blocks], dim=2)
            code = code * loudness[:, :, :, None, None]
        return code.flatten(1, 4)[:, : self.rows]

    def _among(self, numbers: Tensor) -> Tensor:  # (b, places) -> (b, places, columns)
        assert self.among is not None
        same = torch.nn.functional.pad((numbers[:, 1:] == numbers[:, :-1]).long(), (1, 1))
        return self.among[same[:, :-1] + 2 * same[:, 1:]]


def _in_first_group(numbers: Tensor) -> Tensor:  # (b, places), bool out
    """Whether all letters up to here are the same."""
    return (numbers == numbers[:, :1]).long().cumprod(dim=1).bool()
