"""Affine maps: as matrices in frame units, as rules, and by the simplest name that fits.

    matrix = matrix_of(rule)               # 2 × 3, output point -> input point; None: not affine
    str(simplest_affine(matrix))           # rotation 180°, for a quarter turn twice

Two families are here that have no grid, so no puzzle is drawn from them: `affine-map`, which is any
affine map, and `negative`, which is the negative of the whole image.
"""

import math
from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fine.geometry.warp import HALF
from fine.rules.continuous import SQUARE_SYMMETRIES
from fine.rules.families import FAMILIES, Family, Rule

Matrix = NDArray[np.float64]
"""2 × 3: output point (x, y, 1) -> input point, in frame units."""

IDENTITY: Matrix = np.eye(2, 3)
EXACT = 1e-6
"""Maps that take no point of the frame further apart than this are the same."""


def _affine_map(
    points: Tensor, a: float, b: float, c: float, d: float, right: float, down: float
) -> Tensor:
    """The image under the matrix (a b, c d), then moved, read backwards."""
    determinant = a * d - b * c
    inverse = torch.tensor([[d, -b], [-c, a]], dtype=points.dtype) / determinant
    moved = points - torch.tensor([right, down], dtype=points.dtype)
    return (inverse * moved[..., None, :]).sum(-1)


def _affine_label(a: float, b: float, c: float, d: float, right: float, down: float) -> str:
    return f"({a:.3f} {b:.3f}, {c:.3f} {d:.3f}), moved by ({right:.2f}, {down:.2f})"


def _everywhere(points: Tensor) -> Tensor:
    return torch.ones(points.shape[:-1], dtype=torch.bool)


AFFINE = Family("affine-map", grid=(), label=_affine_label, source=_affine_map)
"""Any affine map: the matrix of the map of images, row by row, and a translation."""
NEGATIVE = Family(
    "negative", grid=(), label=lambda: "", source=lambda points: points, negative=_everywhere
)
"""Brightness v becomes 1 − v everywhere."""
NOT_AFFINE = ("fisheye", "wave", "swap", "patchwork", "black-white")
"""Families that no matrix describes."""


def family_of(name: str) -> Family | None:
    """A family by name, of those with a grid and of the two here."""
    return {AFFINE.name: AFFINE, NEGATIVE.name: NEGATIVE, **FAMILIES}.get(name)


def matrix_of(rule: Rule) -> Matrix | None:
    """The matrix of an affine rule, by the family's own formula; None if it is not affine."""
    partly_negative = rule.family.negative is not None and rule.family is not NEGATIVE
    if rule.family.name in NOT_AFFINE or partly_negative:
        return None
    corners = torch.tensor([[0, 0], [1, 0], [0, 1], [0.7, -0.4], [-1, -1]], dtype=torch.float64)
    read = (rule.family.source(corners * HALF, *rule.parameters) / HALF).numpy()
    matrix = np.stack((read[1] - read[0], read[2] - read[0], read[0]), axis=1)
    if not np.allclose(apply(matrix, corners.numpy()), read, atol=1e-9):
        return None  # a family of somebody else
    return matrix


def apply(matrix: Matrix, points: NDArray[np.float64]) -> NDArray[np.float64]:  # (..., 2), same
    """Points under a matrix."""
    return points @ matrix[:, :2].T + matrix[:, 2]


def product(first: Matrix, then: Matrix) -> Matrix:
    """The matrix that reads the result of ``first``, then of ``then``, backwards: first ∘ then."""
    return np.column_stack((first[:, :2] @ then[:, :2], first[:, :2] @ then[:, 2] + first[:, 2]))


def inverted(matrix: Matrix) -> Matrix:
    """The matrix of the inverse map."""
    back = np.linalg.inv(matrix[:, :2])
    return np.column_stack((back, -back @ matrix[:, 2]))


def affine_rule(matrix: Matrix) -> Rule:
    """Any affine map as a rule, by the matrix that it reads through."""
    forward = inverted(matrix)
    linear = forward[:, :2].flatten().tolist()
    return Rule(AFFINE, (*linear, *(HALF * forward[:, 2]).tolist()))


def simplest_affine(matrix: Matrix) -> Rule:
    """The rule of the simplest family that takes no point of the frame further than EXACT.

    Families in order: the square's symmetries, translation, rotation, scale, stretch, shear,
    similarity (any-mix), and any affine map, which always fits.
    """
    for rule in affine_candidates(matrix):
        found = matrix_of(rule)
        assert found is not None
        if np.abs(found - matrix).sum(1).max() <= EXACT:
            return rule
    return affine_rule(matrix)


def affine_candidates(matrix: Matrix) -> list[Rule]:
    """For each family of affine maps the rule nearest to a map, the simplest family first."""
    forward = inverted(matrix)
    (a, b), (c, d) = forward[:, :2]
    right, down = (HALF * forward[:, 2]).tolist()
    nearest = min(SQUARE_SYMMETRIES, key=lambda one: np.abs(forward[:, :2].flatten() - one).sum())
    mirrored = a * d - b * c < 0
    if mirrored:  # a similarity of the mirror image, whose x is −x
        a, c = -a, -c
    degrees = math.degrees(math.atan2(b - c, a + d)) % 360
    factor = max(math.hypot(a + d, b - c) / 2, 1e-6)
    rules = [named_square(nearest), Rule(FAMILIES["translation"], (right, down))]
    if not mirrored:
        rules += [Rule(FAMILIES["rotation"], (degrees,)), Rule(FAMILIES["scale"], (factor,))]
        if a > 0 and d > 0:
            across = math.degrees(math.atan(b))
            along = math.degrees(math.atan(c))
            rules += [Rule(FAMILIES["stretch"], (a, d)), Rule(FAMILIES["shear"], (across, along))]
    mix = (float(mirrored), degrees, factor, right, down)
    return [*rules, Rule(FAMILIES["any-mix"], tuple(float(value) for value in mix))]


def named_square(parameters: Sequence[float]) -> Rule:
    """A symmetry of the square by the family that people would name: 90° is a rotation."""
    a, b, c, d = (int(value) for value in parameters)
    turns = {(0, 1, -1, 0): 90.0, (-1, 0, 0, -1): 180.0, (0, -1, 1, 0): 270.0}
    if (a, b, c, d) in turns:
        return Rule(FAMILIES["rotation"], (turns[a, b, c, d],))
    mirrors = {(-1, 0, 0, 1): (1.0, 0.0), (1, 0, 0, -1): (0.0, 1.0)}
    if (a, b, c, d) in mirrors:
        return Rule(FAMILIES["reflection"], mirrors[a, b, c, d])
    return Rule(FAMILIES["square"], (float(a), float(b), float(c), float(d)))
