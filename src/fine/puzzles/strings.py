"""Puzzles over strings: the same six integers, the same four kinds of choices, shown as grids.

    strings = load_strings("strings")
    puzzles = draw_string_puzzles(strings, string_rules("all"), 1000, seed=0, classes=range(2000))
    puzzles.texts([0])                 # [("abc", "abd", "mnp", "mnq", …)]: x, y, x' and the choices

No two choices are equal. The hint shows a change that tells the right rule from the wrong one: f(x)
is neither x nor g(x). A string of seen letters never becomes one with an unseen letter, so training
does not even show unseen letters in answers.
"""

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import torch
from numpy.typing import NDArray

from fine.errors import FineError
from fine.images import Images
from fine.images.letters import SEEN, grids_of, numbers_of, text_of
from fine.puzzles.family_first import FamilyFirst
from fine.puzzles.puzzles import Puzzles
from fine.puzzles.rendering import Renderer
from fine.puzzles.sampling import ATTEMPTS, check_count
from fine.puzzles.spec import FIRST, ORDER, ORDERS, OTHER, RIGHT, SECOND, WRONG, Batch
from fine.randomness import random_below, random_bits
from fine.rules.strings import StringRules

_ORDER, _FAMILY, _MEMBER, _STRING = 1, 2, 3, 4  # streams of random numbers of a puzzle


class Outcomes:
    """Every string of a pool, under every rule and as it is, as letter numbers."""

    def __init__(self, texts: tuple[str, ...], rules: StringRules):
        plain = numbers_of(texts)
        changed = [
            numbers_of([rules.apply(rule, text) for text in texts]) for rule in range(len(rules))
        ]
        self.numbers = np.stack((*changed, plain))
        """int8 (rules + 1, strings, SIZE); the last is the string as it is."""
        seen = self.numbers.max(axis=2) < len(SEEN)
        is_empty = self.numbers[:, :, 0] < 0
        self.allowed = ((seen | ~seen[-1]) & ~is_empty)[:-1]
        """bool (rules, strings): whether a puzzle may show this string under this rule."""


_outcomes = functools.lru_cache(maxsize=8)(Outcomes)  # every epoch is about the same strings


@dataclass(frozen=True, eq=False)
class StringPuzzles(Puzzles):
    """A numbered set of puzzles over strings."""

    outcomes: Outcomes

    def renderer(self, device: torch.device | str = "cpu") -> "StringRenderer":
        return StringRenderer(self, device)

    def texts(self, numbers: Iterable[int]) -> list[tuple[str, ...]]:
        specs = self.specs[np.asarray(list(numbers), dtype=np.int64)]
        shown = self.outcomes.numbers[_rules_and_strings(specs, len(self.rules))]
        return [tuple(text_of(text) for text in puzzle) for puzzle in shown]


class StringRenderer(Renderer):
    """Turns specs over strings into grids."""

    def __init__(self, puzzles: StringPuzzles, device: torch.device | str = "cpu"):
        self.device = torch.device(device)
        self.rules = len(puzzles.rules)
        self.numbers = torch.from_numpy(puzzles.outcomes.numbers).to(self.device)

    def __call__(self, specs: NDArray[np.int32]) -> Batch:
        shown = _rules_and_strings(specs, self.rules)
        rules, strings = (torch.from_numpy(part).to(self.device) for part in shown)
        answers = torch.from_numpy(ORDERS[specs[:, ORDER]].argmin(axis=1)).to(self.device)
        return Batch(grids_of(self.numbers[rules, strings]), answers)


def _rules_and_strings(
    specs: NDArray[np.int32], plain: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The rule and the string of each of the seven texts: int64 (b, 7) each.

    The number ``plain`` stands for no rule.
    """
    kinds = ORDERS[specs[:, ORDER]]  # (b, 4)
    choices = np.where(kinds < 2, specs[:, [SECOND]], specs[:, [OTHER]])
    choice_rules = np.where(kinds % 2 == 0, specs[:, [RIGHT]], specs[:, [WRONG]])
    no_rule = np.full((len(specs), 1), plain)
    rules = np.concatenate((no_rule, specs[:, [RIGHT]], no_rule, choice_rules), axis=1)
    strings = np.concatenate((specs[:, [FIRST, FIRST, SECOND]], choices), axis=1)
    return rules.astype(np.int64), strings.astype(np.int64)


def draw_string_puzzles(
    strings: Images,
    rules: StringRules,
    count: int,
    *,
    seed: int,
    start: int = 0,
    classes: Sequence[int],
) -> StringPuzzles:
    """Puzzles ``start`` … ``start + count − 1`` of ``seed``, over some strings of a pool.

    x, x' and x'' are different strings.
    """
    check_count(count, start)
    outcomes = _outcomes(strings.class_names, rules)
    draw = _Drawer(outcomes, rules, np.asarray(classes, dtype=np.int64))
    specs = np.empty((count, 6), dtype=np.int32)
    attempts = np.zeros(count, dtype=np.uint8)
    base = random_bits(seed, np.arange(start, start + count))
    specs[:, [RIGHT, WRONG]] = draw.rules(base)
    specs[:, ORDER] = random_below(len(ORDERS), base, _ORDER)
    pending = np.arange(count)
    for attempt in range(ATTEMPTS):
        drawn = draw.strings(specs[pending], base[pending], attempt)
        specs[pending[:, None], [FIRST, SECOND, OTHER]] = drawn
        attempts[pending] += 1
        pending = pending[~_is_sound(outcomes, specs[pending])]
        if not len(pending):
            return StringPuzzles(strings, rules, specs, attempts, outcomes)
    right, wrong = (rules.rules[specs[pending[0], column]] for column in (RIGHT, WRONG))
    raise FineError(
        f"after {ATTEMPTS} draws there is no puzzle over {strings.name} that tells {right} from "
        f"{wrong}: use more strings, or other rules"
    )


class _Drawer:
    """Rules and strings from addressed random numbers, all at once."""

    def __init__(self, outcomes: Outcomes, rules: StringRules, classes: NDArray[np.int64]):
        self.families = FamilyFirst(rules)
        self.classes, self.allowed = classes, outcomes.allowed[:, classes]

    def rules(self, base: NDArray[np.uint64]) -> NDArray[np.int64]:  # (n, 2)
        """f and another g. (f, g) is as likely as (g, f), so choices alone give nothing away."""
        drawn = np.zeros((len(base), 2), dtype=np.int64)
        pending = np.arange(len(base))
        for attempt in range(ATTEMPTS):
            bits = base[pending]
            for column in range(2):
                family, member = (bits, _FAMILY, column, attempt), (bits, _MEMBER, column, attempt)
                drawn[pending, column] = self.families.draw(family, member)
            pending = pending[drawn[pending, 0] == drawn[pending, 1]]
            if not len(pending):
                break
        return drawn

    def strings(
        self, specs: NDArray[np.int32], base: NDArray[np.uint64], attempt: int
    ) -> NDArray[np.int64]:  # (n, 3)
        """x, x' and x'', among the strings that their rules may be applied to."""
        drawn = np.empty((len(specs), 3), dtype=np.int64)
        pairs, which = np.unique(specs[:, [RIGHT, WRONG]], axis=0, return_inverse=True)
        for number, (right, wrong) in enumerate(pairs):
            some = np.flatnonzero(which == number)
            under_right = np.flatnonzero(self.allowed[right])
            under_both = np.flatnonzero(self.allowed[right] & self.allowed[wrong])
            if not len(under_both):
                raise FineError(
                    "no string may be shown under both rules of a puzzle: use more strings, or "
                    "other rules"
                )
            for column, pool in enumerate((under_right, under_both, under_both)):
                place = random_below(len(pool), base[some], _STRING, column, attempt)
                drawn[some, column] = self.classes[pool[place]]
        return drawn


def _is_sound(outcomes: Outcomes, specs: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Whether strings and choices differ, and the hint shows f and not g: bool (n,)."""
    columns = (FIRST, SECOND, OTHER, RIGHT, WRONG)
    x, second, other, right, wrong = (specs[:, column] for column in columns)
    sound = (x != second) & (x != other) & (second != other)
    numbers = outcomes.numbers
    for unchanged in (numbers[-1, x], numbers[wrong, x]):
        sound &= (numbers[right, x] != unchanged).any(axis=1)
    choices = [numbers[rule, string] for string in (second, other) for rule in (right, wrong)]
    for one, two in combinations(choices, 2):
        sound &= (one != two).any(axis=1)
    return sound
