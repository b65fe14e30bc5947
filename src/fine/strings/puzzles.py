"""Puzzles over strings: the same six integers, the same four kinds of choices, shown as grids.

    puzzles = draw_string_puzzles(load_strings("strings"), string_rules("all"), 1000, seed=0)
    puzzles.texts([0])                         # [("abc", "abd", "mnp", "mnq", …)]: x, y, x' and the choices A B C D

No two choices are equal. The example shows a change, one that tells the right rule from the wrong one: f(x) is neither x nor
g(x). A string of letters that training shows never becomes one with a letter that it does not, so that a held-back letter is
not even seen in an answer.
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
from fine.puzzles import FIRST, ORDER, ORDERS, OTHER, RIGHT, SECOND, WRONG, Batch, Puzzles, Renderer
from fine.randomness import random_below, random_bits
from fine.strings.alphabet import SEEN, grids_of, numbers_of, text_of
from fine.strings.rules import StringRules

_ATTEMPTS = 200


class Outcomes:
    """Every string of a pool as it is and under every rule, as numbers of letters."""

    def __init__(self, texts: tuple[str, ...], rules: StringRules):
        plain = numbers_of(texts)
        changed = [numbers_of([rules.apply(rule, text) for text in texts]) for rule in range(len(rules))]
        self.numbers = np.stack((*changed, plain))
        """int8 (rules + 1, strings, SIZE); the last is the string as it is."""
        seen = self.numbers.max(axis=2) < len(SEEN)
        self.allowed = (seen | ~seen[-1])[:-1] & (self.numbers[:-1, :, 0] >= 0)
        """bool (rules, strings): whether a puzzle may show this string under this rule."""


@dataclass(frozen=True)
class StringPuzzles(Puzzles):
    """A numbered set of puzzles over strings."""

    outcomes: Outcomes

    def renderer(self, device: torch.device | str = "cpu") -> "StringRenderer":
        return StringRenderer(self, device)

    def texts(self, numbers: Iterable[int]) -> list[tuple[str, ...]]:
        shown = self.outcomes.numbers[places_of(self.specs[np.asarray(list(numbers), dtype=np.int64)], len(self.rules))]
        return [tuple(text_of(text) for text in puzzle) for puzzle in shown]


class StringRenderer(Renderer):
    """Turns specs over strings into grids."""

    def __init__(self, puzzles: StringPuzzles, device: torch.device | str = "cpu"):
        self.device = torch.device(device)
        self.rules = len(puzzles.rules)
        self.numbers = torch.from_numpy(puzzles.outcomes.numbers).to(self.device)

    def __call__(self, specs: NDArray[np.int32]) -> Batch:
        rules, strings = (torch.from_numpy(places).to(self.device) for places in places_of(specs, self.rules))
        answers = torch.from_numpy((ORDERS[specs[:, ORDER]]).argmin(axis=1)).to(self.device)
        return Batch(grids_of(self.numbers[rules, strings]), answers)


def places_of(specs: NDArray[np.int32], plain: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Which rule and which string each of the seven texts of a puzzle is: int64 (b, 7) twice; ``plain`` is no rule."""
    kinds = ORDERS[specs[:, ORDER]]  # (b, 4)
    strings = np.where(kinds < 2, specs[:, [SECOND]], specs[:, [OTHER]])
    rules = np.where(kinds % 2 == 0, specs[:, [RIGHT]], specs[:, [WRONG]])
    no_rule = np.full((len(specs), 1), plain)
    shown = np.concatenate((no_rule, specs[:, [RIGHT]], no_rule, rules), axis=1)
    whose = np.concatenate((specs[:, [FIRST, FIRST, SECOND]], strings), axis=1)
    return shown.astype(np.int64), whose.astype(np.int64)


def draw_string_puzzles(
    strings: Images, rules: StringRules, count: int, *, seed: int, start: int = 0, classes: Sequence[int]
) -> StringPuzzles:
    """Puzzles number ``start`` … ``start + count − 1`` of ``seed``, over the given strings of a pool: x, x' and x'' differ."""
    outcomes = _outcomes(strings.class_names, rules)
    draw = _Drawer(outcomes, rules, np.asarray(classes, dtype=np.int64))
    specs = np.empty((count, 6), dtype=np.int32)
    attempts = np.zeros(count, dtype=np.uint8)
    base = random_bits(seed, np.arange(start, start + count))
    specs[:, [RIGHT, WRONG]] = draw.rules(base)
    specs[:, ORDER] = random_below(len(ORDERS), base, 1)
    pending = np.arange(count)
    for attempt in range(_ATTEMPTS):
        specs[pending[:, None], [FIRST, SECOND, OTHER]] = draw.strings(specs[pending], base[pending], attempt)
        attempts[pending] += 1
        pending = pending[~_sound(outcomes, specs[pending])]
        if not len(pending):
            return StringPuzzles(strings, rules, specs, attempts, outcomes)
    one, two = (str(rules.rules[specs[pending[0], column]]) for column in (RIGHT, WRONG))
    raise FineError(
        f"after {_ATTEMPTS} draws there is no puzzle over {strings.name} that tells {one} from {two}: use more strings, or "
        "other rules"
    )


_outcomes = functools.lru_cache(maxsize=8)(Outcomes)  # an epoch of fresh puzzles is about the same strings as the last


class _Drawer:
    """Rules and strings from addressed random numbers, all at once."""

    def __init__(self, outcomes: Outcomes, rules: StringRules, classes: NDArray[np.int64]):
        self.members = [np.array(members) for members in rules.families.values()]
        self.classes, self.allowed = classes, outcomes.allowed[:, classes]

    def rules(self, base: NDArray[np.uint64]) -> NDArray[np.int64]:  # (n, 2)
        """f and another g, each by family first, and (f, g) as likely as (g, f): the choices alone tell nothing."""
        sizes = np.array([len(members) for members in self.members])
        rules = np.concatenate(self.members)
        starts = np.cumsum(sizes) - sizes
        drawn = np.zeros((len(base), 2), dtype=np.int64)
        pending = np.arange(len(base))
        for attempt in range(_ATTEMPTS):
            for column in range(2):
                family = random_below(len(sizes), base[pending], 2, column, attempt)
                member = random_below(sizes[family], base[pending], 3, column, attempt)
                drawn[pending, column] = rules[starts[family] + member]
            pending = pending[drawn[pending, 0] == drawn[pending, 1]]
            if not len(pending):
                break
        return drawn

    def strings(self, specs: NDArray[np.int32], base: NDArray[np.uint64], attempt: int) -> NDArray[np.int64]:  # (n, 3)
        """x, x' and x'' among the strings that their rules may happen to."""
        drawn = np.empty((len(specs), 3), dtype=np.int64)
        pairs, which = np.unique(specs[:, [RIGHT, WRONG]], axis=0, return_inverse=True)
        for number, (right, wrong) in enumerate(pairs):
            some = np.flatnonzero(which == number)
            both = np.flatnonzero(self.allowed[right] & self.allowed[wrong])
            for column, fit in enumerate((np.flatnonzero(self.allowed[right]), both, both)):
                if not len(fit):
                    raise FineError("no string may be shown under both rules of a puzzle: use more strings, or other rules")
                drawn[some, column] = self.classes[fit[random_below(len(fit), base[some], 4, column, attempt)]]
        return drawn


def _sound(outcomes: Outcomes, specs: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Whether the three strings differ, the example shows f and not g, and no two choices are equal: bool (n,)."""
    x, new, other, right, wrong = (specs[:, column] for column in (FIRST, SECOND, OTHER, RIGHT, WRONG))
    told = np.ones(len(specs), dtype=np.bool_)
    for before in (outcomes.numbers[-1, x], outcomes.numbers[wrong, x]):
        told &= (outcomes.numbers[right, x] != before).any(axis=1)
    choices = [outcomes.numbers[rule, text] for text in (new, other) for rule in (right, wrong)]
    for one, two in combinations(choices, 2):
        told &= (one != two).any(axis=1)
    return told & (x != new) & (x != other) & (new != other)
