"""What groups of slots leave of a pair, by which it is known to which of them the pair belongs.

    misfits = Misfits(3, rows=16, columns=16)
    misfits.learn(2, left)                     # from pairs of its own rule: what group 2 leaves of them, (n, rows, columns)
    misfits.likelihood(left)                   # (b, groups, rows, columns) -> (b, groups)

How much is left does not tell: slots that have learnt rotations make a fair translation, too. But what a group leaves of its
own pairs has a shape of its own. So each keeps the mean of that, and how it varies from row to row and from column to column: a
normal distribution over matrices.
"""

import torch
from torch import Tensor, nn

_ROUNDS = 5  # of finding the one spread with the other as it is
_FLOOR = 1e-3  # of the mean variance, for directions in which nothing is ever left
_TINY = 1e-8


class Misfits(nn.Module):
    """A normal distribution for each group; before it has learnt any, what is most likely is to leave least."""

    mean: Tensor
    row_spread: Tensor
    column_spread: Tensor

    def __init__(self, groups: int, *, rows: int, columns: int):
        super().__init__()
        self.register_buffer("mean", torch.zeros(groups, rows, columns))
        self.register_buffer("row_spread", torch.eye(rows).repeat(groups, 1, 1))
        self.register_buffer("column_spread", torch.eye(columns).repeat(groups, 1, 1))

    def likelihood(self, left: Tensor) -> Tensor:  # (b, groups, rows, columns × hints) -> (b, groups), up to a constant
        """The logarithm of how likely each group is to leave this of a pair, or of several hints together."""
        # Not `cholesky`, which would stop at the numbers of a damaged file: those give likelihoods that say nothing.
        rows, columns = (torch.linalg.cholesky_ex(spread).L for spread in (self.row_spread, self.column_spread))
        left = left.unflatten(-1, (-1, columns.shape[-1])).movedim(-2, 0) - self.mean  # (hints, b, groups, rows, columns)
        even = torch.linalg.solve_triangular(rows, left, upper=False)
        even = torch.linalg.solve_triangular(columns.mT, even, upper=True, left=False)
        volume = sum(
            factor.diagonal(dim1=-2, dim2=-1).log().sum(-1) * other.shape[-1]
            for factor, other in ((rows, columns), (columns, rows))
        )
        return (-even.square().sum((-2, -1)) / 2 - volume).sum(0)

    @torch.no_grad()
    def learn(self, group: int, left: Tensor) -> None:
        """Take this, (n, rows, columns), to be what the group leaves of its own pairs."""
        exact = left.double()
        mean = exact.mean(0)
        rest = exact - mean
        rows, columns = (torch.eye(size, dtype=rest.dtype, device=rest.device) for size in mean.shape)
        for _ in range(_ROUNDS):
            rows = _firm(torch.einsum("nij,nkj->ik", rest @ columns.inverse(), rest) / (len(rest) * len(columns)))
            columns = _firm(torch.einsum("nij,nik->jk", rows.inverse() @ rest, rest) / (len(rest) * len(rows)))
        self.mean[group], self.row_spread[group], self.column_spread[group] = mean, rows, columns


def _firm(spread: Tensor) -> Tensor:
    """With some variance in every direction."""
    least = _FLOOR * spread.diagonal().mean() + _TINY
    return spread + least * torch.eye(len(spread), dtype=spread.dtype, device=spread.device)
