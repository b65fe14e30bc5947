"""Rules checked on pixels: which rule takes x to y, and which of the choices it makes out of x'.

    evidence = look(puzzle)
    evidence.found[0].label, evidence.found[0].difference     # rotation 90°, 0.01
    evidence.made                                         # (2,): it makes the third choice

This needs no network. What a rule makes of an image is compared with another image pixel by pixel
(views.py); rule_candidates.py has the rules.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from fine.inference.puzzle_images import ReadPuzzle
from fine.inference.reading import resized
from fine.inference.rule_candidates import (
    COARSE,
    Bank,
    FoundRule,
    Tried,
    applied,
    bank_of,
    mixed,
    ranked,
    try_bank,
)
from fine.inference.views import Views, differences, smoothed
from fine.rules import rule_set
from fine.threads import using_threads

EXPLAINED = 0.06
"""The largest difference of a hint whose rule is said to be found."""
AS_GOOD, NOISE = 1.5, 0.003
"""Differences up to this many times another, and a little, are as good as it."""
MADE, AS_HINT = 0.03, 4.0
"""The largest difference of a choice that a rule is said to make: that, or so many times that of
the hint, which may be soft or noisy."""
LIKELY = "all+square+stretch"
"""The rules that are tried if nothing else is said; then mixes of them are tried, too."""
_MOST_RIVALS = 100  # rules that explain the hints about equally well


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


NOTHING = Evidence((), 1.0, (), (), 0.0)
"""If nothing was looked at."""


@using_threads(1)  # many operations on small tensors
def look(puzzle: ReadPuzzle, *, rules: str = LIKELY) -> Evidence:
    """What the pixels of a puzzle say.

    If no rule explains it on its paper, that may be no paper: the wall of a photograph, say, whose
    place is black where it was moved. Then only pixels from within the images count. Mixes, which
    take longest, come last.
    """
    views = Views.of(puzzle)
    first = evidence = verify(views, rules=rules)
    if not evidence.found and views.paper:
        evidence = verify(Views.of(puzzle, paper=False), rules=rules)
    if not evidence.found and (rules == LIKELY or "any-mix" in rule_set(rules).families):
        evidence = verify(views, rules=rules, mixes=True)
    return evidence if evidence.found else first


def verify(views: Views, *, rules: str = LIKELY, mixes: bool = False) -> Evidence:
    """Which rules explain the hints, and which choices they make; or which ``mixes`` do."""
    bank = bank_of(rules)
    tried = [] if mixes else try_bank(views, bank)
    candidates = mixed(views) if mixes else ranked(views, bank, tried)
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
    to_choices = [differences(made, views.choices, views.counted(shown)) for made, shown in results]
    made = tuple(only_made(each.tolist(), one) for each, one in zip(to_choices, found, strict=True))
    possible |= {choice for choice in made if choice >= 0}
    return Evidence(
        found, best, tuple(to_choices[0].tolist()), made, ambiguity, tuple(sorted(possible))
    )


_PARAMETERS = {
    **{"square": 0, "reflection": 0, "swap": 0, "rotation": 1, "scale": 1, "black-white": 1},
    **{"any-mix": 4, "affine-map": 6},
}
"""Numbers that a rule of a family can choose; 2 for all others."""


def _simplicity(one: FoundRule) -> tuple[int, float]:
    """Families with fewer parameters first, and of one family the better rule."""
    parameters = sum(_PARAMETERS.get(rule.family.name, 2) for rule in one.rules)
    return parameters, one.difference


def _rivals(
    views: Views, best: Tensor, bank: Bank, tried: Sequence[Tried]
) -> tuple[float, set[int]]:
    """How much rules that explain the hints as well differ on x', and the choices that they make.

    All on small images. Mixes are in no bank and have no rivals.
    """
    if not tried:
        return 0.0, set()
    assert views.new is not None
    bound = AS_GOOD * tried[0].difference + NOISE
    rivals = [one.number for one in tried[:_MOST_RIVALS] if one.difference <= bound]
    images = torch.stack((best, views.new, *views.choices))[:, :1]  # their brightness
    wanted, new, *choices = smoothed(resized(images, COARSE))
    numbers = torch.tensor(rivals)
    made = bank.warp(new.expand(len(rivals), 1, -1, -1), numbers)
    shown = views.counted(bank.inside[numbers])
    ambiguity = float(differences(wanted, made, shown, smooth=True).max())
    to_choices = [differences(choice, made, shown, smooth=True) for choice in choices]
    if not to_choices:
        return ambiguity, set()
    least, nearest = torch.stack(to_choices).min(dim=0)  # (rivals,)
    return ambiguity, set(nearest[least <= MADE].tolist())


def only_made(to_choices: Sequence[float], rule: FoundRule) -> int:
    """The one choice that a rule makes of x', by its differences; −1 if it is none or several."""
    least = min(to_choices)
    if least > tolerance(rule):
        return -1
    near = [n for n, difference in enumerate(to_choices) if difference <= AS_GOOD * least + NOISE]
    return near[0] if len(near) == 1 else -1


def tolerance(rule: FoundRule) -> float:
    """The largest difference of a choice that a rule makes."""
    return max(MADE, AS_HINT * rule.difference)
