"""Choices that no step of refinement reaches: negatives and swaps, taken out of a pair beforehand.

    for setting in [plain(pairs), negative(pairs), *swaps(pairs)]:
        ...                                   # setting.pairs are related by what is left

A swap first changes x, a swap last is undone in y, and so is a negative. Then an affine map or
nothing is left to explain.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from fine.inference.registration.pairs import Pair, saturated
from fine.rules import FAMILIES, Rule, apply_rules
from fine.rules.affine import NEGATIVE


@dataclass(frozen=True, eq=False)
class Setting:
    """Pairs with something taken out, and the rules that it was."""

    pairs: Sequence[Pair]
    before: tuple[Rule, ...] = ()
    after: tuple[Rule, ...] = ()


def negative(pairs: Sequence[Pair]) -> Setting:
    """Every y as its negative."""
    changed = [pair.changed(pair.x, 1 - pair.y) for pair in pairs]
    return Setting(changed, after=(Rule(NEGATIVE, ()),))


def swaps(pairs: Sequence[Pair]) -> list[Setting]:
    """Every swap of quarters, before anything else and after it; none if a frame is not square."""
    frames = [frame for pair in pairs for frame in (pair.size, pair.out)]
    if any(height != width for height, width in frames):
        return []
    if any(pair.size != pair.out for pair in pairs):
        return []
    found = []
    for origins in itertools.permutations(range(4)):
        if origins == (0, 1, 2, 3):
            continue
        rule = Rule(FAMILIES["swap"], tuple(float(quarter) for quarter in origins))
        back = Rule(FAMILIES["swap"], tuple(float(origins.index(q)) for q in range(4)))
        first = [pair.changed(apply_rules(pair.x, [rule]), pair.y) for pair in pairs]
        found.append(Setting(first, before=(rule,)))
        undone = [pair.changed(pair.x, apply_rules(pair.y, [back])) for pair in pairs]
        found.append(Setting(undone, after=(rule,)))
    return found


def part_negative(pairs: Sequence[Pair], side: int) -> tuple[Rule, float] | None:
    """The cut that explains pairs of one size best, one part of which is negative, and its loss."""
    if any(pair.size != pair.out or pair.size != pairs[0].size for pair in pairs):
        return None
    total: Tensor | None = None
    for pair in pairs:
        level = pair.level(side)
        x, y = level.x[0, 0], level.y.view(level.shape)
        if x.shape != y.shape:
            return None
        white = float(pair.grey(torch.ones_like(pair.x[:, :1, :1])))
        errors = torch.stack(((x - y).square(), (white - x - y).square()))
        errors = saturated(errors, level.variance) / level.baseline
        total = errors if total is None else total + errors
    assert total is not None
    best: tuple[float, Rule] | None = None
    for axis in (0, 1):
        lines = total.mean(1 if axis == 0 else 2).double()  # (2, n): same and negative
        cost = _costs_of_cuts(lines) / lines.shape[1] / len(pairs)  # (2, n + 1)
        for number, direction in enumerate((-1.0, 1.0)):
            place = int(cost[number].argmin())
            length = pairs[0].size[1 - axis] / pairs[0].unit * 16  # of this axis, in units of rules
            cut = (place / lines.shape[1] - 0.5) * length
            rule = Rule(FAMILIES["black-white"], (float(axis), cut, direction))
            if place in (0, lines.shape[1]):
                rule = Rule(NEGATIVE, ())
            whole = place == (lines.shape[1] if direction < 0 else 0)
            if place in (0, lines.shape[1]) and not whole:
                continue  # nothing is negative
            if best is None or float(cost[number, place]) < best[0]:
                best = (float(cost[number, place]), rule)
    return None if best is None else (best[1], best[0])


def _costs_of_cuts(lines: Tensor) -> Tensor:  # (2, n) -> (2, n + 1)
    """Costs of a cut before each line, with the part before it negative, or the part after it."""
    start = torch.zeros(2, 1, dtype=lines.dtype)
    before = torch.cat((start, lines.cumsum(1)), dim=1)
    after = before[:, -1:] - before
    return torch.stack((before[1] + after[0], before[0] + after[1]))
