"""Rules as one map of points: what images of any size and shape are drawn through.

    turn = RuleMap((rule,))                    # or several rules, the first one first
    turn.matrix                                # 2 × 3 in frame units, or None if it is not affine
    turn.sources(points)                       # where each point of the result is read

It is a fine.geometry.point_map.PointMap. A unit of a frame is 16 units of the rules, so rules act
on the longer side of an image, and along both sides alike.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray

from fine.geometry.warp import HALF
from fine.rules.affine import NEGATIVE, Matrix, matrix_of, product
from fine.rules.families import Rule


@dataclass(frozen=True)
class RuleMap:
    """Rules one after another, the first one first; of none, an image stays as it is."""

    rules: tuple[Rule, ...]

    @property
    def negative(self) -> bool:
        """Whether the whole image becomes its negative."""
        return sum(rule.family is NEGATIVE for rule in self.rules) % 2 == 1

    @property
    def partly_negative(self) -> bool:
        """Whether a part of the image becomes its negative, as `negative_at` says."""
        return any(
            rule.family.negative is not None and rule.family is not NEGATIVE for rule in self.rules
        )

    @cached_property
    def matrix(self) -> Matrix | None:
        """2 × 3, output point (x, y, 1) -> input point, in frame units; None if not affine."""
        if self.partly_negative:
            return None
        total: Matrix = np.eye(2, 3)
        for rule in self.rules:
            matrix = matrix_of(rule)
            if matrix is None:
                return None
            total = product(total, matrix)
        return total

    @property
    def is_identity(self) -> bool:
        """Whether the rules leave every image as it is."""
        if self.matrix is None or self.negative:
            return False
        return bool(np.allclose(self.matrix, np.eye(2, 3)))

    def sources(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Output points (..., 2) -> input points (..., 2)."""
        return self._read(points)[0]

    def negative_at(self, points: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Whether brightness v becomes 1 − v at output points (..., 2): bool (...)."""
        return self._read(points)[1]

    def _read(self, points: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        read = torch.from_numpy(np.asarray(points, dtype=np.float64)) * HALF
        negative = torch.zeros(read.shape[:-1], dtype=torch.bool)
        for rule in reversed(self.rules):  # a rule reads from the result of the rule before it
            if rule.family.negative is not None:
                negative = negative ^ rule.family.negative(read, *rule.parameters)
            read = rule.family.source(read, *rule.parameters)
        return (read / HALF).numpy(), negative.numpy()
