"""Rules checked on pixels: which rule takes x to y, and which of the choices it makes out of x'.

    evidence = look(puzzle)
    evidence.found[0].label, evidence.found[0].difference     # rotation 90°, 0.01
    evidence.made                                         # (2,): it makes the third choice

This needs no network. What a rule makes of an image is compared with another image pixel by pixel:
their difference is 0 if they are the same, and about 1 if they have nothing to do with each other.

Rules of a bank are tried first, on small images. If none fits as it is, the best of them are the
starts of a registration, which moves their parameters until they fit.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from fine.inference.ground import as_ink, evenly_lit, find_ground
from fine.inference.naming import distinct_rules
from fine.inference.puzzle_images import ReadPuzzle
from fine.inference.reading import luminance, resized
from fine.inference.registration import register
from fine.rules import Rule, RuleSet, Warp, apply_rules, rule_set

SIDE = 64
"""Pixels a side at which images are compared, if they have so many."""
COARSE = 32
"""Pixels a side at which the rules of a bank are tried."""
EXPLAINED = 0.06
"""The largest difference of a hint whose rule is said to be found."""
EXACT = 0.004
"""A difference with which a rule of a bank needs no registration."""
AS_GOOD, NOISE = 1.5, 0.003
"""Misfits up to this many times another, and a little, are as good as it."""
MADE, AS_HINT = 0.03, 4.0
"""The largest difference of a choice that a rule is said to make: that, or so many times that of
the hint, which may be soft or noisy."""
LIKELY = "all+square+stretch"
"""The rules that are tried if nothing else is said."""
_STARTS = 3  # families whose best rule is registered, and the second best of the first one
_MOST_RIVALS = 100  # rules that explain the hints about equally well
_FEW = 1e-4  # variance of an image with nothing in it


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


@dataclass(frozen=True, eq=False)
class Views:
    """The images of a puzzle as they are compared: grey, bright on black where there is paper."""

    pairs: tuple[tuple[Tensor, Tensor], ...]
    """x and y of every hint, (side, side) each."""
    new: Tensor | None
    choices: Tensor
    """(k, side, side)"""
    paper: bool
    """Whether there is paper, so that what a rule uncovers is known to be 0."""

    @staticmethod
    def of(puzzle: ReadPuzzle, *, paper: bool = True) -> "Views":
        """The views of a puzzle that was read; without ``paper`` as if it had none."""
        squares = puzzle.padded()
        side = min(SIDE, max(image.shape[-1] for image in squares))
        grey = [luminance(resized(image[None], side)) for image in squares]
        images = torch.cat(grey)[None, :, None]  # (1, n, 1, side, side)
        even = evenly_lit(images)
        ground = find_ground(even[:, puzzle.plain])
        on_paper = paper and bool(ground.there)
        seen = (as_ink(even, ground) if on_paper else images)[0, :, 0]
        hints = 2 * puzzle.hints
        pairs = tuple((seen[n], seen[n + 1]) for n in range(0, hints, 2))
        new = seen[hints] if len(seen) > hints else None
        return Views(pairs, new, seen[hints + 1 :], on_paper)


@dataclass(frozen=True)
class Evidence:
    """What the pixels of a puzzle say."""

    found: tuple[FoundRule, ...]
    """Rules that explain the hints about equally well, the simplest first; empty: none does."""
    difference: float
    """That of the best rule of all, whether it explains the hints or not."""
    choice_differences: tuple[float, ...]
    """Of every choice, to what the best rule that is found makes of x'."""
    made: tuple[int, ...]
    """For every rule that is found, the choice that it makes, if it makes exactly one; else −1."""
    ambiguity: float
    """How much what rules that explain the hints make of x' differs, at most: 0 not at all, about 1
    altogether."""
    possible: tuple[int, ...] = ()
    """Choices that rules which explain the hints about equally well make of x'."""


class _Bank(NamedTuple):
    """Rules between which registration finds its way."""

    warp: Warp
    rules: tuple[Rule, ...]
    inside: Tensor
    """(n, side, side): which pixels they read from within the image."""


class _Tried(NamedTuple):
    """A rule of a bank, by its number, and its difference on small images."""

    number: int
    difference: float


NOTHING = Evidence((), 1.0, (), (), 0.0)
"""If nothing was looked at."""


def look(puzzle: ReadPuzzle, *, rules: str = LIKELY) -> Evidence:
    """What the pixels of a puzzle say.

    If no rule explains it on its paper, that may be no paper: the wall of a photograph, say, whose
    place is black where it was moved. Then only pixels from within the images count.
    """
    views = Views.of(puzzle)
    evidence = verify(views, rules=rules)
    if evidence.found or not views.paper:
        return evidence
    bare = verify(Views.of(puzzle, paper=False), rules=rules)
    return bare if bare.found else evidence


def verify(views: Views, *, rules: str = LIKELY) -> Evidence:
    """Which rules explain the hints, and which choices they make."""
    bank = _bank(rules)
    tried = _try(views, bank)
    candidates = _ranked(views, bank, tried)
    if not candidates:
        return NOTHING
    best = candidates[0].difference
    bound = AS_GOOD * best + NOISE
    good = [one for one in candidates if one.difference <= bound] if best <= EXPLAINED else []
    found = tuple(sorted(good, key=_simplicity))
    if views.new is None or not found:
        return Evidence(found, best, (), (), 0.0)
    results = [applied(views.new, one.rules) for one in found]
    ambiguity, possible = _rivals(views, results[0][0], bank, tried)
    if not len(views.choices):
        return Evidence(found, best, (), (), ambiguity)
    to_choices = [
        _differences(made, views.choices, _shown(views, shown)) for made, shown in results
    ]
    made = tuple(
        only_made(differences.tolist(), one)
        for differences, one in zip(to_choices, found, strict=True)
    )
    possible |= {choice for choice in made if choice >= 0}
    return Evidence(
        found, best, tuple(to_choices[0].tolist()), made, ambiguity, tuple(sorted(possible))
    )


_PARAMETERS = {"square": 0, "reflection": 0, "swap": 0, "rotation": 1, "scale": 1, "black-white": 1}


def _simplicity(one: FoundRule) -> tuple[int, float]:
    """Families with fewer parameters first, and of one family the better rule."""
    parameters = sum(_PARAMETERS.get(rule.family.name, 2) for rule in one.rules)
    return parameters, one.difference


def _rivals(
    views: Views, best: Tensor, bank: _Bank, tried: Sequence[_Tried]
) -> tuple[float, set[int]]:
    """How much rules that explain the hints as well differ on x', and the choices that they make.

    All on small images.
    """
    assert views.new is not None
    bound = AS_GOOD * tried[0].difference + NOISE
    rivals = [one.number for one in tried[:_MOST_RIVALS] if one.difference <= bound]
    small = [
        resized(image[None, None], COARSE)[0, 0] for image in (best, views.new, *views.choices)
    ]
    wanted, new, *choices = _smoothed(torch.stack(small))
    numbers = torch.tensor(rivals)
    made = bank.warp(new.expand(len(rivals), 1, -1, -1), numbers)[:, 0]
    shown = _shown(views, bank.inside[numbers])
    ambiguity = float(_differences(wanted, made, shown, smooth=True).max())
    to_choices = [_differences(choice, made, shown, smooth=True) for choice in choices]
    if not to_choices:
        return ambiguity, set()
    least, nearest = torch.stack(to_choices).min(dim=0)  # (rivals,)
    return ambiguity, set(nearest[least <= MADE].tolist())


def only_made(differences: Sequence[float], rule: FoundRule) -> int:
    """The one choice that a rule makes of x'; −1 if it is none or several."""
    least = min(differences)
    if least > tolerance(rule):
        return -1
    near = [n for n, difference in enumerate(differences) if difference <= AS_GOOD * least + NOISE]
    return near[0] if len(near) == 1 else -1


def tolerance(rule: FoundRule) -> float:
    """The largest difference of a choice that a rule makes."""
    return max(MADE, AS_HINT * rule.difference)


def applied(image: Tensor, rules: Sequence[Rule]) -> tuple[Tensor, Tensor]:  # (side, side) twice
    """An image under rules, and which of the result's pixels come from within the image."""
    both = torch.stack((image, torch.ones_like(image)))
    negative = apply_rules(torch.zeros_like(both[:1]), rules)[0] > 0.5
    made = apply_rules(both, rules)
    return made[0], torch.where(negative, 1 - made[1], made[1]) > 0.99


def _ranked(views: Views, bank: _Bank, tried: Sequence[_Tried]) -> list[FoundRule]:
    """The best rules of a bank, and registered, by their differences on the hints."""
    rules = [bank.rules[one.number] for one in tried]
    best = [
        _checked(views, FoundRule((rule,), str(rule), (), 1.0)) for rule in rules[: 2 * _STARTS]
    ]
    best.sort(key=lambda one: one.difference)
    if best and best[0].difference > EXACT:
        best += _registered(views, _starts(rules))
    return sorted(best, key=lambda one: one.difference)


def _try(views: Views, bank: _Bank) -> list[_Tried]:
    """The rules of a bank on small images, the best first."""
    count = len(bank.rules)
    numbers = torch.arange(count)
    total = torch.zeros(count)
    for pair in views.pairs:
        x, y = _smoothed(torch.stack([resized(one[None, None], COARSE)[0, 0] for one in pair]))
        made = bank.warp(x.expand(count, 1, -1, -1), numbers)[:, 0]
        total += _differences(y, made, _shown(views, bank.inside), smooth=True)
    tried = map(_Tried, range(count), (total / len(views.pairs)).tolist())
    return sorted(tried, key=lambda one: one.difference)


@functools.lru_cache(maxsize=8)
def _bank(rules: str) -> _Bank:
    """The bank of these families, with finer grids than they have."""
    members: list[Rule] = []
    for name, numbers in (known := rule_set(rules)).families.items():
        family = known.rules[numbers[0]].family
        own = [known.rules[number].parameters for number in numbers]
        grid = _BANKS.get(name, own) if len(own) == len(family.grid) else own
        members += [Rule(family, parameters) for parameters in grid]
    warp, distinct = distinct_rules(RuleSet(rules, tuple(members)), COARSE)
    return _Bank(warp, distinct, (warp.grids.abs() <= 1 - 0.5 / COARSE).all(dim=-1))


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
    """What registration makes of rules that nearly fit, and checked again."""
    if not starts:
        return []
    xs, ys = zip(*views.pairs, strict=True)
    with np.errstate(invalid="ignore"):  # a start may lead nowhere
        result = register(
            [x[None] for x in xs],
            [y[None] for y in ys],
            families=list({rule.family.name: None for rule in starts}),
            starts=starts,
            mixes=False,
        )
    found = []
    for one in (result, *result.others):
        errors = tuple(error for errors in one.errors for error in errors)
        rule = FoundRule(one.rule.rules, str(one), errors, 1.0)
        found.append(_checked(views, rule))
    return found


def _checked(views: Views, rule: FoundRule) -> FoundRule:
    """The rule with its difference on the images at full resolution."""
    differences = []
    for x, y in views.pairs:
        made, inside = applied(x, rule.rules)
        differences.append(float(_differences(y, made[None], _shown(views, inside))))
    return replace(rule, difference=sum(differences) / len(differences))


def _shown(views: Views, inside: Tensor) -> Tensor:
    """Pixels that count: all of them on paper, else those that come from within the image."""
    return torch.ones_like(inside) if views.paper else inside


def _differences(one: Tensor, others: Tensor, shown: Tensor, *, smooth: bool = False) -> Tensor:
    """How different images are from one, (n,), over the pixels that are shown; 1 if few are."""
    first, targets = one[None], others
    if not smooth:
        first, targets = _smoothed(first), _smoothed(targets)
    weight = shown.float().expand_as(targets)
    count = weight.sum((1, 2)).clamp(min=1)
    spread = _variance(first.expand_as(targets), weight, count) + _variance(targets, weight, count)
    errors = ((first - targets).square() * weight).sum((1, 2)) / count
    enough = count >= 0.1 * one.numel()
    return torch.where(enough, errors / (spread + _FEW), 1.0).clamp(max=2.0)


def _variance(images: Tensor, weight: Tensor, count: Tensor) -> Tensor:  # (n,)
    mean = (images * weight).sum((1, 2)) / count
    return (images.square() * weight).sum((1, 2)) / count - mean.square()


def _smoothed(images: Tensor) -> Tensor:  # (n, side, side)
    """Over a pixel: how another program interpolates does not count."""
    line = torch.tensor([0.25, 0.5, 0.25])
    kernel = (line[:, None] * line)[None, None]
    return F.conv2d(F.pad(images[:, None], (1, 1, 1, 1), mode="replicate"), kernel)[:, 0]
