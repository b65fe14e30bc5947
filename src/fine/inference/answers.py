"""Answers to puzzles: which of the choices a model takes, and how sure it is.

answer = solve(model, "x.png", "y.png", "new.png", ["a.png", "b.png"])   # answer.index,
.probabilities answers = solve_many(model, images)      # (n, 3 + k, channels, size, size), many at
once
"""

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import Tensor

from fine.drawing.terminal import choice_name
from fine.errors import FineError
from fine.inference.puzzle_images import fitted, read_all
from fine.inference.reading import Source
from fine.models.finite import check_finite
from fine.models.paper import FINE

Puzzle = tuple[Source, Source, Source, Iterable[Source]]
"""x, y, x' and the choices; a `PuzzleImages` is one."""

_BATCH = 100  # puzzles at once: their feature maps stay in the processor's cache
_ROUNDING = 1e-3  # of brightness


@dataclass(frozen=True)
class Answer:
    """What a model takes for the answer.

    Examples:
        >>> import fine
        >>> answer = fine.Answer(index=1, probabilities=(0.1, 0.7, 0.1, 0.1))
        >>> answer.letter, answer.probability
        ('B', 0.7)
    """

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


def solve(model: FINE, x: Source, y: Source, new: Source, choices: Iterable[Source]) -> Answer:
    """Which of the choices is to ``new`` what y is to x.

    Images are whatever `read_image` takes: paths, bytes, Pillow images, arrays or tensors.

    Args:
        model: A model that composes functions, as `load` returns it.
        x: The image of the example.
        y: What became of it.
        new: Another image.
        choices: What may become of that one; at least two.

    Examples:
        >>> import fine
        >>> model = fine.load("all-glyphs")
        >>> task = fine.Task(images="glyphs", rules="reflection", test_classes=20, test_count=10)
        >>> puzzles = task.test_puzzles()
        >>> x, y, new, *choices = puzzles.render([0]).images[0]
        >>> fine.solve(model, x, y, new, choices).letter
        'C'
        >>> files = ["a.png", "b.png", "c.png"]
        >>> fine.solve(model, "x.png", "y.png", "new.png", files)  # doctest: +SKIP
    """
    return solve_many(model, [(x, y, new, choices)])[0]


@torch.inference_mode()
def solve_many(model: FINE, puzzles: Tensor | Iterable[Puzzle]) -> list[Answer]:
    """The answers to many puzzles, in batches: far faster than one by one.

    Args:
        model: A model that composes functions, as `load` returns it.
        puzzles: (x, y, x', choices) each, of anything that `read_image` takes; or one float tensor
            (n, 3 + k, channels, side, side) in 0..1.

    Examples:
        >>> import fine
        >>> task = fine.Task(images="glyphs", rules="reflection", test_classes=20, test_count=10)
        >>> puzzles = task.test_puzzles()
        >>> answers = fine.solve_many(fine.load("all-glyphs"), puzzles.render(range(10)).images)
        >>> len(answers), len(answers[0].probabilities)
        (10, 4)
    """
    model.eval()
    if isinstance(puzzles, Tensor):
        parts = _read_puzzles(puzzles).split(_BATCH)
        return [answer for part in parts if len(part) for answer in _solve(model, part)]
    answers: dict[int, Answer] = {}
    # By number of choices: only puzzles with as many fit into one batch.
    waiting: dict[int, list[tuple[int, Tensor]]] = {}

    def solve_waiting(count: int) -> None:
        numbers, images = zip(*waiting.pop(count), strict=True)
        answers.update(zip(numbers, _solve(model, torch.stack(images)), strict=True))

    for number, (x, y, new, choices) in enumerate(puzzles):
        shown = list_choices(choices)
        batch = waiting.setdefault(len(shown), [])
        batch.append((number, read_all(model, [x, y, new, *shown])))
        if len(batch) == _BATCH:
            solve_waiting(len(shown))
    for count in list(waiting):
        solve_waiting(count)
    return [answers[number] for number in sorted(answers)]


def list_choices(choices: Iterable[Source]) -> list[Source]:
    """The choices of a puzzle as a list; an error if there is nothing to choose from."""
    if not isinstance(choices, Iterable):
        raise FineError(
            f"the choices are a {type(choices).__name__}: give a list of at least 2 images"
        )
    shown = list(choices)
    if len(shown) < 2:
        raise FineError(f"there are {len(shown)} choices: a puzzle needs at least 2 to choose from")
    return shown


def check_dense(tensor: Tensor) -> None:
    """Refuse a tensor that does not hold a number in every place."""
    if tensor.is_meta or tensor.is_nested or tensor.layout != torch.strided:
        raise FineError(
            f"a {tensor.layout} tensor of {tensor.dtype} on '{tensor.device}' holds no images: "
            "give a dense one with values"
        )


def answers_of(logits: Tensor) -> list[Answer]:  # (b, k)
    """Logits as answers."""
    probabilities = check_finite(logits.softmax(dim=1))
    rows = zip(probabilities.argmax(dim=1).tolist(), probabilities.tolist(), strict=True)
    return [Answer(index, tuple(row)) for index, row in rows]


def _read_puzzles(puzzles: Tensor) -> Tensor:  # (n, 3 + k, channels, side, side), same
    """The puzzles themselves, if a model can see them."""
    check_dense(puzzles)
    is_square = puzzles.ndim == 5 and puzzles.shape[3] == puzzles.shape[4] > 0
    if not is_square or puzzles.shape[1] < 5 or puzzles.shape[2] not in (1, 3):
        raise FineError(
            f"puzzles have shape {tuple(puzzles.shape)}: expected (n, 3 + choices, channels, "
            "size, size), with 1 or 3 channels"
        )
    if not puzzles.is_floating_point():
        raise FineError(f"puzzles are of {puzzles.dtype}: give floats between 0 and 1")
    if not len(puzzles):
        return puzzles
    if puzzles.dtype != torch.float64:
        puzzles = puzzles.float()
    darkest, brightest = map(float, puzzles.aminmax())
    # Interpolation may go beyond by a rounding error; what is not a number fails as well.
    if not (darkest > -_ROUNDING and brightest < 1 + _ROUNDING):
        raise FineError(
            "puzzles must have brightness between 0 and 1: divide them by their white, such as 255"
        )
    return puzzles


def _solve(model: FINE, puzzles: Tensor) -> list[Answer]:  # (b, 3 + k, channels, side, side)
    precision = next(model.parameters()).dtype
    return answers_of(model(fitted(model, puzzles.to(precision))))
