"""What is known of a rule that was made from others: its errors, its residual, its doubts.

found = derived(lambda rules: inverse(rules[0]), [f.rule], inverse(f.rule.rule))
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from fine.inference.registration import Registered
from fine.rules import Rule
from fine.rules.rule_map import RuleMap

Make = Callable[[Sequence[RuleMap]], RuleMap | None]
"""Makes a rule from others, if a formula does."""


def derived(make: Make, known: Sequence[Registered], made: RuleMap) -> Registered:
    """The rule that was made from known ones, with what follows from theirs."""
    reasons = [one.reason for one in known if one.ambiguous]
    return Registered(
        made,
        _propagated(make, known, made),
        max(one.residual for one in known),
        bool(reasons),
        "; ".join(dict.fromkeys(reasons)),
    )


def _propagated(
    make: Make, known: Sequence[Registered], made: RuleMap
) -> tuple[tuple[float, ...], ...]:
    """Standard errors of a derived rule: how it moves as each parameter moves by its error."""
    total = [np.zeros(len(rule.parameters)) for rule in made.rules]
    for one in {id(one): one for one in known}.values():  # one that is used twice moves twice
        for place, (rule, errors) in enumerate(zip(one.rule.rules, one.errors, strict=True)):
            for position, error in enumerate(errors):
                if not (0 < error < math.inf):
                    continue
                little = 1e-3 * error
                values = list(rule.parameters)
                values[position] += little
                rules = list(one.rule.rules)
                rules[place] = Rule(rule.family, tuple(values))
                maps = [RuleMap(tuple(rules)) if other is one else other.rule for other in known]
                for sums, moves in zip(total, _moves(make(maps), made), strict=True):
                    sums += np.square(moves / 1e-3)
    return tuple(tuple(np.sqrt(sums).tolist()) for sums in total)


def _moves(moved: RuleMap | None, made: RuleMap) -> list[NDArray[np.float64]]:
    """By how much parameters differ; 0 where a rule has got another family."""
    nothing = [np.zeros(len(rule.parameters)) for rule in made.rules]
    if moved is None or [rule.family for rule in moved.rules] != [r.family for r in made.rules]:
        return nothing
    found = []
    for rule, other in zip(moved.rules, made.rules, strict=True):
        moves = np.array(rule.parameters) - np.array(other.parameters)
        if rule.family.name == "rotation":
            moves = (moves + 180) % 360 - 180
        found.append(moves)
    return found
