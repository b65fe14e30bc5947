"""The four choices that the page shows, made like those of a puzzle."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from fine.demo.steps import in_one_sentence
from fine.images import Images
from fine.inference import NamedRule
from fine.puzzles import KINDS, ORDERS
from fine.puzzles.distinct import all_distinct
from fine.puzzles.family_first import FamilyFirst
from fine.randomness import random_below
from fine.rules import Rule, RuleSet, apply_rules

POSSIBLE = "possible"
"""The kind of a choice when y was drawn by hand, so that no rule says which choice is right."""
_ATTEMPTS = 40
_IMAGE, _FAMILY, _MEMBER, _ORDER = range(4)  # streams of random numbers


class Option(NamedTuple):
    """An image to choose, its kind, and the rules that made it, in words."""

    image: Tensor
    kind: str
    words: str


def make_choices(
    new: Tensor, rules: Sequence[Rule], others: RuleSet, images: Images, *, seed: int
) -> list[Option]:
    """f(x'), g(x'), f(x'') and g(x''), where ``rules`` are f, in an order that the seed fixes.

    g and x'' are drawn again while two of the four look alike. With a blank x' they always do, so
    the last of 40 draws is taken as it is.
    """
    rule_draw = FamilyFirst(others)
    for attempt in range(_ATTEMPTS):
        (number,) = random_below(len(images.pixels), seed, attempt, _IMAGE)
        other = images.pixels[number].float() / 255
        (drawn,) = rule_draw.draw((seed, attempt, _FAMILY), (seed, attempt, _MEMBER))
        wrong = [others.rules[drawn]]
        made = ((new, rules), (new, wrong), (other, rules), (other, wrong))
        options = [
            Option(apply_rules(image, applied), kind, in_one_sentence(applied))
            for kind, (image, applied) in zip(KINDS, made, strict=True)
        ]
        if _look_different(options):
            break
    return _in_order(options, seed)


def possible_choices(new: Tensor, named: Sequence[NamedRule], *, seed: int) -> list[Option]:
    """x' under the four most probable rules that look different on it; the seed fixes their order.

    If fewer look different, the next most probable fill up the four. A model that knows fewer than
    four rules has as many choices as rules.
    """
    chosen: list[Option] = []
    alike: list[Option] = []
    for entry in named:
        rules = [entry.rule]
        option = Option(apply_rules(new, rules), POSSIBLE, in_one_sentence(rules))
        (chosen if _look_different([*chosen, option]) else alike).append(option)
        if len(chosen) == len(KINDS):
            break
    return _in_order([*chosen, *alike][: len(KINDS)], seed)


def _look_different(options: Sequence[Option]) -> bool:
    if len(options) < 2:
        return True
    return bool(all_distinct(torch.stack([option.image for option in options])[None]))


def _in_order(options: Sequence[Option], seed: int) -> list[Option]:
    (order,) = random_below(len(ORDERS), seed, _ORDER)
    return [options[place] for place in ORDERS[order] if place < len(options)]
