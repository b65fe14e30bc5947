"""What there is to show of a puzzle, whether on a sheet or in a terminal."""

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
"""The place that a model chose, from 0, for every puzzle of a set."""

LETTERS = "ABCD"
TICK, CROSS = "✓", "✗"


@dataclass(frozen=True)
class View:
    """What there is to show of one puzzle; texts that are not to be shown are empty."""

    number: int
    images: Tensor
    """uint8 (7, channels, size, size)."""
    strings: Sequence[str] = ()
    """The seven strings, if the puzzle is about strings."""
    marks: Sequence[str] = ("",) * 4
    """Of each choice: TICK, CROSS or nothing."""
    kinds: Sequence[str] = ("",) * 4
    """What each choice is."""
    rule: str = ""
    wrong_rule: str = ""
    answered: str = ""
    """What the model answered."""

    @property
    def caption(self) -> str:
        """The number, the rule and what was answered, as far as they are to be shown."""
        return " · ".join(filter(None, (f"puzzle {self.number}", self.rule, self.answered)))


def solved_and_missed(
    puzzles: Puzzles, chosen: Chosen, *, solved: int, missed: int
) -> dict[str, list[int]]:
    """The first puzzles that were solved and that were missed, as groups to draw."""
    right = check_chosen(puzzles, chosen) == puzzles.answers
    groups = {
        "solved": np.flatnonzero(right)[:solved].tolist(),
        "missed": np.flatnonzero(~right)[:missed].tolist(),
    }
    return {heading: numbers for heading, numbers in groups.items() if numbers}


def make_views(
    puzzles: Puzzles, numbers: Numbers, *, answers: bool, chosen: Chosen | None
) -> dict[str, list[View]]:
    """The views of puzzles under their headings; without headings, under an empty one.

    ``answers`` shows what is right; ``chosen`` does that too, and shows what was chosen.
    """
    places = None if chosen is None else check_chosen(puzzles, chosen)
    groups = numbers if isinstance(numbers, Mapping) else {"": numbers}
    drawn = [number for members in groups.values() for number in members]
    check_numbers(puzzles, drawn)
    images = iter(puzzles.render(drawn).images.mul(255).round().byte())
    strings = iter(puzzles.texts(drawn) or [()] * len(drawn))

    def view(number: int) -> View:
        if not answers and places is None:
            return View(number, next(images), next(strings))
        place = None if places is None else int(places[number])
        return _with_answer(puzzles, number, next(images), next(strings), place)

    return {heading: [view(number) for number in members] for heading, members in groups.items()}


def _with_answer(
    puzzles: Puzzles, number: int, images: Tensor, strings: Sequence[str], chosen: int | None
) -> View:
    """A view that shows what is right, and what was chosen."""
    kinds = [KINDS[kind] for kind in puzzles.kinds[number]]
    marks = [TICK if kind == KINDS[0] else "" for kind in kinds]
    answered = ""
    if chosen is not None:
        marks[chosen] = marks[chosen] or CROSS
        answered = f"answered {LETTERS[chosen]} {marks[chosen]} {kinds[chosen]}"
    rules, spec = puzzles.rules.rules, puzzles.specs[number]
    right, wrong = str(rules[spec[RIGHT]]), str(rules[spec[WRONG]])
    return View(number, images, strings, marks, kinds, right, wrong, answered)


def check_numbers(puzzles: Puzzles, numbers: Sequence[int]) -> None:
    """Refuse to draw nothing, and puzzles that the set does not have."""
    if not numbers:
        raise FineError("there are no puzzles to draw: give at least one puzzle number")
    for number in numbers:
        if not 0 <= number < len(puzzles):
            raise FineError(
                f"there is no puzzle {number}: the set has {len(puzzles)}, numbered from 0"
            )


def check_chosen(puzzles: Puzzles, chosen: Chosen) -> NDArray[np.int64]:
    """The chosen places as an array, if there is one for every puzzle."""
    places = np.asarray(chosen, dtype=np.int64)
    count, choices = puzzles.kinds.shape
    if places.shape != (count,):
        raise FineError(
            f"chosen has shape {places.shape}: expected a place for every puzzle, ({count},)"
        )
    if not np.isin(places, range(choices)).all():
        *some, last = map(str, range(choices))
        valid = f"{', '.join(some)} or {last}"
        raise FineError(f"chosen goes from {places.min()} to {places.max()}: a place is {valid}")
    return places
