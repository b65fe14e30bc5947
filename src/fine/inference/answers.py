"""Answers to puzzles: which choice is taken, how sure that is, by which rule, what is doubtful.

    answer = solve(model, "x.png", "y.png", "new.png", ["a.png", "b.png"])
    answer.letter, answer.probability, answer.rule, answer.doubts
    answers = solve_many(model, images)      # (n, 3 + k, channels, size, size), many at once

A network and the pixels have a say, and both are kept apart. The network composes a function and
takes the choice nearest to what it makes of x'. Beside it, rules are tried on the pixels of the
hint. If one explains them and makes exactly one of the choices out of x', that choice is taken.
``model_probabilities`` are the network's alone, and ``verify=False`` leaves it alone.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from fine.drawing.terminal import choice_name
from fine.errors import FineError
from fine.evaluation.calibration import Calibration, OODScores, calibration_of, ood_scores
from fine.evaluation.ood import residual_share
from fine.inference import doubts as doubt
from fine.inference.naming import NamedRule
from fine.inference.puzzle_images import Hints, ReadPuzzle, check_sees_images, fitted
from fine.inference.reading import Source
from fine.inference.verification import NOTHING, Evidence, look, tolerance
from fine.models.embedding_functions import compose_function
from fine.models.finite import check_finite
from fine.models.paper import FINE

Puzzle = tuple[Hints, Hints, Source, Iterable[Source]]
"""x, y, x' and the choices; a `PuzzleImages` is one."""

VERIFIED = 0.97
"""How sure an answer is, at least, that a rule has made to the pixel: set by hand, below the share
of such answers that were right (docs/solve.md)."""
AMBIGUOUS = 0.1
"""If rules that explain the hint make things of x' that differ by more, it shows too little."""
UNEXPLAINED = 0.2
"""A difference of the hint with which no rule is near to explaining it."""
_BATCH = 100  # puzzles at once: their feature maps stay in the processor's cache
_ROUNDING = 1e-3  # of brightness


@dataclass(frozen=True)
class Answer:
    """What is taken for the answer, and why.

    Examples:
        >>> import fine
        >>> answer = fine.Answer(index=1, probabilities=(0.1, 0.7, 0.1, 0.1))
        >>> answer.letter, answer.probability
        ('B', 0.7)
    """

    index: int
    """The place of the choice, from 0."""
    probabilities: tuple[float, ...]
    """One for each choice; together 1. Calibrated, if the model is."""
    model_probabilities: tuple[float, ...] = ()
    """What the network alone says, as it is."""
    rule: NamedRule | None = None
    """The rule that was found on the pixels of the hint; None if none explains it."""
    verified: bool = False
    """Whether that rule makes exactly this one of the choices out of x'."""
    doubts: tuple[str, ...] = ()
    """What speaks against any answer; empty: the answer stands."""
    residual: float = 0.0
    """What the network's memory leaves of the hint, as a share of y."""
    distance: float = 0.0
    """From f(x') to the choice that the network takes, relative to the size of that choice."""
    evidence: Evidence = NOTHING
    """What the pixels say."""

    @property
    def probability(self) -> float:
        """How sure the answer is."""
        return self.probabilities[self.index]

    @property
    def letter(self) -> str:
        """The choice as people call it: A, B, C …"""
        return choice_name(self.index)

    @property
    def model_index(self) -> int:
        """The choice that the network takes by itself."""
        values = self.model_probabilities or self.probabilities
        return values.index(max(values))


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
                _decide(
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
    chosen = choices[torch.arange(len(choices)), logits.argmax(1)]
    size = model.distance(torch.zeros_like(chosen), chosen).clamp(min=1e-8)
    residual = residual_share(model, torch.cat(xs, dim=2), torch.cat(ys, dim=2))
    distance = check_finite(model.distance(guess, chosen) / size)
    return OODScores(logits, check_finite(residual), distance)


def _decide(
    calibrated: list[float],
    own: list[float],
    evidence: Evidence,
    *,
    network: tuple[str, ...],
    residual: float,
    distance: float,
) -> Answer:
    """The answer that the network and the pixels give together."""
    place = _deciding(evidence, own)
    probabilities, index = calibrated, own.index(max(own))
    if place is not None:
        index = evidence.made[place]
        # What is left of certainty is shared out as the network would.
        probabilities = [(1 - VERIFIED) * value for value in calibrated]
        probabilities[index] += VERIFIED
    rule = named(evidence, place or 0)
    return Answer(
        index=index,
        probabilities=tuple(probabilities),
        model_probabilities=tuple(own),
        rule=rule,
        verified=place is not None,
        doubts=_doubts(evidence, network, verified=place is not None),
        residual=residual,
        distance=distance,
        evidence=evidence,
    )


def _deciding(evidence: Evidence, own: Sequence[float]) -> int | None:
    """The place of the rule that decides: it makes exactly one choice.

    If several do that differ, the network says which.
    """
    places = [place for place, made in enumerate(evidence.made) if made >= 0]
    if not places:
        return None
    return max(places, key=lambda place: (own[evidence.made[place]], -place))


def named(evidence: Evidence, place: int = 0) -> NamedRule | None:
    """A rule that was found, as one with a name; its probability is the share that it explains."""
    if not evidence.found:
        return None
    found = evidence.found[place]
    first = found.rules[0]
    return NamedRule(
        family=first.family.name if len(found.rules) == 1 else "several",
        parameters=first.parameters if len(found.rules) == 1 else (),
        label=found.label,
        probability=1 - min(1.0, found.difference),
        errors=found.errors,
        parts=found.rules,
    )


def _doubts(evidence: Evidence, network: tuple[str, ...], *, verified: bool) -> tuple[str, ...]:
    if len(evidence.possible) > 1:
        return (doubt.SHOWS_NOTHING,)
    if verified:
        return ()
    if not evidence.found:
        unknown = evidence is not NOTHING and evidence.difference > UNEXPLAINED
        return tuple(dict.fromkeys((*([doubt.UNKNOWN_RULE] if unknown else []), *network)))
    least = min(evidence.choice_differences)
    near = [
        difference
        for difference in evidence.choice_differences
        if difference <= tolerance(evidence.found[0])
    ]
    if len(near) > 1:
        return (doubt.EQUALLY_GOOD,)
    if evidence.ambiguity > AMBIGUOUS:
        return (doubt.SHOWS_NOTHING,)
    return (doubt.NONE_FITS,) if least > tolerance(evidence.found[0]) else ()


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
    """Logits as answers of the network alone."""
    probabilities = check_finite(logits.softmax(dim=1))
    rows = zip(probabilities.argmax(dim=1).tolist(), probabilities.tolist(), strict=True)
    return [Answer(index, tuple(row), tuple(row)) for index, row in rows]


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
