"""Batches of linear systems: always an answer, with any number of threads.

    solve(systems, right)              # (b, n, n), (b, n) -> (b, n)

Where a system has no solution, the result is not finite, and no error is raised: answers are
checked where they are made (finite.py), and losses where they are trained.
"""

import contextlib

import torch
from torch import Tensor

from fine.threads import using_threads

_LARGEST_IN_PARALLEL = 128
"""Rows of the systems that several threads may factor. From 151 rows on, those of torch with MKL
lose pivots (pytorch/pytorch#142815), and what they return is wrong."""


def solve(systems: Tensor, right: Tensor, *, left: bool = True) -> Tensor:
    """The x of each system A x = b; or, if the unknown is not on the left of ``right``, x A = b.

    ``right`` is (b, n) or (b, n, m).
    """
    large = systems.shape[-1] > _LARGEST_IN_PARALLEL and systems.device.type == "cpu"
    with using_threads(1) if large else contextlib.nullcontext():
        return torch.linalg.solve_ex(systems, right, left=left).result


def cholesky(matrices: Tensor) -> Tensor:  # (b, n, n), the same out
    """The lower triangular factor of each matrix; NaN if it is not positive definite."""
    factors, failed = torch.linalg.cholesky_ex(matrices)
    return factors.masked_fill((failed > 0)[..., None, None], torch.nan)
