"""Draws rules by family first, then within the family.

rules = FamilyFirst(rule_set("affine"))
rules.draw((seed, 0, numbers), (seed, 1, numbers))     # a rule for each number
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fine.randomness import random_below
from fine.rules import RuleSet


class FamilyFirst:
    """Draws rules by family first, so that small families count as much as large ones."""

    def __init__(self, rules: RuleSet, *, members: Iterable[int] | None = None):
        """``members``: draw only from the rules with these numbers."""
        drawn = set(range(len(rules)) if members is None else members)
        families = rules.families.values()
        some = [[number for number in family if number in drawn] for family in families]
        by_family = list(filter(None, some))
        self.sizes = np.array([len(family) for family in by_family])
        """Rules in each family."""
        self._rules = np.concatenate([np.array(family) for family in by_family])
        self._starts = np.cumsum(self.sizes) - self.sizes

    def __len__(self) -> int:
        return len(self.sizes)

    def rule(self, family: NDArray[np.int64], member: NDArray[np.int64]) -> NDArray[np.int64]:
        """The numbers of rules, given by their family and their place in it."""
        return self._rules[self._starts[family] + member]

    def draw(self, family: tuple[Any, ...], member: tuple[Any, ...]) -> NDArray[np.int64]:
        """Rules, from the addresses of two random numbers each."""
        families = random_below(len(self), *family)
        return self.rule(families, random_below(self.sizes[families], *member))

    def draw_pair(
        self, base: NDArray[np.uint64], stream: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """f and another g. (f, g) is as likely as (g, f), so choices alone give nothing away."""
        families = [random_below(len(self), base, stream + place) for place in (0, 1)]
        sizes = [self.sizes[family] for family in families]
        right = random_below(sizes[0], base, stream + 2)
        same = families[0] == families[1]
        wrong = random_below(np.maximum(sizes[1] - same, 1), base, stream + 3)
        wrong += same & (wrong >= right) & (sizes[1] > 1)  # within one family, pass over f
        return self.rule(families[0], right), self.rule(families[1], wrong)
