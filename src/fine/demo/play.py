"""Endpoints that answer: a puzzle with choices, or all that the play view shows."""

import asyncio
from collections.abc import Awaitable, Sequence

import torch
from fastapi import APIRouter
from torch import Tensor

from fine.demo.choices import Option, make_choices, possible_choices
from fine.demo.messages import Choice, Named, Play, Played, Puzzle, Solved
from fine.demo.models import Models
from fine.demo.reasons import reasons_of
from fine.demo.solver import Explanation, Solver
from fine.demo.sources import images_of
from fine.demo.steps import found_in_words, rule_of
from fine.demo.wire import png_content, write_png
from fine.errors import FineError
from fine.images import Images
from fine.inference import Answer, NamedRule, PuzzleImages
from fine.inference.naming import with_first
from fine.rules import Rule, apply_rules

_SHOWN = 3
"""Rules that the page names."""
_CANDIDATES = 24
"""Rules among which four are looked for that look different."""


def routes(models: Models) -> APIRouter:
    """The endpoints, over these models."""
    router = APIRouter(prefix="/api")

    @router.post("/solve")
    async def solve(puzzle: Puzzle) -> Solved:
        """Which choice is to x' as y is to x."""
        solver = models[puzzle.model]
        images = await models.work(_read, puzzle.x, puzzle.y, puzzle.new, puzzle.choices)
        answer = await models.solve(solver.name, images)
        return Solved(
            index=answer.index,
            probabilities=list(answer.probabilities),
            model_probabilities=list(answer.model_probabilities),
            **reasons_of(answer),
        )

    @router.post("/play")
    async def play(shown: Play) -> Played:
        """Everything on the page: y, four choices, rules by name, an image of the answer, a map."""
        solver = models[shown.model]
        if (shown.y is None) == (not shown.steps):
            raise FineError("send either steps, the rules that make y, or y itself: exactly one")
        solver.check_map(shown.map)
        rules = [rule_of(step) for step in shown.steps]
        await models.prepare(_source_images, solver, shown.source)
        await models.prepare(Solver.map, solver, shown.map)
        x, y, new = await models.work(_shown, solver, shown, rules)

        def explain() -> Awaitable[Explanation]:
            pair = torch.stack((x, y))
            return models.explain(solver.name, pair, map=shown.map, most=_CANDIDATES)

        def solve(options: Sequence[Option]) -> Awaitable[Answer]:
            choices = tuple(option.image for option in options)
            return models.solve(solver.name, PuzzleImages(x, y, new, choices))

        if rules:
            options = await models.work(_choices, solver, shown.source, new, rules, seed=shown.seed)
            explanation, answer = await asyncio.gather(explain(), solve(options))
        else:  # the choices depend on the explanation
            explanation = await explain()
            options = await models.work(possible_choices, new, explanation.rules, seed=shown.seed)
            answer = await solve(options)
        return await models.work(_played, y, new, options, answer, explanation)

    return router


def _read(x: str, y: str, new: str, choices: Sequence[str] = ()) -> PuzzleImages:
    """PNGs as the library reads them from files."""
    shown = [png_content(choice) for choice in choices]
    return PuzzleImages.read(png_content(x), png_content(y), png_content(new), shown)


def _shown(
    solver: Solver, shown: Play, rules: Sequence[Rule]
) -> tuple[Tensor, Tensor, Tensor]:  # (channels, size, size) each
    """x, y and x'; y is made by the rules, if there are any."""
    drawn_y = shown.x if shown.y is None else shown.y
    x, y, new = _read(shown.x, drawn_y, shown.new).prepared(solver.model)
    return x, apply_rules(x, rules) if rules else y, new


def _choices(
    solver: Solver, source: str, new: Tensor, rules: Sequence[Rule], *, seed: int
) -> list[Option]:
    images = _source_images(solver, source)
    return make_choices(new, rules, solver.rules, images, seed=seed)


def _source_images(solver: Solver, source: str) -> Images:
    return images_of(source, channels=solver.channels, size=solver.size)


def _played(
    y: Tensor, new: Tensor, options: Sequence[Option], answer: Answer, explanation: Explanation
) -> Played:
    choices = [
        Choice(
            image=write_png(option.image),
            kind=option.kind,
            words=option.words,
            probability=answer.probabilities[place],
            model_probability=answer.model_probabilities[place],
        )
        for place, option in enumerate(options)
    ]
    rules = with_first(answer.rule, explanation.rules)
    return Played(
        y=write_png(y),
        choices=choices,
        picked=answer.index,
        named=[_named(entry) for entry in rules[:_SHOWN]],
        model_named=[_named(entry) for entry in explanation.rules[:_SHOWN]],
        drawn=write_png(apply_rules(new, rules[0].rules)),
        place=explanation.place,
        **reasons_of(answer),
    )


def _named(entry: NamedRule) -> Named:
    words = found_in_words(entry)
    return Named(family=entry.family, words=words, probability=entry.probability)
