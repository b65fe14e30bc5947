"""What there is to show of a puzzle, whether it ends up on a sheet or in a terminal."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from fine.errors import FineError
from fine.puzzles import KINDS, RIGHT, WRONG, Puzzles

Numbers = Sequence[int] | Mapping[str, Sequence[int]]
"""Puzzles to draw: their numbers, or groups of numbers under headings."""
Chosen = Sequence[int] | NDArray[np.int64]
"""The place a model chose, 0 to 3, for every puzzle of a set."""

LETTERS = "ABCD"
TICK, CROSS = "✓", "✗"


def solved_and_missed(puzzles: Puzzles, chosen: Chosen, *, solved: int, missed: int) -> dict[str, list[int]]:
    """The first so many puzzles that were solved and that were missed, as groups to draw."""
    right = checked(puzzles, chosen) == puzzles.answers
    groups = {"solved": np.flatnonzero(right)[:solved].tolist(), "missed": np.flatnonzero(~right)[:missed].tolist()}
    return {heading: numbers for heading, numbers in groups.items() if numbers}


@dataclass(frozen=True)
class View:
    """What there is to show of one puzzle; texts are empty where they are not to be told."""

    number: int
    pictures: Tensor
    """uint8 (7, channels, size, size)."""
    marks: Sequence[str]
    """Of each choice: TICK, CROSS or nothing."""
    kinds: Sequence[str]
    rule: str
    wrong_rule: str
    verdict: str
    """What the model answered."""
    texts: Sequence[str] = ()
    """What the seven pictures say, where they are strings."""


def look_at(puzzles: Puzzles, numbers: Numbers, answers: bool, chosen: Chosen | None) -> dict[str, list[View]]:
    places = None if chosen is None else checked(puzzles, chosen)
    groups = numbers if isinstance(numbers, Mapping) else {"": numbers}
    every = [number for members in groups.values() for number in members]
    if not every:
        raise FineError("there are no puzzles to draw: give at least one puzzle number")
    for number in every:
        if not 0 <= number < len(puzzles):
            raise FineError(f"there is no puzzle {number}: the set has {len(puzzles)}, numbered from 0")
    pictures = iter(puzzles.render(every).pictures.mul(255).round().byte())
    texts = iter(puzzles.texts(every) or [()] * len(every))

    def view(number: int) -> View:
        picture, text, spec = next(pictures), next(texts), puzzles.specs[number]
        if not answers and places is None:
            return View(number, picture, [""] * 4, [""] * 4, "", "", "", text)
        kinds = [KINDS[kind] for kind in puzzles.kinds[number]]
        marks = [TICK if kind == KINDS[0] else "" for kind in kinds]
        verdict = ""
        if places is not None:
            place = places[number]
            marks[place] = marks[place] or CROSS
            verdict = f"answered {LETTERS[place]} {marks[place]} {kinds[place]}"
        right, wrong = (str(puzzles.rules.rules[spec[column]]) for column in (RIGHT, WRONG))
        return View(number, picture, marks, kinds, right, wrong, verdict, text)

    return {heading: [view(number) for number in members] for heading, members in groups.items()}


def checked(puzzles: Puzzles, chosen: Chosen) -> NDArray[np.int64]:
    places = np.asarray(chosen, dtype=np.int64)
    if places.shape != (len(puzzles),):
        raise FineError(f"chosen has shape {places.shape}: expected a place for every puzzle, ({len(puzzles)},)")
    if not np.isin(places, range(4)).all():
        raise FineError(f"chosen goes from {places.min()} to {places.max()}: a place is 0, 1, 2 or 3")
    return places
