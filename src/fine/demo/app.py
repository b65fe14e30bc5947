"""The server behind the page: small JSON endpoints over one batch of questions, and the files of the page itself.

    uvicorn.run(make_app(["all-glyphs"]))

Whatever is wrong with a request comes back as {"error": "one line"} with a 4xx; /openapi.json describes the rest.
"""

import asyncio
import functools
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated

import torch
from fastapi import FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse
from fastapi.staticfiles import StaticFiles
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from fine import __version__
from fine.demo import sources
from fine.demo.batching import MOST, Batcher, TooBusyError
from fine.demo.choices import make_choices, possible_choices
from fine.demo.guarding import Guard
from fine.demo.messages import (
    About,
    Choice,
    FamilyHere,
    MapPoint,
    ModelHere,
    Name,
    Named,
    Play,
    Played,
    Problem,
    Puzzle,
    QuizChoice,
    QuizPuzzle,
    QuizResult,
    RandomPicture,
    Solved,
    SourceHere,
)
from fine.demo.solver import EVERYTHING, Answer, Explaining, Explanation, Question, Scoring, Solver, answer_all
from fine.demo.sources import PUZZLES, pictures_of, quiz_of, sources_here
from fine.demo.steps import apply_rules, controls_of, rule_of
from fine.demo.wire import read_png, write_png
from fine.demo.wording import in_words, title
from fine.errors import FineError, printable, unknown
from fine.puzzles import KINDS
from fine.rules import FAMILIES, Rule
from fine.solving import NamedRule
from fine.solving.answers import prepared

PAGE = Path(__file__).parent / "page"
_NAMED = 3
_LOOKED_AT = 24  # rules to find four among that look different


def make_app(models: Sequence[str], *, most: int = MOST) -> FastAPI:
    """The application, with these models to choose from; ``most`` questions are answered at once."""
    if not models:
        raise FineError("a demo needs at least one model: name one, such as all-glyphs")
    solvers = {solver.name: solver for solver in map(Solver.of, models)}
    batcher: Batcher[Question, Answer] = Batcher(functools.partial(answer_all, solvers), most=most)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        await run_in_threadpool(batcher.close)

    app = FastAPI(
        title="fine demo",
        version=__version__,
        description="Show one example pair, get the function that made it.",
        docs_url=None,  # those pages load scripts from elsewhere
        redoc_url=None,
        lifespan=lifespan,
        responses={status: {"model": Problem} for status in (413, 422, 503)},
    )
    app.state.batcher = batcher
    app.add_middleware(Guard)

    def solver_of(name: str) -> Solver:
        if name not in solvers:
            raise unknown("model", name, solvers)
        return solvers[name]

    def read_all(solver: Solver, texts: Sequence[str]) -> torch.Tensor:  # (n, channels, size, size)
        """x, y, x' and any choices as the model sees them."""
        return prepared(solver.model, [read_png(text) for text in texts])

    def as_named(entry: NamedRule) -> Named:
        return Named(family=entry.family, words=in_words(entry.rule), probability=entry.probability)

    @app.get("/api/about")
    async def about() -> About:
        """Which models, sources and rules there are."""
        families = [
            FamilyHere(
                name=name,
                title=title(name),
                controls=controls_of(family),
                rules=[list(entry) for entry in family.grid],
                words=[in_words(Rule(family, entry)) for entry in family.grid],
            )
            for name, family in FAMILIES.items()
        ]
        return About(
            models=[
                ModelHere(name=name, families=list(solver.rules.families), colour=solver.channels == 3)
                for name, solver in solvers.items()
            ],
            sources=[SourceHere(name=name, title=sources.TITLES[name], colour=name == "cifar100") for name in sources_here()],
            families=families,
            size=next(iter(solvers.values())).size,
            puzzles=PUZZLES,
        )

    @app.get("/api/pictures/{source}")
    async def picture(source: Name, model: Name, number: Annotated[int, Query(ge=0, lt=2**32)] = 0) -> RandomPicture:
        """A picture of a source as a model sees it; the number picks one."""
        solver = solver_of(model)
        images = await run_in_threadpool(pictures_of, source, channels=solver.channels, size=solver.size)
        which = number % len(images.pixels)
        name = images.class_names[int(images.labels[which])]
        return RandomPicture(picture=write_png(images.pixels[which] / 255), name=name)

    @app.post("/api/solve")
    async def solve(puzzle: Puzzle) -> Solved:
        """Which choice is to x' as y is to x."""
        solver = solver_of(puzzle.model)
        pictures = read_all(solver, [puzzle.x, puzzle.y, puzzle.new, *puzzle.choices])
        scores = await batcher.ask(Scoring(solver.name, pictures))
        assert isinstance(scores, torch.Tensor)
        return Solved(index=int(scores.argmax()), probabilities=scores.tolist())

    @app.post("/api/play")
    async def play(asked: Play) -> Played:
        """All that the page shows: y, four choices, the rule in words, the answer drawn, a place on the map."""
        solver = solver_of(asked.model)
        if (asked.y is None) == (not asked.steps):
            raise FineError("send either steps, the rules that make y, or y itself: one of them, not both and not none")
        x, y, new = read_all(solver, [asked.x, asked.y or asked.x, asked.new])
        images = await run_in_threadpool(pictures_of, asked.source, channels=solver.channels, size=solver.size)
        rules = [rule_of(step) for step in asked.steps]
        y = apply_rules(x, rules) if rules else y
        if asked.map != EVERYTHING and asked.map not in solver.rules.families:
            raise unknown("map", asked.map, (EVERYTHING, *solver.rules.families))
        explaining = batcher.ask(Explaining(solver.name, torch.stack((x, y)), asked.map, _LOOKED_AT))
        if rules:
            options = make_choices(new, rules, solver.rules, images, seed=asked.seed)
            scoring = batcher.ask(Scoring(solver.name, torch.stack((x, y, new, *(option.picture for option in options)))))
            explanation, scores = await asyncio.gather(explaining, scoring)
            assert isinstance(explanation, Explanation)
        else:
            explanation = await explaining
            assert isinstance(explanation, Explanation)
            options = possible_choices(new, explanation.named, seed=asked.seed)
            scores = await batcher.ask(Scoring(solver.name, torch.stack((x, y, new, *(option.picture for option in options)))))
        assert isinstance(scores, torch.Tensor)
        chances = scores.tolist()
        return Played(
            y=write_png(y),
            choices=[
                Choice(picture=write_png(option.picture), kind=option.kind, words=option.words, probability=chance)
                for option, chance in zip(options, chances, strict=True)
            ],
            picked=int(scores.argmax()),
            named=[as_named(entry) for entry in explanation.named[:_NAMED]],
            drawn=write_png(apply_rules(new, [explanation.named[0].rule])),
            place=explanation.place,
        )

    @app.get("/api/map")
    async def function_map(model: Name, family: Name = EVERYTHING) -> list[MapPoint]:
        """Composed functions of many example pairs, in two dimensions; of all families or of one."""
        solver = solver_of(model)
        if family != EVERYTHING and family not in solver.rules.families:
            raise unknown("map", family, (EVERYTHING, *solver.rules.families))
        made, rules = await run_in_threadpool(solver.map, family)
        places = {number: place / len(members) for members in rules.families.values() for place, number in enumerate(members)}
        return [
            MapPoint(
                x=round(across, 3),
                y=round(down, 3),
                family=rules.rules[number].family.name,
                words=in_words(rules.rules[number]),
                hue=round(places[number], 3),
            )
            for (across, down), number in zip(made.points.tolist(), made.rules, strict=True)
        ]

    @app.get("/api/puzzles/{source}/{number}")
    async def puzzle(source: Name, number: int, model: Name) -> QuizPuzzle:
        """A puzzle of the quiz, without its answer."""
        pictures, _ = await quiz_puzzle(solver_of(model), source, number)
        x, y, new, *choices = map(write_png, pictures)
        return QuizPuzzle(number=number, x=x, y=y, new=new, choices=choices)

    @app.post("/api/puzzles/{source}/{number}")
    async def answer(source: Name, number: int, chosen: QuizChoice) -> QuizResult:
        """What was right, and what the model chose."""
        solver = solver_of(chosen.model)
        pictures, (kinds, right, words) = await quiz_puzzle(solver, source, number)
        scores = await batcher.ask(Scoring(solver.name, pictures))
        assert isinstance(scores, torch.Tensor)
        return QuizResult(right=right, picked=int(scores.argmax()), probabilities=scores.tolist(), kinds=kinds, words=words)

    async def quiz_puzzle(solver: Solver, source: str, number: int) -> tuple[torch.Tensor, tuple[list[str], int, str]]:
        if not 0 <= number < PUZZLES:
            raise FineError(f"there is no puzzle {number}: give 0 to {PUZZLES - 1}")
        puzzles, render = await run_in_threadpool(
            quiz_of, source, rules=solver.rules_name, channels=solver.channels, size=solver.size
        )
        batch = render(puzzles.specs[number : number + 1])
        rule = puzzles.rules.rules[puzzles.hidden[number]]
        kinds = [KINDS[kind] for kind in puzzles.kinds[number]]
        return batch.pictures[0], (kinds, int(batch.answers[0]), in_words(rule))

    @app.get("/", include_in_schema=False)
    async def page() -> FileResponse:
        return FileResponse(PAGE / "index.html")

    app.mount("/page", StaticFiles(directory=PAGE), name="page")

    def problem(status: int, reason: str) -> JSONResponse:
        return JSONResponse({"error": printable(" ".join(reason.split()))}, status_code=status)

    @app.exception_handler(FineError)
    async def refused(request: Request, error: FineError) -> JSONResponse:
        return problem(422, str(error))

    @app.exception_handler(TooBusyError)
    async def busy(request: Request, error: TooBusyError) -> JSONResponse:
        return problem(503, "too many questions wait to be answered: ask again in a second")

    @app.exception_handler(HTTPException)
    async def no_such_thing(request: Request, error: HTTPException) -> JSONResponse:
        return problem(error.status_code, f"{request.method} {request.url.path[:60]}: {error.detail}")

    @app.exception_handler(RequestValidationError)
    async def not_valid(request: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"][1:]) or "the body"
        return problem(422, f"{place[:80]}: {first['msg']}")

    return app
