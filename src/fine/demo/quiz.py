"""Endpoints of the quiz: a puzzle without its answer, and the answer once a person has chosen."""

from typing import NamedTuple

from fastapi import APIRouter
from torch import Tensor

from fine.demo.messages import Name, QuizChoice, QuizPuzzle, QuizResult
from fine.demo.models import Models
from fine.demo.reasons import reasons_of
from fine.demo.solver import Solver
from fine.demo.sources import PUZZLES, quiz_of
from fine.demo.wire import write_png
from fine.demo.wording import in_words
from fine.errors import FineError
from fine.inference import PuzzleImages
from fine.puzzles import KINDS, Puzzles, Renderer


class _Rendered(NamedTuple):
    """A puzzle of the quiz, and what the visitor may know only after choosing."""

    images: Tensor
    """(7, channels, size, size): x, y, x' and the four choices."""
    right: int
    kinds: list[str]
    words: str


def routes(models: Models) -> APIRouter:
    """The endpoints, over these models."""
    router = APIRouter(prefix="/api/puzzles")

    @router.get("/{source}/{number}")
    async def puzzle(source: Name, number: int, model: Name) -> QuizPuzzle:
        """A puzzle of the quiz, without its answer."""
        solver = models[model]
        await models.prepare(_quiz, solver, source)
        return await models.work(_puzzle, solver, source, number)

    @router.post("/{source}/{number}")
    async def result(source: Name, number: int, chosen: QuizChoice) -> QuizResult:
        """The right choice, and the choice of the model."""
        solver = models[chosen.model]
        await models.prepare(_quiz, solver, source)
        rendered = await models.work(_render, solver, source, number)
        x, y, new, *choices = rendered.images
        answer = await models.solve(solver.name, PuzzleImages(x, y, new, tuple(choices)))
        return QuizResult(
            right=rendered.right,
            picked=answer.index,
            probabilities=list(answer.probabilities),
            model_probabilities=list(answer.model_probabilities),
            kinds=rendered.kinds,
            words=rendered.words,
            **reasons_of(answer),
        )

    return router


def _quiz(solver: Solver, source: str) -> tuple[Puzzles, Renderer]:
    return quiz_of(source, rules=solver.rules_name, channels=solver.channels, size=solver.size)


def _puzzle(solver: Solver, source: str, number: int) -> QuizPuzzle:
    x, y, new, *choices = map(write_png, _render(solver, source, number).images)
    return QuizPuzzle(number=number, x=x, y=y, new=new, choices=choices)


def _render(solver: Solver, source: str, number: int) -> _Rendered:
    if not 0 <= number < PUZZLES:
        raise FineError(f"there is no puzzle {number}: give 0 to {PUZZLES - 1}")
    puzzles, render = _quiz(solver, source)
    batch = render(puzzles.specs[number : number + 1])
    rule = puzzles.rules.rules[puzzles.hidden[number]]
    kinds = [KINDS[kind] for kind in puzzles.kinds[number]]
    return _Rendered(batch.images[0], int(batch.answers[0]), kinds, in_words(rule))
