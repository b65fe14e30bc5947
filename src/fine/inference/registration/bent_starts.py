"""Where the search for a bend with an affine map begins.

    starts = bent_starts(pairs, BENT_FORMS["fisheye+affine"], matrices)

The affine map that explains a bent image best has taken the mean of the bend upon itself: a fisheye
makes images smaller, and so does that map. Beside a bend it has to do only the rest.
"""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fine.inference.registration.comparison import losses
from fine.inference.registration.forms import BentForm, Parameters, through
from fine.inference.registration.pairs import Level, Pair
from fine.inference.registration.refinement import Candidate
from fine.inference.registration.starts import COARSE, GRIDS

KEPT = 3
"""Bends that are kept for each affine map: one map must not crowd out the others."""
ROUNDS = 3
"""How often the rest is estimated; a bend is not the same everywhere."""


def bent_starts(
    pairs: Sequence[Pair], form: BentForm, matrices: Sequence[NDArray[np.float64]]
) -> list[Candidate]:
    """The best of all bends of a grid, each with what it leaves of each affine map."""
    levels = [pair.level(COARSE, pair.octaves) for pair in pairs]
    bends = np.array(GRIDS[form.bend.name])
    found = []
    for matrix in matrices:
        tried = _with_rest(form, bends, matrix, levels[0])
        total = torch.zeros(len(tried))
        for level in levels:
            total = total + losses(level, form.sources(level.points, tried)) / len(levels)
        for number in total.argsort(stable=True)[:KEPT].tolist():
            found.append(Candidate(form, tried[number], float(total[number])))
    return found


def _with_rest(
    form: BentForm, bends: Parameters, matrix: NDArray[np.float64], level: Level
) -> Parameters:  # (k, p)
    """Bends with the affine maps that make, with the mean of each bend, the given one."""
    points = level.points[_is_seen(matrix, level)]
    known = torch.cat((points, torch.ones(len(points), 1)), dim=1).double()
    whole = _square(matrix[None])
    rest = np.repeat(whole, len(bends), axis=0)
    for _ in range(ROUNDS):
        tried = np.concatenate((bends, rest[:, :2].reshape(-1, 6)), axis=1)
        sources = form.sources(points, tried).double()
        mean = _square((torch.linalg.pinv(known) @ sources).transpose(1, 2).numpy())
        undone = np.linalg.pinv(mean)
        rest = rest @ undone @ whole if form.order == "bend-first" else whole @ undone @ rest
    return np.concatenate((bends, rest[:, :2].reshape(-1, 6)), axis=1)


def _is_seen(matrix: NDArray[np.float64], level: Level) -> Tensor:  # (n,)
    """Which pixels of y show x, if at least a few do."""
    sources = through(level.points[None], torch.from_numpy(matrix[None]).float())[0]
    seen = (sources.abs() <= level.reach).all(-1)
    return seen if int(seen.sum()) >= 16 else torch.ones_like(seen)


def _square(matrices: NDArray[np.float64]) -> NDArray[np.float64]:  # (k, 2, 3) -> (k, 3, 3)
    last = np.broadcast_to(np.array([0.0, 0.0, 1.0]), (len(matrices), 1, 3))
    return np.concatenate((matrices, last), axis=1)
