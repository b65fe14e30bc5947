"""Answers to puzzles: which of the choices a model takes, and how sure it is.

answer = solve(model, "x.png", "y.png", "new.png", ["a.png", "b.png"])  # answer.index, answer.probabilities
answers = solve_many(model, pictures)  # (n, 3 + k, channels, size, size), many at once
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from fine.drawing.terminal import choice_name
from fine.errors import FineError
from fine.models.fine import FINE
from fine.solving.ink import bright_ink
from fine.solving.pictures import Source, luminance, read_picture, resized

Puzzle = tuple[Source, Source, Source, Sequence[Source]]
"""x, y, x' and the choices."""

_BATCH = 100  # puzzles at once: their maps stay in the cache


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
    """The answers to many puzzles, in batches: far faster a puzzle than one by one.

    Puzzles are (x, y, x', choices), with pictures as `read_picture` takes them; or one float tensor (n, 3 + k, channels, h, w)
    in 0..1 of pictures that are square already.
    """
    model.eval()
    if isinstance(puzzles, Tensor):
        if puzzles.ndim != 5 or puzzles.shape[1] < 5 or puzzles.shape[3] != puzzles.shape[4]:
            raise FineError(f"puzzles have shape {tuple(puzzles.shape)}: expected (n, 3 + choices, channels, size, size)")
        return [answer for part in puzzles.split(_BATCH) for answer in _answers(model, part)]
    answers: dict[int, Answer] = {}
    waiting: dict[int, list[tuple[int, Tensor]]] = {}  # by number of choices, for only those fit into one batch

    def answer_waiting(count: int) -> None:
        numbers, pictures = zip(*waiting.pop(count), strict=True)
        answers.update(zip(numbers, _answers(model, torch.stack(pictures)), strict=True))

    for number, (x, y, new, choices) in enumerate(puzzles):
        if len(choices) < 2:
            raise FineError(f"there are {len(choices)} choices: a puzzle needs at least 2 to choose from")
        group = waiting.setdefault(len(choices), [])
        group.append((number, read_all(model, [x, y, new, *choices])))
        if len(group) == _BATCH:
            answer_waiting(len(choices))
    for count in list(waiting):
        answer_waiting(count)
    return [answers[number] for number in sorted(answers)]


def prepared(model: FINE, sources: Sequence[Source]) -> Tensor:
    """x, y, x' and any choices as the model sees them: (n, channels, size, size)."""
    return fitted(model, read_all(model, sources)[None])[0]


def fitted(model: FINE, pictures: Tensor, plain: Sequence[int] = (0, 2)) -> Tensor:
    """Puzzles (b, n, channels, h, w) in the model's size and channels, and with bright ink on black if it is one for grey.

    ``plain`` are the places of the pictures to which nothing has happened.
    """
    if model.config.encoder == "strings":
        raise FineError("this model reads strings, not pictures: use solve_text, or `fine solve --text X Y NEW`")
    device = next(model.parameters()).device
    sized = _sized(pictures.flatten(0, 1).to(device), model).unflatten(0, pictures.shape[:2])
    # Models for colour have learned from photographs, where a white wall is not paper: they see pictures as they are.
    return bright_ink(sized, plain) if model.channels == 1 else sized


def read_all(model: FINE, sources: Sequence[Source]) -> Tensor:  # (n, channels, size, size)
    """Pictures as people have them in the model's size and channels."""
    return torch.cat([_sized(read_picture(source)[None], model) for source in sources])


def _sized(pictures: Tensor, model: FINE) -> Tensor:  # (n, any, h, w) -> (n, channels, size, size)
    sized = resized(pictures, model.size)
    if sized.shape[1] == model.channels:
        return sized
    return luminance(sized)[:, None] if model.channels == 1 else sized.expand(-1, model.channels, -1, -1)


def _answers(model: FINE, puzzles: Tensor) -> list[Answer]:  # (b, 3 + k, channels, h, w)
    probabilities = model(fitted(model, puzzles)).softmax(dim=1)
    rows = zip(probabilities.argmax(dim=1).tolist(), probabilities.tolist(), strict=True)
    return [Answer(index, tuple(row)) for index, row in rows]
