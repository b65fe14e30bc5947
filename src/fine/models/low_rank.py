"""Slots stored as products of smaller matrices, which take fewer numbers.

    slots = make_factors("rank-4", 8, rows_out=64, rows_in=64, norm=1.0)
    slots()                          # (8, 64, 64), each the product of a 64 × 4 and a 4 × 64 matrix

A memory reads matrices, however they are stored. The form decides which matrices are possible.
"""

import math
import re

import torch
from torch import Tensor, nn

from fine.errors import FineError

KRONECKER = "kronecker"
_RANK = re.compile(r"rank-([1-9][0-9]{0,4})")


class Factors(nn.Module):
    """Slots as matrix products of a tall and a wide matrix, or Kronecker products of two small."""

    def __init__(self, left: Tensor, right: Tensor, *, kronecker: bool):
        super().__init__()
        self.left, self.right, self.kronecker = nn.Parameter(left), nn.Parameter(right), kronecker

    def forward(self) -> Tensor:  # (slots, o, i)
        if not self.kronecker:
            return self.left @ self.right
        return torch.einsum("sab,scd->sacbd", self.left, self.right).flatten(3, 4).flatten(1, 2)


def make_factors(form: str, slots: int, *, rows_out: int, rows_in: int, norm: float) -> Factors:
    """Random slots of this form, each a matrix of this norm."""
    if form == KRONECKER:
        o, i = _divisor_near_root(rows_out), _divisor_near_root(rows_in)
        left, right = torch.randn(slots, o, i), torch.randn(slots, rows_out // o, rows_in // i)
    else:
        rank = _rank_of(form)
        if rank > min(rows_out, rows_in):
            raise FineError(
                f"{form} is above the largest rank of slots of {rows_out} × {rows_in} numbers: "
                "give a lower rank"
            )
        left, right = torch.randn(slots, rows_out, rank), torch.randn(slots, rank, rows_in)
    factors = Factors(left, right, kronecker=form == KRONECKER)
    with torch.no_grad():
        scale = norm / factors().flatten(1).norm(dim=1)
        share = scale.sqrt()[:, None, None]  # for each of the two factors
        factors.left.mul_(share)
        factors.right.mul_(share)
    return factors


def _rank_of(form: str) -> int:
    """The 4 of rank-4."""
    found = _RANK.fullmatch(form)
    if found is None:
        raise FineError(
            f"unknown form of slots '{form}': give rank-1, rank-2, …, kronecker, or nothing for "
            "whole matrices"
        )
    return int(found[1])


def _divisor_near_root(rows: int) -> int:
    """The largest divisor up to the root: 4 for 16, 8 for 64."""
    return next(divisor for divisor in range(math.isqrt(rows), 0, -1) if rows % divisor == 0)
