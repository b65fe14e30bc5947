"""What is right about some puzzles: all that is needed to score answers, and no images."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fine.io.typed_json import read_as
from fine.puzzles import KINDS, Puzzles

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""What the choices of a puzzle are called, in their order."""
COLUMNS = ("number", "answer", "kinds", "family", "rule")
"""Columns of an answer key in a table; `rows` makes them and `from_rows` reads them."""


@dataclass(frozen=True, eq=False)
class AnswerKey:
    """The right answer to each puzzle, what its other choices are, and its rule."""

    numbers: NDArray[np.int64]
    """(n,): the number of each puzzle."""
    kinds: NDArray[np.int64]
    """(n, k): 0 for the right choice, 1 wrong rule, 2 wrong object, 3 both wrong."""
    rules: tuple[str, ...]
    """The hidden rule of each puzzle, in words."""
    families: tuple[str, ...]
    """The family of each of these rules."""
    about: Mapping[str, Any]
    """What is known about the puzzles: task, split, seed, version, chances, controls."""

    def __post_init__(self) -> None:
        if self.kinds.ndim != 2 or not 2 <= self.kinds.shape[1] <= len(LETTERS):
            raise ValueError("choices that no puzzle has")
        if not np.isin(self.kinds, range(len(KINDS))).all():
            raise ValueError("an unknown kind of choice")
        if not ((self.kinds == 0).sum(axis=1) == 1).all():
            raise ValueError("a puzzle that has not one right choice")
        if len(np.unique(self.numbers)) != len(self.numbers):
            raise ValueError("a number that two puzzles have")
        for name in ("chance", "controls"):
            read_as(dict[str, float], self.about.get(name, {}), name)

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def answers(self) -> NDArray[np.int64]:
        """(n,): the place of the right choice."""
        return self.kinds.argmin(axis=1)

    @property
    def letters(self) -> str:
        """What a puzzle's choices are called."""
        return LETTERS[: self.kinds.shape[1]]

    @staticmethod
    def of(
        puzzles: Puzzles, *, start: int = 0, about: Mapping[str, Any] | None = None
    ) -> "AnswerKey":
        """The key of these puzzles, numbered from ``start``."""
        hidden = [puzzles.rules.rules[rule] for rule in puzzles.hidden]
        return AnswerKey(
            numbers=np.arange(start, start + len(puzzles)),
            kinds=puzzles.kinds,
            rules=tuple(map(str, hidden)),
            families=tuple(rule.family.name for rule in hidden),
            about={"chance": puzzles.chances, **(about or {})},
        )

    def rows(self) -> list[dict[str, str]]:
        """The key as rows of a table, with texts for values."""
        rows = []
        for place, number in enumerate(self.numbers.tolist()):
            kinds = "".join(map(str, self.kinds[place].tolist()))
            answer = LETTERS[kinds.index("0")]
            values = (str(number), answer, kinds, self.families[place], self.rules[place])
            rows.append(dict(zip(COLUMNS, values, strict=True)))
        return rows

    @staticmethod
    def from_rows(rows: Iterable[Mapping[str, str]], about: Mapping[str, Any]) -> "AnswerKey":
        """The key in a table; a ValueError or KeyError if it is none."""
        numbers, kinds, rules, families = [], [], [], []
        for row in rows:
            numbers.append(int(row["number"]))
            kinds.append([int(kind) for kind in row["kinds"]])
            families.append(row["family"])
            rules.append(row["rule"])
        if not numbers:
            raise ValueError("no puzzles")
        if not isinstance(about, dict):
            raise ValueError("nothing about them")
        return AnswerKey(
            numbers=np.array(numbers, dtype=np.int64),
            kinds=np.array(kinds, dtype=np.int64),
            rules=tuple(rules),
            families=tuple(families),
            about=about,
        )
