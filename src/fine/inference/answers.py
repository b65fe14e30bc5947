"""Answers to puzzles: which of the choices a model takes, and how sure it is.

answer = solve(model, "x.png", "y.png", "new.png", ["a.png", "b.png"])   # answer.index,
.probabilities answers = solve_many(model, images)      # (n, 3 + k, channels, size, size), many at
once
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from fine.drawing.terminal import choice_name
from fine.errors import FineError
from fine.inference.puzzle_images import fitted, read_all
from fine.inference.reading import Source
from fine.models.paper import FINE

Puzzle = tuple[Source, Source, Source, Sequence[Source]]
"""x, y, x' and the choices; a `PuzzleImages` is one."""

_BATCH = 100  # puzzles at once: their feature maps stay in the processor's cache


@dataclass(frozen=True)
class Answer:
    """What a model takes for the answer."""

    index: int
    """The place of the choice, from 0."""
    probabilities: tuple[float, ...]
    """One for each choice; together 1."""

    @property
    def probability(self) -> float:
        """How sure the model is of its choice."""
        return self.probabilities[self.index]

    @property
    def letter(self) -> str:
        """The choice as people call it: A, B, C …"""
        return choice_name(self.index)


def solve(model: FINE, x: Source, y: Source, new: Source, choices: Sequence[Source]) -> Answer:
    """Which of the choices is to ``new`` what y is to x."""
    return solve_many(model, [(x, y, new, choices)])[0]


@torch.inference_mode()
def solve_many(model: FINE, puzzles: Tensor | Iterable[Puzzle]) -> list[Answer]:
    """The answers to many puzzles, in batches: far faster than one by one.

    Puzzles are (x, y, x', choices) of anything that `read_image` takes; or one float tensor
    (n, 3 + k, channels, side, side) in 0..1.
    """
    model.eval()
    if isinstance(puzzles, Tensor):
        is_square = puzzles.ndim == 5 and puzzles.shape[3] == puzzles.shape[4]
        if not is_square or puzzles.shape[1] < 5:
            raise FineError(
                f"puzzles have shape {tuple(puzzles.shape)}: expected (n, 3 + choices, channels, "
                "size, size)"
            )
        return [answer for part in puzzles.split(_BATCH) for answer in _solve(model, part)]
    answers: dict[int, Answer] = {}
    # By number of choices: only puzzles with as many fit into one batch.
    waiting: dict[int, list[tuple[int, Tensor]]] = {}

    def solve_waiting(count: int) -> None:
        numbers, images = zip(*waiting.pop(count), strict=True)
        answers.update(zip(numbers, _solve(model, torch.stack(images)), strict=True))

    for number, (x, y, new, choices) in enumerate(puzzles):
        check_choices(choices)
        batch = waiting.setdefault(len(choices), [])
        batch.append((number, read_all(model, [x, y, new, *choices])))
        if len(batch) == _BATCH:
            solve_waiting(len(choices))
    for count in list(waiting):
        solve_waiting(count)
    return [answers[number] for number in sorted(answers)]


def check_choices(choices: Sequence[Source]) -> None:
    """Refuse a puzzle with nothing to choose from."""
    if len(choices) < 2:
        raise FineError(
            f"there are {len(choices)} choices: a puzzle needs at least 2 to choose from"
        )


def answers_of(logits: Tensor) -> list[Answer]:  # (b, k)
    """Logits as answers."""
    probabilities = logits.softmax(dim=1)
    rows = zip(probabilities.argmax(dim=1).tolist(), probabilities.tolist(), strict=True)
    return [Answer(index, tuple(row)) for index, row in rows]


def _solve(model: FINE, puzzles: Tensor) -> list[Answer]:  # (b, 3 + k, channels, side, side)
    return answers_of(model(fitted(model, puzzles)))
