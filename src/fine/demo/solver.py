"""One model and all that the page needs of it: answers, rules by name, places on maps."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from torch import Tensor

from fine.demo.caching import made_once
from fine.demo.page_map import PageMap, make_page_map
from fine.demo.sources import images_of
from fine.errors import FineError, unknown
from fine.inference import Answer, NamedRule, PuzzleImages, function, solve_many
from fine.models.paper import FINE
from fine.pretrained import load, names, trained_on
from fine.rules import RuleSet, rule_set, tested_families

EVERYTHING = "all"
"""The map of all families; every other map shows one family."""
_ON_SHARED_MAP, _ON_OWN_MAP = 60, 240  # functions of a family
_KEPT = 256  # maps: more than there are, so that visitors cannot push out each other's

_ON_PAGE = {
    "any-translation": "translation",
    "any-rotation": "rotation",
    "any-scale": "scale",
    "any-shear": "shear",
    "square": "reflection",
}
"""Families with parameters between those of a grid, and the ones that the page offers instead."""


class SolveRequest(NamedTuple):
    """Which choice is it?"""

    model: str
    puzzle: PuzzleImages


class ExplainRequest(NamedTuple):
    """What happened to x, and where does that lie on a map?"""

    model: str
    pair: Tensor
    """(2, channels, size, size): x and y."""
    map: str
    most: int
    """How many rules to name."""


class Explanation(NamedTuple):
    """The answer to an ExplainRequest."""

    rules: tuple[NamedRule, ...]
    """The most probable first."""
    place: tuple[float, float]


ModelRequest = SolveRequest | ExplainRequest
Reply = Answer | Explanation


@dataclass(frozen=True, eq=False)
class Solver:
    """A model, the rules it knows, and its maps."""

    name: str
    model: FINE
    rules_name: str
    """The rules it was trained on, by name."""

    @staticmethod
    def load(model: str) -> "Solver":
        """A bundled pretrained model, or the one in a folder, which then has the folder's name."""
        loaded = load(model)
        if loaded.config.encoder == "strings":
            raise FineError(
                f"'{model}' reads strings, not images: the demo needs a model of images"
            )
        name = model if model in names() else Path(model).resolve().name
        return Solver(name, loaded, _rules_on_page(model))

    @property
    def channels(self) -> int:
        return self.model.channels

    @property
    def size(self) -> int:
        return self.model.size

    @functools.cached_property
    def rules(self) -> RuleSet:
        return rule_set(self.rules_name)

    def solve(self, puzzles: Sequence[PuzzleImages]) -> list[Answer]:
        """The answers that the library gives; the network sees all puzzles in one batch."""
        return solve_many(self.model, puzzles)

    def explain(self, request: ExplainRequest) -> Explanation:
        """The rules nearest to the composed function, and its place on the map."""
        x, y = request.pair
        composed = function(x, y, model=self.model)
        rules = composed.nearest(rules=self.rules_name, k=request.most, verify=False)
        across, up = self.map(request.map).place(composed.vector())[0].tolist()
        return Explanation(rules, (across, up))

    def check_map(self, family: str) -> None:
        """Refuse a map that there is none of."""
        maps = (EVERYTHING, *self.rules.families)
        if family not in maps:
            raise unknown("map", family, maps)

    @made_once(_KEPT)
    def map(self, family: str) -> PageMap:
        """The map of one family, or of all."""
        images = images_of("glyphs", channels=self.channels, size=self.size)
        if family == EVERYTHING:
            return make_page_map(self.model, images, self.rules, count=_ON_SHARED_MAP)
        return make_page_map(self.model, images, rule_set(family), count=_ON_OWN_MAP)


def _rules_on_page(model: str) -> str:
    """The families that a model was trained on and the page offers; all, if that leaves none."""
    task = trained_on(model)
    if task is None:
        return EVERYTHING
    trained, _, _ = (task.test_rules or task.rules).partition(":")
    known = {_ON_PAGE.get(name, name) for name in rule_set(trained).families}
    return "+".join(name for name in tested_families() if name in known) or EVERYTHING


def answer_all(solvers: dict[str, Solver], requests: Sequence[ModelRequest]) -> list[Reply]:
    """Replies in the order of the requests; puzzles of one model are solved together."""
    replies: dict[int, Reply] = {}
    puzzles: dict[str, dict[int, PuzzleImages]] = {}
    for number, request in enumerate(requests):
        if isinstance(request, SolveRequest):
            puzzles.setdefault(request.model, {})[number] = request.puzzle
        else:
            replies[number] = solvers[request.model].explain(request)
    for model, group in puzzles.items():
        answers = solvers[model].solve(list(group.values()))
        replies.update(zip(group, answers, strict=True))
    return [replies[number] for number in range(len(requests))]
