"""Rules checked on pixels: which rule takes x to y, and which of the choices it makes out of x'.

    views = Views.of(puzzle)
    evidence = verify(views, rules="all")
    evidence.found[0].label, evidence.found[0].misfit     # rotation 90°, 0.01
    evidence.made                                         # (2,): it makes the third choice

This needs no network. What a rule makes of an image is compared with another image pixel by pixel:
their misfit is 0 if they are the same, and about 1 if they have nothing to do with each other.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from fine.inference.ground import as_ink, evenly_lit, find_ground
from fine.inference.naming import distinct_rules
from fine.inference.puzzle_images import ReadPuzzle
from fine.inference.reading import luminance, resized
from fine.rules import Rule, RuleSet, apply_rules, rule_set

SIDE = 64
"""Pixels a side at which images are compared, if they have so many."""
EXPLAINED = 0.25
"""The largest misfit of a hint whose rule is said to be found."""
AS_GOOD, NOISE = 1.5, 0.01
"""Misfits up to this many times another, and a little, are as good as it."""
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
    misfit: float
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
    def of(puzzle: ReadPuzzle) -> "Views":
        """The views of a puzzle that was read."""
        squares = puzzle.padded()
        side = min(SIDE, max(image.shape[-1] for image in squares))
        grey = [luminance(resized(image[None], side)) for image in squares]
        images = torch.cat(grey)[None, :, None]  # (1, n, 1, side, side)
        even = evenly_lit(images)
        ground = find_ground(even[:, puzzle.plain])
        paper = bool(ground.there)
        seen = (as_ink(even, ground) if paper else images)[0, :, 0]
        hints = 2 * puzzle.hints
        pairs = tuple((seen[n], seen[n + 1]) for n in range(0, hints, 2))
        new = seen[hints] if len(seen) > hints else None
        return Views(pairs, new, seen[hints + 1 :], paper)


@dataclass(frozen=True)
class Evidence:
    """What the pixels of a puzzle say."""

    found: tuple[FoundRule, ...]
    """Rules that explain the hints about equally well, the best first; empty: none does."""
    misfit: float
    """That of the best rule of all, whether it explains the hints or not."""
    choice_misfits: tuple[float, ...]
    """Of every choice, to what the best rule that is found makes of x'."""
    made: tuple[int, ...]
    """For every rule that is found, the choice that it makes, if it makes exactly one; else −1."""
    ambiguity: float
    """How much what these rules make of x' differs, at most: 0 not at all, about 1 altogether."""


NOTHING = Evidence((), 1.0, (), (), 0.0)
"""If nothing was looked at."""


def verify(views: Views, *, rules: str = "all") -> Evidence:
    """Which rules explain the hints, and which choices they make."""
    candidates = _ranked(views, rules)
    if not candidates:
        return NOTHING
    best = candidates[0].misfit
    bound = AS_GOOD * best + NOISE
    found = tuple(one for one in candidates if one.misfit <= bound) if best <= EXPLAINED else ()
    if views.new is None or not found:
        return Evidence(found, best, (), (), 0.0)
    results = [applied(views.new, one.rules) for one in found]
    ambiguity = max(float(_misfits(results[0][0], made[None], shown)) for made, shown in results)
    if not len(views.choices):
        return Evidence(found, best, (), (), ambiguity)
    to_choices = [_misfits(made, views.choices, _shown(views, shown)) for made, shown in results]
    made = tuple(
        only_made(misfits.tolist(), one) for misfits, one in zip(to_choices, found, strict=True)
    )
    return Evidence(found, best, tuple(to_choices[0].tolist()), made, ambiguity)


def only_made(misfits: Sequence[float], rule: FoundRule) -> int:
    """The one choice that a rule makes of x'; −1 if it is none or several."""
    least = min(misfits)
    tolerance = max(EXPLAINED / 2, 2 * rule.misfit)
    if least > tolerance:
        return -1
    near = [n for n, misfit in enumerate(misfits) if misfit <= AS_GOOD * least + NOISE]
    return near[0] if len(near) == 1 else -1


def applied(image: Tensor, rules: Sequence[Rule]) -> tuple[Tensor, Tensor]:  # (side, side) twice
    """An image under rules, and which of the result's pixels come from within the image."""
    both = torch.stack((image, torch.ones_like(image)))
    negative = apply_rules(torch.zeros_like(both[:1]), rules)[0] > 0.5
    made = apply_rules(both, rules)
    return made[0], torch.where(negative, 1 - made[1], made[1]) > 0.99


def _ranked(views: Views, rules: str) -> list[FoundRule]:
    """Rules with their misfits on the hints, the best first."""
    found = _of_grid(views, rule_set(rules))
    return sorted(found, key=lambda one: one.misfit)


def _of_grid(views: Views, rules: RuleSet) -> list[FoundRule]:
    side = views.pairs[0][0].shape[-1]
    warp, members = distinct_rules(rules, side)
    inside = _inside(rules, side)
    numbers = torch.arange(len(members))
    total = torch.zeros(len(members))
    for x, y in views.pairs:
        made = warp(x.expand(len(members), 1, -1, -1), numbers)[:, 0]
        total += _misfits(y, made, _shown(views, inside))
    misfits = (total / len(views.pairs)).tolist()
    return [
        FoundRule((rule,), str(rule), (), misfit)
        for rule, misfit in zip(members, misfits, strict=True)
    ]


@functools.lru_cache(maxsize=8)
def _inside(rules: RuleSet, side: int) -> Tensor:  # bool (rules, side, side)
    """Which pixels of the result come from within the image, for every distinct rule."""
    warp, _ = distinct_rules(rules, side)
    return (warp.grids.abs() <= 1 - 0.5 / side).all(dim=-1)


def _shown(views: Views, inside: Tensor) -> Tensor:
    """Pixels that count: all of them on paper, else those that come from within the image."""
    return torch.ones_like(inside) if views.paper else inside


def _misfits(one: Tensor, others: Tensor, shown: Tensor) -> Tensor:
    """How different images are from one, (n,), over the pixels that are shown; 1 if few are."""
    smooth, targets = _smoothed(one[None]), _smoothed(others)
    weight = shown.float().expand_as(targets)
    count = weight.sum((1, 2)).clamp(min=1)
    spread = _variance(smooth.expand_as(targets), weight, count) + _variance(targets, weight, count)
    errors = ((smooth - targets).square() * weight).sum((1, 2)) / count
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
