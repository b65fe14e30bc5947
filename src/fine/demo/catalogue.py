"""Endpoints for what the page offers: models, sources and rules, images to start from, maps."""

import functools
from typing import Annotated

from fastapi import APIRouter, Query

from fine.demo.messages import (
    About,
    FamilyInfo,
    MapPoint,
    ModelInfo,
    Name,
    RandomImage,
    SourceInfo,
)
from fine.demo.models import Models
from fine.demo.solver import EVERYTHING, Solver
from fine.demo.sources import COLOURED, PUZZLES, TITLES, available_sources, images_of
from fine.demo.steps import controls_of
from fine.demo.wire import write_png
from fine.demo.wording import in_words, title
from fine.rules import Family, Rule, tested_families


def routes(models: Models) -> APIRouter:
    """The endpoints, over these models."""
    router = APIRouter(prefix="/api")

    @router.get("/about")
    async def about() -> About:
        """The models, sources and rules to choose from."""
        return About(
            models=[_model_info(solver) for solver in models],
            sources=[_source_info(name) for name in available_sources()],
            families=[_family_info(family) for family in tested_families().values()],
            size=next(iter(models)).size,
            puzzles=PUZZLES,
        )

    @router.get("/images/{source}")
    async def image(
        source: Name, model: Name, number: Annotated[int, Query(ge=0, lt=2**32)] = 0
    ) -> RandomImage:
        """An image of a source, in the size and channels of a model; the number selects it."""
        solver = models[model]
        await models.prepare(images_of, source, channels=solver.channels, size=solver.size)
        return await models.work(_random_image, solver, source, number)

    @router.get("/map")
    async def function_map(model: Name, family: Name = EVERYTHING) -> list[MapPoint]:
        """Functions composed from many example pairs, in two dimensions; of all families or one."""
        solver = models[model]
        solver.check_map(family)
        await models.prepare(Solver.map, solver, family)
        return await models.work(_map_points, solver, family)

    return router


def _model_info(solver: Solver) -> ModelInfo:
    families = list(solver.rules.families)
    return ModelInfo(name=solver.name, families=families, colour=solver.channels == 3)


def _source_info(name: str) -> SourceInfo:
    return SourceInfo(name=name, title=TITLES[name], colour=name in COLOURED)


@functools.cache
def _family_info(family: Family) -> FamilyInfo:
    return FamilyInfo(
        name=family.name,
        title=title(family.name),
        controls=controls_of(family),
        rules=[list(parameters) for parameters in family.grid],
        words=[in_words(Rule(family, parameters)) for parameters in family.grid],
    )


def _random_image(solver: Solver, source: str, number: int) -> RandomImage:
    images = images_of(source, channels=solver.channels, size=solver.size)
    place = number % len(images.pixels)
    name = images.class_names[int(images.labels[place])]
    return RandomImage(image=write_png(images.pixels[place] / 255), name=name)


def _map_points(solver: Solver, family: str) -> list[MapPoint]:
    made = solver.map(family)
    hues = {
        number: place / len(members)
        for members in made.rules.families.values()
        for place, number in enumerate(members)
    }
    points = []
    for (across, up), number in zip(made.points.tolist(), made.numbers, strict=True):
        rule = made.rules.rules[number]
        points.append(
            MapPoint(
                x=round(across, 3),
                y=round(up, 3),
                family=rule.family.name,
                words=in_words(rule),
                hue=round(hues[number], 3),
            )
        )
    return points
