"""Where the search begins: the best rules of every family's grid on small images.

starts = family_starts(pairs, ["rotation", "wave"])       # a grid is tried all at once
starts = from_rule(rule)                                  # given, as its own family and others
"""

import functools
import itertools
import math
from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fine.geometry.warp import HALF
from fine.inference.registration.comparison import losses
from fine.inference.registration.forms import BENT_FORMS, FORMS, AffineForm, Form
from fine.inference.registration.pairs import Level, Pair
from fine.inference.registration.refinement import Candidate
from fine.rules import FAMILIES, Rule
from fine.rules.affine import affine_candidates, matrix_of
from fine.rules.continuous import SQUARE_SYMMETRIES

COARSE = 32
"""Longer side of the images that a grid is tried on."""
KEPT = 2
"""Starts of a family that are kept."""

_ANGLES: list[tuple[float, ...]] = [(5.0 * k,) for k in range(72)]
_FACTORS = [math.exp(k / 6) for k in range(-8, 8)]
_TANGENTS = [math.degrees(math.atan(k / 3)) for k in range(-6, 7)]

GRIDS: dict[str, list[tuple[float, ...]]] = {
    "square": [tuple(float(value) for value in one) for one in SQUARE_SYMMETRIES],
    "rotation": _ANGLES,
    "scale": [(factor,) for factor in _FACTORS],
    "stretch": list(itertools.product(_FACTORS[2:-2], repeat=2)),
    "shear": list(itertools.product(_TANGENTS, repeat=2)),
    "fisheye": [
        (x, y, strength)
        for x, y in itertools.product((-0.6, -0.3, 0.0, 0.3, 0.6), repeat=2)
        for strength in (-0.25, 0.2, 0.4, 0.7, 1.0)
    ],
    "wave": [
        (height, waves)
        for height in (-5.0, -3.5, -2.0, -1.0, 1.0, 2.0, 3.5, 5.0)
        for waves in (0.6, 1.0, 1.4, 1.8, 2.2, 2.6, 3.0, 3.5, 4.0)
    ],
}
"""Parameters that are tried for each family, denser than a step of refinement reaches."""


def form_of(name: str) -> Form:
    """The form of a family or of a mix."""
    return FORMS[name] if name in FORMS else BENT_FORMS[name]


def family_starts(
    pairs: Sequence[Pair], names: Sequence[str], *, kept: int = KEPT
) -> list[Candidate]:
    """The best rules of the grids of families, on small images."""
    levels = [pair.level(COARSE, pair.octaves) for pair in pairs]
    found: list[Candidate] = []
    for name in names:
        total = torch.zeros(len(GRIDS[name]))
        for level in levels:
            total = total + _grid_losses(name, level)
        total = total / len(levels)
        for number in _apart(total, GRIDS[name], kept):
            parameters = np.array(GRIDS[name][number])
            found.append(Candidate(form_of(name), parameters, float(total[number])))
    return found


def _apart(total: Tensor, grid: Sequence[tuple[float, ...]], kept: int) -> list[int]:
    """The numbers of the best rules of a grid; neighbours of a better one are left out."""
    spread = np.ptp(np.array(grid), axis=0) + 1e-9
    best: list[int] = []
    for number in total.argsort(stable=True)[: 8 * kept].tolist():
        if not math.isfinite(float(total[number])) or len(best) == kept:
            break
        far = [
            np.abs((np.array(grid[number]) - grid[other]) / spread).max() > 0.1 for other in best
        ]
        if all(far):
            best.append(number)
    return best


def _grid_losses(name: str, level: Level) -> Tensor:  # (rules,)
    key = (*level.shape, float(level.points[0, 0]), float(level.points[0, 1]))
    return losses(level, _grid_sources(name, *key))


@functools.lru_cache(maxsize=48)
def _grid_sources(name: str, height: int, width: int, left: float, top: float) -> Tensor:
    """Where every rule of a grid reads the pixels of a frame: (rules, n, 2)."""
    x, y = torch.linspace(left, -left, width), torch.linspace(top, -top, height)
    points = torch.stack(torch.meshgrid(x, y, indexing="xy"), dim=-1).reshape(-1, 2)
    form, parameters = form_of(name), np.array(GRIDS[name])
    if isinstance(form, AffineForm):
        matrices = torch.from_numpy(form.matrices(parameters)).float()
        return points @ matrices[:, :, :2].transpose(1, 2) + matrices[:, None, :, 2]
    return form.sources(points, parameters)


def swap_losses(pairs: Sequence[Pair]) -> list[tuple[Rule, float]]:
    """The loss of each swap of quarters; none if a frame is no square, or changes."""
    if any(height != width for pair in pairs for height, width in (pair.size, pair.out)):
        return []
    if any(pair.size != pair.out for pair in pairs):
        return []
    rules = [Rule(FAMILIES["swap"], parameters) for parameters in FAMILIES["swap"].grid[1:]]
    total = torch.zeros(len(rules))
    for pair in pairs:
        level = pair.level(min(2 * COARSE, pair.side))
        points = level.points.double() * HALF
        sources = [rule.family.source(points, *rule.parameters) / HALF for rule in rules]
        total = total + losses(level, torch.stack(sources).float())
    return list(zip(rules, (total / len(pairs)).tolist(), strict=True))


def resizing_starts(pairs: Sequence[Pair], names: Sequence[str]) -> list[Candidate]:
    """The whole of x resized to the frame of y, where that is another frame."""
    high, wide = (new / old for new, old in zip(pairs[0].out, pairs[0].size, strict=True))
    if abs(high - 1) < 1e-3 and abs(wide - 1) < 1e-3:
        return []
    found = []
    if "scale" in names:
        found.append(Candidate(FORMS["scale"], np.array([math.sqrt(wide * high)])))
    if "stretch" in names:
        found.append(Candidate(FORMS["stretch"], np.array([wide, high])))
    return found


def from_rule(rule: Rule) -> list[Candidate]:
    """A given rule as candidates: as its own family, and as those that are near."""
    name = rule.family.name
    if name in ("wave", "fisheye"):
        return [Candidate(form_of(name), np.array(rule.parameters))]
    matrix = matrix_of(rule)
    return [] if matrix is None else from_matrix(matrix)


def from_matrix(matrix: NDArray[np.float64]) -> list[Candidate]:
    """An affine map as a candidate of each family that it may be near to."""
    found = [Candidate(FORMS["affine-map"], matrix.flatten())]
    aliases = {"reflection": "square"}
    for rule in affine_candidates(matrix):
        name = aliases.get(rule.family.name, rule.family.name)
        if name == "square":
            own = matrix_of(rule)
            assert own is not None
            parameters = np.round(np.linalg.inv(own[:, :2])).flatten()
        else:
            parameters = np.array(rule.parameters)
        found.append(Candidate(FORMS[name], parameters))
    return found
