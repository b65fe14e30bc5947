"""One model and all that the page needs of it: scores of choices, rules by name, places on maps."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from fine.demo.caching import made_once
from fine.demo.page_map import PageMap, make_page_map
from fine.demo.sources import images_of
from fine.errors import FineError, unknown
from fine.inference import NamedRule, function
from fine.models.finite import check_finite
from fine.models.paper import FINE
from fine.pretrained import load, names, trained_on
from fine.rules import RuleSet, rule_set, tested_families

EVERYTHING = "all"
"""The map of all families; every other map shows one family."""
_ON_SHARED_MAP, _ON_OWN_MAP = 60, 240  # functions of a family
_KEPT = 256  # maps: more than there are, so that visitors cannot push out each other's


class ScoreRequest(NamedTuple):
    """How probable is each choice?"""

    model: str
    images: Tensor
    """(3 + k, channels, size, size): x, y, x' and the choices."""


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


ModelRequest = ScoreRequest | ExplainRequest
Answer = Tensor | Explanation


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

    @torch.no_grad()
    def score(self, puzzles: Tensor) -> Tensor:  # (b, 3 + k, channels, size, size) -> (b, k)
        """The probability of each choice."""
        return check_finite(self.model(puzzles).softmax(1))

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
    families = [name for name in rule_set(trained).families if name in tested_families()]
    return "+".join(families) or EVERYTHING


def answer_all(solvers: dict[str, Solver], requests: Sequence[ModelRequest]) -> list[Answer]:
    """Answers in the order of the requests; puzzles of one model and shape are scored together."""
    answers: dict[int, Answer] = {}
    puzzles: dict[tuple[str, int], dict[int, Tensor]] = {}
    for number, request in enumerate(requests):
        if isinstance(request, ScoreRequest):
            group = puzzles.setdefault((request.model, len(request.images)), {})
            group[number] = request.images
        else:
            answers[number] = solvers[request.model].explain(request)
    for (model, _), group in puzzles.items():
        scores = solvers[model].score(torch.stack(list(group.values())))
        answers.update(zip(group, scores, strict=True))
    return [answers[number] for number in range(len(requests))]
