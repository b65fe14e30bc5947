"""The four choices beside the model's answer: made as those of a puzzle are, for whatever is on the page."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from torch import Tensor

from fine.demo.steps import apply_rules, in_one_sentence
from fine.images import Images
from fine.puzzles import KINDS, ORDERS, VISIBLE
from fine.randomness import random_below
from fine.rules import Rule, RuleSet
from fine.solving import NamedRule

POSSIBLE = "possible"
"""The kind of a choice when nobody knows the right one, for y was drawn by hand."""
_ATTEMPTS = 40


class Option(NamedTuple):
    """A picture to choose, what it is, and the rule that made it."""

    picture: Tensor
    kind: str
    words: str


def make_choices(new: Tensor, rules: Sequence[Rule], others: RuleSet, images: Images, *, seed: int) -> list[Option]:
    """f(x'), g(x'), f(x'') and g(x''), in an order that the seed fixes; g and x'' are drawn until all four look different."""
    for attempt in range(_ATTEMPTS):
        which, family, member, order = random_below(2**31, seed, attempt, np.arange(4)).tolist()
        other = images.pixels[which % len(images.pixels)].float() / 255
        members = list(others.families.values())[family % len(others.families)]
        wrong = [others.rules[members[member % len(members)]]]
        options = [
            Option(apply_rules(picture, applied), kind, in_one_sentence(applied))
            for kind, (picture, applied) in zip(
                KINDS, ((new, rules), (new, wrong), (other, rules), (other, wrong)), strict=True
            )
        ]
        if _all_differ([option.picture for option in options]):
            break
    return [options[place] for place in ORDERS[order % len(ORDERS)]]


def possible_choices(new: Tensor, named: Sequence[NamedRule], *, seed: int) -> list[Option]:
    """x' under the four likeliest rules that look different on it, in an order that the seed fixes."""
    options: list[Option] = []
    spare: list[Option] = []
    for entry in named:
        rule = entry.rule
        option = Option(apply_rules(new, [rule]), POSSIBLE, in_one_sentence([rule]))
        new_look = _all_differ([*(one.picture for one in options), option.picture])
        (options if new_look else spare).append(option)
    four = [*options, *spare][:4]
    order = ORDERS[random_below(len(ORDERS), seed)[0]]
    return [four[place] for place in order]


def _all_differ(pictures: Sequence[Tensor]) -> bool:
    return all((one - two).abs().mean() >= VISIBLE for place, one in enumerate(pictures) for two in pictures[place + 1 :])
