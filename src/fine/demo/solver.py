"""One model and all that the page asks of it: scores of choices, the rule by name, a place on the map."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from fine.demo.caching import made_once
from fine.demo.function_map import A_FAMILY, ONE_FAMILY, FunctionMap, make_map
from fine.demo.sources import pictures_of
from fine.functions.charts import function_vectors
from fine.models.fine import FINE
from fine.pretrained import load, names, trained_on
from fine.rules import RuleSet, rule_set
from fine.solving import NamedRule, explain

EVERYTHING = "all"
"""The map of all families; the other maps show one family each."""


class Scoring(NamedTuple):
    """A question: how likely is each choice?"""

    model: str
    pictures: Tensor
    """(3 + k, channels, size, size): x, y, x' and the choices."""


class Explaining(NamedTuple):
    """A question: what happened to x, and where is that on the map?"""

    model: str
    pictures: Tensor
    """(2, channels, size, size): x and y."""
    map: str
    named: int
    """How many rules to name."""


class Explanation(NamedTuple):
    """What a model makes of an example pair."""

    named: tuple[NamedRule, ...]
    place: tuple[float, float]


Question = Scoring | Explaining
Answer = Tensor | Explanation


@dataclass(frozen=True, eq=False)
class Solver:
    """A model, the rules it knows, and its maps."""

    name: str
    model: FINE
    rules_name: str
    """The rules it was trained on."""

    @staticmethod
    def of(model: str) -> "Solver":
        """A model that comes with the package, or the one in a folder, which then goes by the folder's name."""
        name = model if model in names() else Path(model).resolve().name
        loaded, task = load(model), trained_on(model)
        known = (task.test_rules or task.rules).partition(":")[0] if task else EVERYTHING
        return Solver(name, loaded, known)

    @property
    def channels(self) -> int:
        return self.model.channels

    @property
    def size(self) -> int:
        return self.model.size

    @functools.cached_property
    def rules(self) -> RuleSet:
        return rule_set(self.rules_name)

    def score(self, puzzles: Tensor) -> Tensor:  # (b, 3 + k, channels, size, size) -> (b, k)
        """The probability of each choice."""
        with torch.no_grad():
            return self.model(puzzles).softmax(1)

    def explain(self, question: Explaining) -> Explanation:
        """The rules most like what happened, and the place of the composed function."""
        x, y = question.pictures
        named = explain(self.model, x, y, rules=self.rules_name, k=question.named)
        across, down = self.map(question.map)[0].place(function_vectors(self.model, x[None], y[None]))[0].tolist()
        return Explanation(named, (across, down))

    @made_once(16)
    def map(self, family: str) -> tuple[FunctionMap, RuleSet]:
        """The map of one family, or of everything, and the rules on it."""
        images = pictures_of("glyphs", channels=self.channels, size=self.size)
        rules = self.rules if family == EVERYTHING else rule_set(family)
        count = A_FAMILY if family == EVERYTHING else ONE_FAMILY
        return make_map(self.model, images, rules, count=count), rules


def answer_all(solvers: dict[str, Solver], questions: Sequence[Question]) -> list[Answer]:
    """Answers in the order of the questions; choices of one model and number are scored in one batch."""
    answers: dict[int, Answer] = {}
    together: dict[tuple[str, int], list[int]] = {}
    for number, question in enumerate(questions):
        if isinstance(question, Scoring):
            together.setdefault((question.model, len(question.pictures)), []).append(number)
        else:
            answers[number] = solvers[question.model].explain(question)
    for (model, _), numbers in together.items():
        scores = solvers[model].score(torch.stack([questions[number].pictures for number in numbers]))
        answers.update(zip(numbers, scores, strict=True))
    return [answers[number] for number in range(len(questions))]
