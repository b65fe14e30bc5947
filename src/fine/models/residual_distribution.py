"""How groups of slots are told apart: by the distribution of each group's residuals.

    distribution = ResidualDistribution(3, rows=16, columns=16)
    distribution.learn(2, residuals)           # of pairs of group 2's own rules, (n, rows, columns)
    distribution.log_likelihood(residuals)     # (b, groups, rows, columns) -> (b, groups)

The size of a residual does not tell: slots that have learned rotations fit translations fairly
well, too. But the residuals of a group's own pairs have a shape of their own. So each group keeps a
matrix normal distribution: a mean, and covariances of the rows and of the columns.
"""

import torch
from torch import Tensor, nn

_ROUNDS = 5  # of estimating one covariance given the other
_FLOOR = 1e-3  # of the mean variance, for directions in which residuals never vary
_TINY = 1e-8


class ResidualDistribution(nn.Module):
    """A matrix normal distribution for each group; until it has learned, a standard normal one.

    Among groups that have not learned, the one with the smallest residual is the most likely.
    """

    mean: Tensor  # (groups, rows, columns)
    row_covariance: Tensor  # (groups, rows, rows)
    column_covariance: Tensor  # (groups, columns, columns)

    def __init__(self, groups: int, *, rows: int, columns: int):
        super().__init__()
        self.register_buffer("mean", torch.zeros(groups, rows, columns))
        self.register_buffer("row_covariance", torch.eye(rows).repeat(groups, 1, 1))
        self.register_buffer("column_covariance", torch.eye(columns).repeat(groups, 1, 1))

    def log_likelihood(self, residuals: Tensor) -> Tensor:
        """Residuals (b, groups, rows, columns × hints) -> (b, groups), up to a constant.

        How likely each group leaves this of a pair, or of several hints together.
        """
        # Not `cholesky`, which would stop at the numbers of a damaged file: those give likelihoods
        # that mean nothing.
        covariances = (self.row_covariance, self.column_covariance)
        rows, columns = (torch.linalg.cholesky_ex(covariance).L for covariance in covariances)
        by_hint = residuals.unflatten(-1, (-1, columns.shape[-1])).movedim(-2, 0)
        centred = by_hint - self.mean  # (hints, b, groups, rows, columns)
        whitened = torch.linalg.solve_triangular(rows, centred, upper=False)
        whitened = torch.linalg.solve_triangular(columns.mT, whitened, upper=True, left=False)
        log_volume = sum(
            factor.diagonal(dim1=-2, dim2=-1).log().sum(-1) * other.shape[-1]
            for factor, other in ((rows, columns), (columns, rows))
        )
        return (-whitened.square().sum((-2, -1)) / 2 - log_volume).sum(0)

    @torch.no_grad()
    def learn(self, group: int, residuals: Tensor) -> None:
        """Estimate a group's distribution from residuals (n, rows, columns) of its own pairs."""
        exact = residuals.double()
        mean = exact.mean(0)
        centred = exact - mean
        rows, columns = (torch.eye(n, dtype=exact.dtype, device=exact.device) for n in mean.shape)
        for _ in range(_ROUNDS):
            scatter = torch.einsum("nij,nkj->ik", centred @ columns.inverse(), centred)
            rows = _positive(scatter / (len(centred) * len(columns)))
            scatter = torch.einsum("nij,nik->jk", rows.inverse() @ centred, centred)
            columns = _positive(scatter / (len(centred) * len(rows)))
        self.mean[group] = mean
        self.row_covariance[group] = rows
        self.column_covariance[group] = columns


def _positive(covariance: Tensor) -> Tensor:  # (n, n), the same out
    """The covariance with some variance in every direction."""
    floor = _FLOOR * covariance.diagonal().mean() + _TINY
    identity = torch.eye(len(covariance), dtype=covariance.dtype, device=covariance.device)
    return covariance + floor * identity
