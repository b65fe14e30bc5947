"""How the slots of a memory are stored: as whole matrices, or as factors that take fewer numbers.

    slots = make_slots("rank-4", 8, rows_out=64, rows_in=64, norm=1.0)
    slots()                                        # (8, 64, 64), each of them the product of a 64 × 4 and a 4 × 64 matrix

Whatever the form, a memory reads matrices: what differs is which matrices there can be, and how many numbers they take.
"""

import math
import re

import torch
from torch import Tensor, nn

from fine.errors import FineError

KRONECKER = "kronecker"
_RANK = re.compile(r"rank-([1-9][0-9]{0,4})")


class Factors(nn.Module):
    """Slots as products of two factors each: a tall and a flat matrix, or two small matrices as a Kronecker product."""

    def __init__(self, left: Tensor, right: Tensor, *, kronecker: bool):
        super().__init__()
        self.left, self.right, self.kronecker = nn.Parameter(left), nn.Parameter(right), kronecker

    def forward(self) -> Tensor:  # (slots, o, i)
        if not self.kronecker:
            return self.left @ self.right
        return torch.einsum("sab,scd->sacbd", self.left, self.right).flatten(3, 4).flatten(1, 2)


def make_slots(form: str, slots: int, *, rows_out: int, rows_in: int, norm: float) -> Factors:
    """Random slots in this form, each a matrix of this norm."""
    if form == KRONECKER:
        tall, wide = _middle(rows_out), _middle(rows_in)
        left, right = torch.randn(slots, tall, wide), torch.randn(slots, rows_out // tall, rows_in // wide)
        made = Factors(left, right, kronecker=True)
    else:
        rank = rank_of(form)
        if rank > min(rows_out, rows_in):
            raise FineError(f"{form} is more than the {rows_out} × {rows_in} numbers of a slot have: give a lower rank")
        made = Factors(torch.randn(slots, rows_out, rank), torch.randn(slots, rank, rows_in), kronecker=False)
    with torch.no_grad():
        scale = (norm / made().flatten(1).norm(dim=1)).sqrt()[:, None, None]  # half of it, as a factor, to each
        made.left.mul_(scale)
        made.right.mul_(scale)
    return made


def rank_of(form: str) -> int:
    """The 4 of rank-4."""
    found = _RANK.fullmatch(form)
    if found is None:
        raise FineError(f"unknown form of slots '{form}': give rank-1, rank-2, …, kronecker, or nothing for whole matrices")
    return int(found[1])


def _middle(rows: int) -> int:
    """The divisor of a number of rows nearest below its root: 4 for 16, 8 for 64."""
    return next(divisor for divisor in range(math.isqrt(rows), 0, -1) if rows % divisor == 0)
