"""The functional memory: from an example pair to the weights of a layer, by analogy and indirection.

Codes are matrices (b, rows, columns): x (b, i, c), y (b, o, c). With one column this is the paper's memory to the letter.
"""

import math

import torch
from torch import Tensor, nn

from fine.errors import FineError, unknown

QUERIES = ("solve", "iterate")
_TINY = 1e-8  # keeps the Gram matrix of an all-zero code invertible; its pseudo-inverse is then zero, as it should be


def pseudo_inverse(x: Tensor, *, ridge: float = 0.0, method: str = "solve", iterations: int = 30) -> Tensor:
    """x⁺ = (xᵀx + λI)⁻¹ xᵀ, (b, i, c) -> (b, c, i), where λ is ``ridge`` times the mean diagonal of xᵀx.

    ``solve`` is exact; ``iterate`` is Ben-Israel and Cohen's V ← V(2I − xV) from V₀ = αxᵀ. Every V of that iteration is P xᵀ
    with P a small c × c matrix, so P is what is iterated. Where x has more columns than rows the same is done from the other
    side. Both carry gradients.
    """
    if x.shape[-1] > x.shape[-2]:
        return pseudo_inverse(x.mT, ridge=ridge, method=method, iterations=iterations).mT
    gram = x.mT @ x  # (b, c, c)
    diagonal = gram.diagonal(dim1=-2, dim2=-1)
    one = torch.eye(gram.shape[-1], dtype=x.dtype, device=x.device)
    gram = gram + (ridge * diagonal.mean(-1) + _TINY)[..., None, None] * one
    if method == "solve":
        if gram.shape[-1] == 1:
            return x.mT / gram
        return torch.cholesky_solve(x.mT, torch.linalg.cholesky(gram))
    if method != "iterate":
        raise unknown("pseudo-inverse", method, QUERIES)
    # Any 0 < α < 2 / largest eigenvalue converges; the largest row sum bounds that eigenvalue.
    inverse = one / gram.abs().sum(-1).amax(-1)[..., None, None]
    for _ in range(iterations):
        inverse = inverse @ (2 * one - gram @ inverse)
    return inverse @ x.mT


class FunctionalMemory(nn.Module):
    """Slots of (value, key) matrices: a query matched against values selects a mix of keys (Eqs. 1-2).

    With 0 slots there is nothing to compare with, and the query itself is the weight.
    """

    def __init__(
        self, rows_in: int, rows_out: int, *, slots: int, ridge: float = 0.0, method: str = "solve", tied: bool = False
    ):
        super().__init__()
        if slots < 0:
            raise FineError(f"a memory cannot have {slots} slots: give 0 or more")
        if method not in QUERIES:
            raise unknown("pseudo-inverse", method, QUERIES)
        self.ridge, self.method = ridge, method
        self.scale = math.sqrt(rows_in * rows_out)
        if slots:
            values = spread_out(slots, rows_out, rows_in)
            keys = values if tied else spread_out(slots, rows_out, rows_in)
            # Together these norms undo the scale of Eq. 1: a tied, untrained memory projects the query onto its slots.
            self.values = nn.Parameter(values * math.sqrt(self.scale))
            self.keys = nn.Parameter(keys * math.sqrt(self.scale))
        self.slots = slots

    def query(self, x: Tensor, y: Tensor) -> Tensor:  # (b, i, c), (b, o, c) -> (b, o, i)
        """The linear map that best explains y from x, over all columns: W^q = y x⁺."""
        return y @ pseudo_inverse(x, ridge=self.ridge, method=self.method)

    def similarity(self, query: Tensor) -> Tensor:  # (b, o, i) -> (b, s)
        """How much the query is like each value, without softmax (Eq. 1)."""
        return query.flatten(1) @ self.values.flatten(1).T / self.scale

    def forward(self, x: Tensor, y: Tensor) -> Tensor:  # (b, i, c), (b, o, c) -> (b, o, i)
        query = self.query(x, y)
        if not self.slots:
            return query
        return (self.similarity(query) @ self.keys.flatten(1)).view_as(query)  # Eq. 2


def spread_out(slots: int, rows_out: int, rows_in: int) -> Tensor:
    """Random matrices of norm 1, at right angles to each other as far as there is room for it."""
    return nn.init.orthogonal_(torch.empty(slots, rows_out * rows_in)).view(slots, rows_out, rows_in)
