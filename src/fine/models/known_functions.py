"""Functions known from training, and their products: for rules beyond the span of the slots.

    known = KnownFunctions(32, rows=(16, 64))
    known.learn(grids, x, y)                            # after training, from training puzzles
    functions, residuals = known.explain(grids, x, y)   # the 24 that best take x to y

A memory can say what its slots span: the rules of training, and mixtures of their matrices. One
example pair says little about a rule beyond them, because much of an image is empty. But a larger
rule is often some rules of training, one after another, as a shift by 6 is a shift by 3, twice. So
the functions of training are collected, each together with its inverse, and products of them are
searched for those that explain the pair.

Nothing tells the functions of training apart: training puzzles with the same rule are found by
which function explains them (a mixture of linear regressions). Everything is done on all grids of
places together: ``x`` and ``y`` hold embeddings (b, rows, columns) for each.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from fine.models.backbones import MatrixBackbone
from fine.models.fine import FINE
from fine.models.least_squares import combine, fit
from fine.models.linear_systems import solve
from fine.models.memory import FunctionalMemory
from fine.models.paper import regularised

OnGrids = Sequence[Tensor]
"""A tensor for each grid, the coarsest first."""

FACTORS = 5
"""Most factors of a product."""
BEAM = 16
"""How many products are continued by a further factor."""
SHORTLIST = 64
"""How many of these are tried on the finer grids too."""
BEST = 24
"""How many products explain a pair in the end."""
CANDIDATES, ROUNDS = 8, 5
"""Functions to begin with, for each that is kept, and rounds of assigning and fitting."""
RIDGE = 0.01
"""Regularisation of a known function, which has many pairs to be fitted to."""
_TINY = 1e-12


class KnownFunctions(nn.Module):
    """``count`` functions and their inverses, as matrices on each grid.

    Until `learn` they are all the identity.
    """

    def __init__(self, count: int, *, rows: Sequence[int]):
        super().__init__()
        self.count = count
        for number, size in enumerate(rows):
            matrices = torch.eye(size).expand(2 * count, -1, -1).clone()
            self.register_buffer(f"matrices_{number}", matrices)

    @property
    def matrices(self) -> list[Tensor]:  # (2 × count, rows, rows) each
        """The functions and then their inverses, on each grid."""
        return list(self.buffers())

    def learn(self, grids: Sequence[FINE], x: OnGrids, y: OnGrids) -> None:
        """Take the functions of training puzzles, two pairs (n, 2, rows, columns) of each."""
        groups = group_by_function(grids[0], x[0], y[0], count=self.count)
        for matrices, before, after in zip(self.matrices, x, y, strict=True):
            for group in groups.unique():
                among = groups == group
                pair = before[among].flatten(0, 1), after[among].flatten(0, 1)
                matrices[group] = regress(*pair)
                matrices[self.count + group] = regress(*reversed(pair))

    def explain(
        self, grids: Sequence[FINE], x: OnGrids, y: OnGrids
    ) -> tuple[list[Tensor], Tensor]:  # (b, BEST, rows, rows) each, (b, BEST)
        """The products that take x nearest to y, and the log-residuals they leave."""
        products = self._search(grids, x, y)
        refined = [
            _refine(grid, *parts) for grid, *parts in zip(grids, products, x, y, strict=True)
        ]
        reached = [matrix @ start[:, None] for matrix, start in zip(refined, x, strict=True)]
        return refined, log_residual(grids, reached, y)

    def _search(self, grids: Sequence[FINE], x: OnGrids, y: OnGrids) -> list[Tensor]:
        """The best products (b, BEST, rows, rows) on each grid, by beam search."""
        count = 2 * self.count
        each = torch.arange(len(x[0]), device=x[0].device)[:, None]
        reached = [start[:, None] for start in x]  # (b, beam, rows, columns) on each grid
        products = [_identity_like(start)[:, None] for start in x]
        found, residuals = [products], [log_residual(grids, reached, y)]
        for _ in range(FACTORS):
            # All further factors are tried on the coarsest grid, and the best of them on all.
            after = torch.einsum("kij,bnjc->bnkic", self.matrices[0], reached[0]).flatten(1, 2)
            tried = _least(log_residual(grids[:1], [after], y[:1]), SHORTLIST)
            factor, before = tried % count, tried // count
            reached = [
                matrices[factor] @ image[each, before]
                for matrices, image in zip(self.matrices, reached, strict=True)
            ]
            residual = log_residual(grids, reached, y)  # (b, SHORTLIST)
            best = _least(residual, BEST)
            products = [
                matrices[factor[each, best]] @ product[each, before[each, best]]
                for matrices, product in zip(self.matrices, products, strict=True)
            ]
            found.append(products)
            residuals.append(residual[each, best])
            reached = [image[each, best[:, :BEAM]] for image in reached]
            products = [product[:, :BEAM] for product in products]
        best = _least(torch.cat(residuals, dim=1), BEST)
        return [torch.cat(parts, dim=1)[each, best] for parts in zip(*found, strict=True)]


def log_distance(grids: Sequence[FINE], u: OnGrids, v: OnGrids) -> Tensor:
    """The distances of embeddings (…, rows, columns), multiplied over the grids, as logarithms."""
    parts = [grid.distance(*pair) for grid, *pair in zip(grids, u, v, strict=True)]
    return torch.stack(parts).clamp(min=_TINY).log().sum(0)


def log_residual(grids: Sequence[FINE], reached: OnGrids, y: OnGrids) -> Tensor:
    """The share of y (b, rows, columns) that images (b, n, rows, columns) miss: (b, n)."""
    y = [result[:, None] for result in y]
    nothing = [torch.zeros_like(result) for result in y]
    return log_distance(grids, reached, y) - log_distance(grids, nothing, y)


def regress(x: Tensor, y: Tensor) -> Tensor:  # (n, rows, columns) twice -> (rows, rows)
    """The matrix that takes all x nearest to their y."""
    before, after = (pairs.transpose(0, 1).flatten(1) for pairs in (x, y))
    system = regularised(before @ before.T, RIDGE)
    return solve(system[None], (before @ after.T)[None])[0].T


def group_by_function(grid: FINE, x: Tensor, y: Tensor, *, count: int) -> Tensor:
    """Puzzles of two pairs (n, 2, rows, columns) -> the number (n,) of the function of each.

    The first functions are those composed for single puzzles; then each puzzle goes to the function
    that explains it best, and each function is fitted anew to its puzzles.
    """
    assert isinstance(grid.backbone, MatrixBackbone)
    few = slice(count * CANDIDATES)
    functions = grid.backbone.matrix(grid.compose(x[few, 0], y[few, 0]))
    errors = _errors(grid, functions, x, y)
    functions = functions[_cover(errors, count)]
    for _ in range(ROUNDS):
        groups = _errors(grid, functions, x, y).argmin(0)
        for group in groups.unique():
            among = groups == group
            functions[group] = regress(x[among].flatten(0, 1), y[among].flatten(0, 1))
    return _errors(grid, functions, x, y).argmin(0)


def _errors(grid: FINE, functions: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """What each function (m, rows, rows) misses of each puzzle (n, 2, rows, columns): (m, n)."""
    size = grid.distance(y, torch.zeros_like(y)).clamp(min=_TINY)
    return torch.stack([(grid.distance(f @ x, y) / size).sum(1) for f in functions])


def _cover(errors: Tensor, count: int) -> Tensor:
    """Which rows of errors (m, n) to keep so that the least error of the columns is small: one
    after another, each time the one that lowers their sum the most.
    """
    least = torch.full_like(errors[0], float("inf"))
    chosen = []
    for _ in range(min(count, len(errors))):
        best = torch.minimum(errors, least).sum(1).argmin()
        least = torch.minimum(errors[best], least)
        chosen.append(best)
    return torch.stack(chosen)


def _refine(grid: FINE, products: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """Products (b, n, rows, rows) with the combination of values that explains what they leave."""
    memory = grid.backbone.memory(0)
    assert isinstance(memory, FunctionalMemory)
    values, shape = memory.all_values(), products.shape[:2]
    x, y = (part[:, None].expand(-1, shape[1], -1, -1) for part in (x, y))
    remaining = (y - products @ x).flatten(0, 1)
    coefficients = fit(values, x.flatten(0, 1), remaining, ridge=memory.ridge)
    return products + combine(values, coefficients).unflatten(0, shape)


def _identity_like(x: Tensor) -> Tensor:  # (b, rows, columns) -> (b, rows, rows)
    return torch.eye(x.shape[1], dtype=x.dtype, device=x.device).expand(len(x), -1, -1)


def _least(numbers: Tensor, count: int) -> Tensor:  # (b, n) -> (b, count)
    """Where the least numbers of each row are, the least first."""
    return numbers.topk(min(count, numbers.shape[1]), largest=False).indices
