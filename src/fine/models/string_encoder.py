"""The encoder of strings: letters on a circle, in places counted from both ends.

FINE composes a linear map on the rows of an embedding, so embeddings should turn rules of strings
into linear maps:

- **Letters** lie on a circle: letter n is (cos, sin) of 2πfn/26 for a frequency f. A step in the
  alphabet rotates the circle, whatever the letter, even one never seen. That b comes after a is
  built in, not learned.
- **Places** are counted from the left and from the right, in two blocks of rows. Reversing a string
  of any length then swaps the blocks; dropping a letter moves one block up. What lies far from both
  ends is not seen.
- **Groups and order**: the first group of equal letters, the last group and the sorted letters have
  blocks of their own, because no linear map finds them.

Rows are places × blocks × frequencies × (cos, sin). Columns, if there are several, show the same
letters with different gains, learned, that depend on whether their neighbours are equal to them;
every rule does the same to each column.
"""

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from fine.errors import FineError
from fine.images.letters import ALPHABET
from fine.models.indexing import pick

FREQUENCIES = (3,)
"""How often the alphabet goes round each circle. 3 has no common factor with 26, so no two letters
meet, and letters one to six steps apart, as two rules may make them, lie well apart."""
BLOCKS = 5
"""From the left, from the right, the first group, the last group, sorted."""
PLACE = BLOCKS * 2 * len(FREQUENCIES)
"""Numbers of an embedding for one place."""


class StringEncoder(nn.Module):
    """Reads grids of letters × places, and learns a gain for every place of every block."""

    row_permutations = None
    circle: Tensor  # (letters, 2 × frequencies)

    def __init__(self, *, channels: int, size: int, embedding_size: int, columns: int):
        super().__init__()
        if channels != 1:
            raise FineError(
                f"the encoder of strings reads grids with 1 channel, not {channels}: choose "
                "another encoder"
            )
        self.columns, self.rows = columns, embedding_size // columns
        self.places = -(-self.rows // PLACE)
        if self.places > size:
            raise FineError(
                f"an embedding of {self.rows} rows has {self.places} places, and a string has "
                f"{size}: give a smaller embedding_size"
            )
        letters = torch.arange(min(size, len(ALPHABET)))[:, None]
        angles = 2 * math.pi / len(ALPHABET) * letters * torch.tensor(FREQUENCIES)
        circle = torch.stack((angles.cos(), angles.sin()), dim=2).flatten(1)
        self.register_buffer("circle", circle, persistent=False)
        self.gain = nn.Parameter(torch.ones(self.places, BLOCKS, len(FREQUENCIES)))
        # Gains of a letter beside no equal one, after one, before one, between two. The columns
        # start different.
        self.among = nn.Parameter(1 + 0.5 * torch.randn(4, columns)) if columns > 1 else None

    def forward(self, grids: Tensor) -> Tensor:  # (b, 1, size, size) -> (b, rows, columns)
        blocks = self._blocks(grids)
        numbers = _stack_places(blocks, self.places)  # (b, places, blocks)
        no_letter = torch.zeros_like(self.circle[:1])  # the middle of the circle
        circle = torch.cat((self.circle, no_letter))
        embedding = circle[numbers].unflatten(3, (len(FREQUENCIES), 2)) * self.gain[..., None]
        embedding = embedding[..., None]  # (b, places, blocks, frequencies, 2, columns)
        if self.among is not None:
            gains = [
                pick(self.among.T, _equal_neighbours(block)).movedim(0, -1) for block in blocks
            ]
            embedding = embedding * _stack_places(gains, self.places)[:, :, :, None, None]
        return embedding.flatten(1, 4)[:, : self.rows]

    def _blocks(self, grids: Tensor) -> list[Tensor]:  # (b, 1, size, size) -> five of (b, size)
        """The numbers of the letters in each block; one more than there are is no letter."""
        nothing = len(self.circle)
        brightness, letters = grids[:, 0, :nothing].max(dim=1)  # (b, size) twice
        there = brightness > 0.5
        from_left = torch.where(there, letters, nothing)
        places = torch.arange(grids.shape[3], device=grids.device)
        last = there.sum(1, keepdim=True) - 1
        mirrored = from_left.gather(1, (last - places).clamp(min=0))
        from_right = torch.where(places <= last, mirrored, nothing)
        ends = (from_left, from_right)
        groups = [torch.where(_in_first_group(block), block, nothing) for block in ends]
        return [*ends, *groups, from_left.sort(dim=1).values]


def _stack_places(blocks: list[Tensor], places: int) -> Tensor:  # (b, size, …) -> (b, places, n, …)
    """The first places of n blocks."""
    return torch.stack([block[:, :places] for block in blocks], dim=2)


def _equal_neighbours(numbers: Tensor) -> Tensor:  # (b, size), the same out
    """0 for a letter beside no equal one, 1 after one, 2 before one, 3 between two."""
    same = F.pad((numbers[:, 1:] == numbers[:, :-1]).long(), (1, 1))
    return same[:, :-1] + 2 * same[:, 1:]


def _in_first_group(numbers: Tensor) -> Tensor:  # (b, size), bool out
    """Whether all letters up to here are the same."""
    return (numbers == numbers[:, :1]).long().cumprod(dim=1).bool()


STRING_SETTINGS: dict[str, Any] = {
    "encoder": "strings",
    "standardise": "none",
    "symmetry": "none",
    "embedding_size": 50,
    "columns": 1,
    "slots": 16,
    "keys": "shared",
    "ridge": 0.01,
    "auxiliary_queries": 1,
}
"""Settings of `fine` for strings, chosen on held-back training strings (dev/log.md)."""
