"""How the wrong rule g of a puzzle is drawn beside the right rule f.

    pairs = RulePairs(rule_set("rotation"), "near")
    right, wrong = pairs.draw(bits, 6)                # numbers of rules in pairs.rules

| distractors | g |
|---|---|
| any | any other rule: a family at random, then a rule of it |
| family | another rule of the family of f |
| near | one of the rules of that family that do nearly the same as f |
| seen, unseen | a rule of the families of f that the extreme tests show, or hold back |

Several joined by + take turns at random: any+near. Except for seen and unseen, (f, g) is as likely
as (g, f), so that the choices alone give nothing away.
"""

import functools
from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray

from fine.errors import FineError, unknown
from fine.puzzles.family_first import FamilyFirst
from fine.randomness import random_below
from fine.rules import Rule, RuleSet, negative_mask, source_points

DISTRACTORS = ("any", "family", "near", "seen", "unseen")
NEAR = 12
"""The nearest of this many rules of a family are near: of 24 rotations, the two beside f."""
_SIDE = 8  # points a side at which two rules are compared
_KIND, _FAMILY, _RIGHT, _WRONG, _SWAP = range(20, 25)  # streams; 0 to 10 are those of other parts

Integers = NDArray[np.int64]
Bits = NDArray[np.uint64]


class RulePairs:
    """Draws pairs of a right and a wrong rule."""

    def __init__(self, rules: RuleSet, distractors: str = "any"):
        names = distractors.split("+")
        for name in names:
            if name not in DISTRACTORS:
                raise unknown("kind of distractors", name, DISTRACTORS)
        self._from = len(rules)
        self.rules = _with_others(rules, [name for name in names if name in ("seen", "unseen")])
        """The rules to which the numbers belong: with distractors from the other split, both."""
        self._any = FamilyFirst(rules)
        makers: dict[str, Callable[[], Callable[[Bits, int], tuple[Integers, Integers]]]] = {
            "any": lambda: self._any.draw_pair,
            "family": lambda: self._of_one_family(all_others(rules)),
            "near": lambda: self._of_one_family(nearest(rules)),
            "seen": lambda: self._of_split(unseen=False),
            "unseen": lambda: self._of_split(unseen=True),
        }
        self._kinds = [makers[name]() for name in names]

    def draw(self, base: Bits, stream: int) -> tuple[Integers, Integers]:
        """f and g for each of these random numbers; ``stream`` is the first of four for `any`."""
        drawn = [kind(base, stream) for kind in self._kinds]
        if len(drawn) == 1:
            return drawn[0]
        which = random_below(len(drawn), base, _KIND)
        at = np.arange(len(base))
        right, wrong = (np.stack(numbers)[which, at] for numbers in zip(*drawn, strict=True))
        return right, wrong

    def _of_one_family(
        self, others: list[Integers]
    ) -> Callable[[Bits, int], tuple[Integers, Integers]]:
        """Pairs of a rule and one of those that ``others`` has for it."""
        if not any(map(len, others)):
            raise FineError(f"no family of '{self.rules.name}' has two rules: use distractors=any")
        counts = np.array([len(some) for some in others])
        starts = np.cumsum(counts) - counts
        table = np.concatenate(others)
        paired = FamilyFirst(self.rules, members=[n for n, some in enumerate(others) if len(some)])

        def draw(base: Bits, stream: int) -> tuple[Integers, Integers]:
            one = paired.draw((base, _FAMILY), (base, _RIGHT))
            other = table[starts[one] + random_below(counts[one], base, _WRONG)]
            swapped = random_below(2, base, _SWAP).astype(bool)
            return np.where(swapped, other, one), np.where(swapped, one, other)

        return draw

    def _of_split(self, *, unseen: bool) -> Callable[[Bits, int], tuple[Integers, Integers]]:
        members = [n for n, rule in enumerate(self.rules.rules) if rule.unseen == unseen]
        if not members:
            raise FineError(
                f"no rule of the families of '{self.rules.name}' is "
                f"{'held back as unseen' if unseen else 'seen'}: use distractors=any"
            )
        wrong_ones = FamilyFirst(self.rules, members=members)
        right_ones = FamilyFirst(self.rules, members=range(self._from))

        def draw(base: Bits, stream: int) -> tuple[Integers, Integers]:
            right = right_ones.draw((base, stream), (base, stream + 2))
            return right, wrong_ones.draw((base, stream + 1), (base, stream + 3))

        return draw


def _with_others(rules: RuleSet, splits: list[str]) -> RuleSet:
    """The rules, and behind them those of the same families in these splits."""
    found = list(rules.rules)
    families = {rule.family.name: rule.family for rule in rules.rules}
    for split in splits:
        for family in families.values():
            if family.unseen is None:
                raise FineError(
                    f"distractors={split}: {family.name} has no seen/unseen split; use "
                    "distractors=any"
                )
            every = (Rule(family, parameters) for parameters in family.grid)
            found += [
                rule for rule in every if rule.unseen == (split == "unseen") and rule not in found
            ]
    return RuleSet(rules.name, tuple(found))


def all_others(rules: RuleSet) -> list[Integers]:
    """For each rule, the other rules of its family."""
    others: list[Integers] = [np.empty(0, dtype=np.int64)] * len(rules)
    for members in rules.families.values():
        numbers = np.array(members)
        for number in members:
            others[number] = numbers[numbers != number]
    return others


@functools.cache  # it takes seconds for 1,000 rules, and training draws puzzles in every epoch
def nearest(rules: RuleSet) -> list[Integers]:
    """For each rule, those of its family that move points to nearly the same places."""
    others: list[Integers] = [np.empty(0, dtype=np.int64)] * len(rules)
    for members in rules.families.values():
        if len(members) < 2:
            continue
        effects = torch.stack([_effect(rules.rules[number]) for number in members])
        distances = torch.cdist(effects, effects, p=1).fill_diagonal_(torch.inf)
        count = max(1, len(members) // NEAR)
        found = distances.argsort(dim=1, stable=True)[:, :count].numpy()
        for number, near in zip(members, found, strict=True):
            others[number] = np.array(members)[near]
    return others


def _effect(rule: Rule) -> torch.Tensor:
    """What a rule does, as numbers: where some points are read from, and where it is negative."""
    points = source_points(rule, _SIDE).clamp(-16, 16)
    return torch.cat((points.flatten(), 16.0 * negative_mask(rule, _SIDE).flatten()))
