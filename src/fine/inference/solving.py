"""Puzzles solved, one or many at once: by the network in batches, and on the pixels one by one.

    answer = solve(model, "x.png", "y.png", "new.png", ["a.png", "b.png"])
    answers = solve_many(model, images)      # (n, 3 + k, channels, size, size), many at once

answers.py says how both come to one answer; ``verify=False`` leaves the network alone.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from fine.errors import FineError
from fine.evaluation.calibration import (
    Calibration,
    OODScores,
    answer_distance,
    calibration_of,
    ood_scores,
)
from fine.evaluation.ood import residual_share
from fine.inference import doubts as doubt
from fine.inference.answers import Answer, decide
from fine.inference.puzzle_images import Hints, ReadPuzzle, check_sees_images, fitted
from fine.inference.reading import Source
from fine.inference.verification import NOTHING, look
from fine.models.embedding_functions import compose_function
from fine.models.finite import check_finite
from fine.models.paper import FINE

Puzzle = tuple[Hints, Hints, Source, Iterable[Source]]
"""x, y, x' and the choices; a `PuzzleImages` is one."""

_BATCH = 100  # puzzles at once: their feature maps stay in the processor's cache
_ROUNDING = 1e-3  # of brightness


def solve(
    model: FINE,
    x: Hints,
    y: Hints,
    new: Source,
    choices: Iterable[Source],
    *,
    verify: bool = True,
    calibration: Calibration | None = None,
) -> Answer:
    """Which of the choices is to ``new`` what y is to x.

    Images are whatever `read_image` takes: paths, bytes, Pillow images, arrays or tensors.

    Args:
        model: A model that composes functions, as `load` returns it.
        x: The image of the example; or several, one for each hint.
        y: What became of it, or of each of them.
        new: Another image.
        choices: What may become of that one; at least two.
        verify: Whether rules are tried on the pixels, too; if not, the network answers alone.
        calibration: That of the model; by default the one it was loaded with, if any.

    Examples:
        >>> import fine
        >>> model = fine.load("all-glyphs")
        >>> task = fine.Task(images="glyphs", rules="reflection", test_classes=20, test_count=10)
        >>> puzzles = task.test_puzzles()
        >>> x, y, new, *choices = puzzles.render([0]).images[0]
        >>> answer = fine.solve(model, x, y, new, choices)
        >>> answer.letter, answer.rule.label
        ('C', 'reflection left-right')
        >>> files = ["a.png", "b.png", "c.png"]
        >>> fine.solve(model, "x.png", "y.png", "new.png", files)  # doctest: +SKIP
    """
    puzzle = [(x, y, new, choices)]
    return solve_many(model, puzzle, verify=verify, calibration=calibration)[0]


@torch.inference_mode()
def solve_many(
    model: FINE,
    puzzles: Tensor | Iterable[Puzzle],
    *,
    verify: bool = True,
    calibration: Calibration | None = None,
) -> list[Answer]:
    """The answers to many puzzles, in batches: far faster than one by one.

    Args:
        model: A model that composes functions, as `load` returns it.
        puzzles: (x, y, x', choices) each, of anything that `read_image` takes; or one float tensor
            (n, 3 + k, channels, side, side) in 0..1.
        verify: Whether rules are tried on the pixels, too; if not, the network answers alone.
        calibration: That of the model; by default the one it was loaded with, if any.

    Examples:
        >>> import fine
        >>> task = fine.Task(images="glyphs", rules="reflection", test_classes=20, test_count=10)
        >>> puzzles = task.test_puzzles()
        >>> answers = fine.solve_many(fine.load("all-glyphs"), puzzles.render(range(10)).images)
        >>> len(answers), len(answers[0].probabilities)
        (10, 4)
    """
    check_sees_images(model)
    model.eval()
    solver = _Solver(model, verify=verify, calibration=calibration or calibration_of(model))
    if isinstance(puzzles, Tensor):
        parts = _read_puzzles(puzzles).split(_BATCH)
        return [answer for part in parts if len(part) for answer in solver.tensors(part)]
    answers: dict[int, Answer] = {}
    # Only puzzles with as many hints and choices fit into one batch.
    waiting: dict[tuple[int, int], list[tuple[int, ReadPuzzle]]] = {}

    def solve_waiting(shape: tuple[int, int]) -> None:
        numbers, read = zip(*waiting.pop(shape), strict=True)
        answers.update(zip(numbers, solver.puzzles(read), strict=True))

    for number, (x, y, new, choices) in enumerate(puzzles):
        puzzle = ReadPuzzle.read(x, y, new, list_choices(choices))
        shape = (puzzle.hints, len(puzzle.images))
        batch = waiting.setdefault(shape, [])
        batch.append((number, puzzle))
        if len(batch) == _BATCH:
            solve_waiting(shape)
    for shape in list(waiting):
        solve_waiting(shape)
    return [answers[number] for number in sorted(answers)]


@dataclass(frozen=True)
class _Solver:
    """How puzzles are answered."""

    model: FINE
    verify: bool
    calibration: Calibration | None

    def tensors(self, images: Tensor) -> list[Answer]:  # (b, 3 + k, channels, side, side)
        """Answers to puzzles with one hint each, in one tensor."""
        precision = next(self.model.parameters()).dtype
        scores = ood_scores(self.model, fitted(self.model, images.to(precision)))
        read = [ReadPuzzle(1, tuple(puzzle.float())) for puzzle in images]
        return self._answers(scores, read)

    def puzzles(self, puzzles: Sequence[ReadPuzzle]) -> list[Answer]:
        """Answers to puzzles with as many hints and choices each."""
        precision = next(self.model.parameters()).dtype
        sized = torch.stack([puzzle.sized(self.model) for puzzle in puzzles])
        images = fitted(self.model, sized, plain=puzzles[0].plain).to(precision)
        return self._answers(_scores(self.model, images, puzzles[0]), puzzles)

    def _answers(self, scores: OODScores, puzzles: Sequence[ReadPuzzle]) -> list[Answer]:
        own = check_finite(scores.logits.softmax(dim=1))
        calibrated = (
            own if self.calibration is None else self.calibration.probabilities(scores.logits)
        )
        beyond = self._beyond(scores)
        answers = []
        for number, puzzle in enumerate(puzzles):
            evidence = look(puzzle) if self.verify else NOTHING
            answers.append(
                decide(
                    calibrated[number].tolist(),
                    own[number].tolist(),
                    evidence,
                    network=tuple(doubt for doubt, found in beyond if found[number]),
                    residual=float(scores.residual[number]),
                    distance=float(scores.distance[number]),
                )
            )
        return answers

    def _beyond(self, scores: OODScores) -> list[tuple[str, Tensor]]:
        """The network's own doubts, and which puzzles have them."""
        if self.calibration is None:
            return []
        reasons = (doubt.UNKNOWN_RULE, doubt.NONE_FITS, doubt.NONE_STANDS_OUT)
        return list(zip(reasons, self.calibration.beyond(scores), strict=True))


def _scores(model: FINE, images: Tensor, puzzle: ReadPuzzle) -> OODScores:
    """The network's scores of puzzles (b, n, channels, size, size) that are shaped like one."""
    if puzzle.hints == 1:
        return ood_scores(model, images)
    embeddings = model.encode(images, firsts=puzzle.firsts)
    hints = 2 * puzzle.hints
    xs, ys = embeddings[:, 0:hints:2].unbind(1), embeddings[:, 1:hints:2].unbind(1)
    new, choices = embeddings[:, hints], embeddings[:, hints + 1 :]
    guess = compose_function(model, xs, ys)(new)
    logits = check_finite(-model.distance(choices, guess[:, None]))
    residual = residual_share(model, torch.cat(xs, dim=2), torch.cat(ys, dim=2))
    return OODScores(logits, check_finite(residual), answer_distance(model, guess, choices, logits))


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
