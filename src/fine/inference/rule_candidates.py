"""Rules that may explain the hints of a puzzle, checked on the pixels.

    bank = bank_of("all+square+stretch")
    tried = try_bank(views, bank)         # the best first, on small images
    ranked(views, bank, tried)            # the best of them, and registered between them
    mixed(views)                          # turned and moved at once, perhaps mirrored and scaled

Rules of a bank are tried first. If none fits as it is, the best of them are the starts of a
registration, which moves their parameters until they fit.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from fine.inference.naming import distinct_rules
from fine.inference.reading import resized
from fine.inference.registration import register
from fine.inference.views import Views, differences, smoothed
from fine.rules import FAMILIES, Rule, RuleSet, Warp, apply_rules, rule_set

COARSE = 32
"""Pixels a side at which the rules of a bank are tried."""
EXACT = 0.004
"""A difference with which a rule of a bank needs no registration."""
MIXES = ("square", "any-mix")
"""Families of the mixes, and one from which their search can set out."""
_STARTS = 3  # families whose best rule is registered, and the second best of the first one


@dataclass(frozen=True)
class FoundRule:
    """What may have made y from x, checked on the pixels."""

    rules: tuple[Rule, ...]
    """One rule, or several, the first one first."""
    label: str
    """The rule in words, such as rotation 37.2°."""
    errors: tuple[float, ...]
    """The standard error of each parameter; empty if it is one of a grid."""
    difference: float
    """What it leaves of the hints: 0 nothing, about 1 everything."""


class Bank(NamedTuple):
    """Rules between which registration finds its way."""

    warp: Warp
    rules: tuple[Rule, ...]
    inside: Tensor
    """(n, side, side): which pixels they read from within the image."""


class Tried(NamedTuple):
    """A rule of a bank, by its number, and its difference on small images."""

    number: int
    difference: float


def applied(image: Tensor, rules: Sequence[Rule]) -> tuple[Tensor, Tensor]:
    """A view (planes, side, side) under rules, and which pixels come from within it, (side, side).

    The negative of a brightness is what it lacks of white, that of a tint is the opposite tint.
    """
    inner = torch.ones_like(image[:1])
    negative = apply_rules(torch.zeros_like(inner), rules)[0] > 0.5
    *planes, inside = apply_rules(torch.cat((image, inner)), rules)
    made = [planes[0], *(torch.where(negative, tint - 1, tint) for tint in planes[1:])]
    return torch.stack(made), torch.where(negative, 1 - inside, inside) > 0.99


def ranked(views: Views, bank: Bank, tried: Sequence[Tried]) -> list[FoundRule]:
    """The best rules of a bank, and registered, by their differences on the hints."""
    rules = [bank.rules[one.number] for one in tried]
    best = [
        _checked(views, FoundRule((rule,), str(rule), (), 1.0)) for rule in rules[: 2 * _STARTS]
    ]
    best.sort(key=lambda one: one.difference)
    if best and best[0].difference > EXACT:
        best += _registered(views, _starts(rules))
    return sorted(best, key=lambda one: one.difference)


def try_bank(views: Views, bank: Bank) -> list[Tried]:
    """The rules of a bank on small images, the best first."""
    count = len(bank.rules)
    numbers = torch.arange(count)
    total = torch.zeros(count)
    for pair in views.pairs:
        x, y = smoothed(resized(torch.stack(pair)[:, :1], COARSE))  # their brightness
        made = bank.warp(x.expand(count, 1, -1, -1), numbers)
        total += differences(y, made, views.counted(bank.inside), smooth=True)
    tried = map(Tried, range(count), (total / len(views.pairs)).tolist())
    return sorted(tried, key=lambda one: one.difference)


def bank_of(rules: str) -> Bank:
    """The bank of these families, with finer grids than they have."""
    return _bank(rules, tuple(FAMILIES))  # `all` grows with families that are registered


@functools.lru_cache(maxsize=8)
def _bank(rules: str, _registered: tuple[str, ...]) -> Bank:
    members: list[Rule] = []
    for name, numbers in (known := rule_set(rules)).families.items():
        family = known.rules[numbers[0]].family
        own = [known.rules[number].parameters for number in numbers]
        grid = _BANKS.get(name, own) if len(own) == len(family.grid) else own
        members += [Rule(family, parameters) for parameters in grid]
    warp, distinct = distinct_rules(RuleSet(rules, tuple(members)), COARSE)
    return Bank(warp, distinct, (warp.grids.abs() <= 1 - 0.5 / COARSE).all(dim=-1))


_ZOOMS = tuple(round(2.0 ** (n / 6), 3) for n in range(-9, 9))
_STRETCHES = tuple(round(2.0 ** (n / 3), 3) for n in range(-4, 5))
_BANKS: dict[str, list[tuple[float, ...]]] = {
    "rotation": [(5.0 * n,) for n in range(72)],
    "translation": [(1.5 * right, 1.5 * down) for right in range(-8, 9) for down in range(-8, 9)],
    "scale": [(0.5,), (0.75,), (1.25,), *((zoom,) for zoom in _ZOOMS)],
    "stretch": [(wide, high) for wide in _STRETCHES for high in _STRETCHES if wide != high],
}
"""Finer grids than the families have."""


def _starts(rules: Sequence[Rule]) -> list[Rule]:
    """The best rule of each of the best families that can be registered, and one more."""
    first: dict[str, Rule] = {}
    more: list[Rule] = []
    for rule in rules:
        name = rule.family.name
        if name in _REFINED and name not in first and len(first) < _STARTS:
            first[name] = rule
        elif name in list(first)[:1] and not more:
            more.append(rule)
    return [*first.values(), *more]


_REFINED = {"translation", "rotation", "scale", "stretch", "shear", "wave", "fisheye"}


def _registered(views: Views, starts: Sequence[Rule]) -> list[FoundRule]:
    """What registration makes of rules that nearly fit."""
    if not starts:
        return []
    names = list({rule.family.name: None for rule in starts})
    return _register(views, names, starts=starts, mixes=False)


def mixed(views: Views) -> list[FoundRule]:
    """Images turned and moved at once, perhaps mirrored and scaled, the best first."""
    return sorted(_register(views, MIXES), key=lambda one: one.difference)


def _register(
    views: Views, names: Sequence[str], *, starts: Sequence[Rule] = (), mixes: bool = True
) -> list[FoundRule]:
    """The rule that registration finds among families, and others as good, checked again."""
    xs, ys = ([pair[n][:1] for pair in views.pairs] for n in range(2))  # their brightness
    with np.errstate(invalid="ignore"):  # a start may lead nowhere
        result = register(xs, ys, families=names, starts=starts, mixes=mixes)
    found = []
    for one in (result, *result.others):
        errors = tuple(error for errors in one.errors for error in errors)
        rule = FoundRule(one.rule.rules, str(one), errors, 1.0)
        found.append(_checked(views, rule))
    return found


def _checked(views: Views, rule: FoundRule) -> FoundRule:
    """The rule with its difference on the images at full resolution."""
    left = []
    for x, y in views.pairs:
        made, inside = applied(x, rule.rules)
        left.append(float(differences(y, made[None], views.counted(inside))))
    return replace(rule, difference=sum(left) / len(left))
