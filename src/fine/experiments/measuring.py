"""What probes measure of a trained model, as the result of a cell.

    result = measure(cell, trained)                    # `trained` gives the finished run of a configuration

A measure takes what it is about, a `Subject`, and its own options by name, and returns `found` numbers.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fine.errors import FineError, unknown
from fine.evaluation import Evaluation, evaluate, wilson
from fine.experiments.cells import Cell
from fine.functions.answering import Answering, MostAlike
from fine.functions.calibration import (
    Calibration,
    Signs,
    calibrate,
    calibration_error,
    held_back,
    reliability,
    signs_of_all,
)
from fine.functions.charts import Chart, chart_of
from fine.functions.noticing import auroc, auroc_interval, strange_puzzles
from fine.functions.powers import made_of_others
from fine.functions.slots import use_by_family, without_slot
from fine.models.fine import FINE
from fine.models.limits import Oracle
from fine.puzzles import Puzzles
from fine.questions import FORWARDS, Question
from fine.rules import rule_set
from fine.runs import Run, RunConfig, provenance
from fine.tasks import Task

BOOTSTRAP = 200
"""Times that puzzles are drawn again for the interval of a number that is no share."""
CALIBRATED_ON = 1_000
"""Training puzzles that limits and temperatures are found on."""

Trained = Callable[[RunConfig], Run]
"""A configuration -> its finished run, trained if it has not been yet."""


@dataclass(frozen=True)
class Subject:
    """The run that is looked into, and how many puzzles that is done with."""

    config: RunConfig
    count: int
    trained: Trained
    device: str

    @property
    def task(self) -> Task:
        """The run's own task, with as many test puzzles as are asked for."""
        return replace(self.config.task, test_count=self.count)

    @cached_property
    def model(self) -> FINE:
        """The trained model; a measure that does not need it does not have it trained."""
        return self._load(self.config)

    @cached_property
    def twin(self) -> FINE:
        """The same model, trained with a fifth of the training classes held back: what is chosen, is chosen on it."""
        return self._load(replace(self.config, task=self.twin_task))

    @property
    def twin_task(self) -> Task:
        """The twin's own task, whose test puzzles show the training classes that were held back."""
        return replace(self.config.task, validation=True)

    def _load(self, config: RunConfig) -> FINE:
        return _loaded(self.trained(config).folder, self.device)


@lru_cache(maxsize=4)
def _loaded(folder: Path, device: str) -> FINE:
    """The model of a run, once for all probes of it."""
    model = Run(folder).load(device=device)
    if not isinstance(model, FINE):
        raise FineError(f"{folder} holds a {type(model).__name__}, which composes no function: there is nothing to measure")
    return model


@lru_cache(maxsize=8)
def _puzzles(task: Task, question: Question) -> Puzzles:
    """Test puzzles, drawn once for all probes of them."""
    return task.test_puzzles(question)


Result = dict[str, Any]


def measure(cell: Cell, trained: Trained, *, device: str = "cpu") -> Result:
    """What the probe of a cell finds, with where and how long that was."""
    if cell.probe is None or cell.probe.name not in MEASURES:
        raise unknown("probe", cell.probe.name if cell.probe else "", MEASURES)
    start = time.perf_counter()
    subject = Subject(cell.config, cell.probe.count, trained, device)
    result = MEASURES[cell.probe.name](subject, **cell.probe.options)
    return result | {"minutes": round((time.perf_counter() - start) / 60, 3)} | provenance()


def found(
    value: float,
    interval: tuple[float, float],
    puzzles: int,
    *,
    mistakes: Mapping[str, float] | None = None,
    by_rule: list[dict[str, Any]] | None = None,
    details: list[dict[str, Any]] | None = None,
) -> Result:
    """A measured number from 0 to 1, its 95 % interval, how many puzzles it is from, and what is behind it."""
    low, high = interval
    return {
        "accuracy": round(value, 5),
        "interval": [round(low, 5), round(high, 5)],
        "puzzles": puzzles,
        "mistakes": dict(mistakes or {}),
        "by_rule": by_rule or [],
        "details": details or [],
    }


def share(successes: int, trials: int) -> Result:
    """A share of puzzles as a result."""
    return found(successes / trials, wilson(successes, trials), trials)


def question(subject: Subject, *, solver: str = "model", family: str = "", ask: str = "hints", **asked: Any) -> Result:
    """Accuracy on test puzzles asked in another way; of ``family``, only of those whose hint shows a rule of it."""
    wanted = Question(ask, **asked)
    puzzles = _puzzles(subject.task, wanted)
    if family:
        puzzles = _of_family(puzzles, family)
    evaluation = _answered(subject, solver, wanted, puzzles)
    summary = evaluation.summary()
    return found(
        evaluation.accuracy,
        evaluation.interval,
        len(puzzles),
        mistakes=summary["mistakes"],
        by_rule=summary["by_rule"],
    )


def _of_family(puzzles: Puzzles, family: str) -> Puzzles:
    kept = np.flatnonzero(np.isin(puzzles.hidden, puzzles.rules.families[family]))
    return replace(puzzles, specs=puzzles.specs[kept], attempts=puzzles.attempts[kept])


def _answered(subject: Subject, solver: str, wanted: Question, puzzles: Puzzles) -> Evaluation:
    if solver == "oracle":
        oracle = Oracle(puzzles.rules, size=subject.task.size)
        return evaluate(Answering(oracle, wanted), puzzles, device=subject.device)
    if solver == "alike":
        return evaluate(MostAlike(subject.model), puzzles, device=subject.device)
    model = subject.model if wanted == FORWARDS else Answering(subject.model, wanted)
    return evaluate(model, puzzles, device=subject.device)


def powers(subject: Subject, *, made: str, within: int = 0) -> Result:
    """The share of functions made of others that come nearest to the right one of 24 rotations, or ``within`` some degrees."""
    errors = _powers(subject.model, subject.task)[made]
    return share(int((errors.abs() <= within).sum()), len(errors))


@lru_cache(maxsize=2)
def _powers(model: FINE, task: Task) -> dict[str, Tensor]:
    return made_of_others(model, _puzzles(task, FORWARDS))


def chart(subject: Subject, *, space: str) -> Result:
    """The share of functions that lie next to one of their own family: by their ``numbers``, or on the ``map``."""
    made = _chart(subject.model, subject.config.task, subject.count)
    together = made.kept_together(made.vectors if space == "numbers" else made.points)
    points = [
        {
            "family": rule.family.name,
            "rule": str(rule),
            "parameters": list(rule.parameters),
            "across": round(across, 4),
            "down": round(down, 4),
            "layout": made.layout,
        }
        for rule, (across, down) in zip((made.rules.rules[n] for n in made.numbers), made.points.tolist(), strict=True)
    ]
    return share(int(together.sum()), len(together)) | ({"details": points} if space == "map" else {})


@lru_cache(maxsize=1)
def _chart(model: FINE, task: Task, count: int) -> Chart:
    families = rule_set(task.rules).families
    return chart_of(model, replace(task, test_count=1_000), count=max(2, count // len(families)))


def noticing(subject: Subject, *, sign: str, against: str) -> Result:
    """How well a sign tells strange puzzles, or mistakes, from what the model knows: AUROC."""
    known, answers = _known(subject.model, subject.task)
    if against == "mistakes":
        missed = known.logits.argmax(1) != answers
        high, low = _sign(known, sign)[missed], _sign(known, sign)[~missed]
    else:
        high, low = _sign(_strange(subject.model, subject.task, against), sign), _sign(known, sign)
    if not len(high) or not len(low):
        raise FineError(f"there is nothing to tell apart: {len(high)} {against} and {len(low)} others; ask more puzzles")
    area = auroc(high, low)
    return found(area, auroc_interval(area, len(high), len(low)), len(high) + len(low))


def refusing(subject: Subject, *, against: str = "") -> Result:
    """The share of strange puzzles that are refused; of nothing strange, the share of false alarms."""
    limits = _calibration(subject.model, subject.config)
    signs = _strange(subject.model, subject.task, against) if against else _known(subject.model, subject.task)[0]
    strange, far, unsure = limits.beyond(signs)
    return share(int((strange | far | unsure).sum()), len(strange))


def confidence(subject: Subject, *, calibrated: bool = False) -> Result:
    """How far the probabilities of answers are from how many are right (ECE), as they are or with a temperature."""
    signs, answers = _known(subject.model, subject.task)
    temperature = _calibration(subject.model, subject.config).temperature if calibrated else 1.0
    sure, chosen = (signs.logits / temperature).softmax(1).max(1)
    right = chosen == answers
    draws = torch.randint(len(sure), (BOOTSTRAP, len(sure)), generator=torch.Generator().manual_seed(0))
    errors = torch.tensor([calibration_error(sure[draw], right[draw]) for draw in draws])
    low, high = errors.quantile(torch.tensor([0.025, 0.975])).tolist()
    details = [row | {"temperature": temperature} for row in reliability(sure, right)]
    return found(calibration_error(sure, right), (low, high), len(sure), details=details)


@lru_cache(maxsize=2)
def _known(model: FINE, task: Task) -> tuple[Signs, Tensor]:
    puzzles = _puzzles(task, FORWARDS)
    batch = puzzles.render(range(len(puzzles)))
    return signs_of_all(model, batch.pictures), batch.answers


@lru_cache(maxsize=8)
def _strange(model: FINE, task: Task, what: str) -> Signs:
    return signs_of_all(model, strange_puzzles(task, what))


def _sign(signs: Signs, name: str) -> Tensor:
    """A sign, the higher the stranger."""
    named = {"hint": signs.hint, "answer": signs.answer, "unsure": -signs.logits.softmax(1).amax(1)}
    if name not in named:
        raise unknown("sign", name, named)
    return named[name]


def _calibration(model: FINE, config: RunConfig) -> Calibration:
    return _calibrated(model, config.task, config.training.seed)


@lru_cache(maxsize=2)
def _calibrated(model: FINE, task: Task, seed: int) -> Calibration:
    return calibrate(model, held_back(task, min(CALIBRATED_ON, task.train_count), seed=seed))


def slots(subject: Subject, *, removed: int = -1, family: str = "") -> Result:
    """Accuracy on plain puzzles without one slot; of ``family``, only on its own. With all slots, how much each is used too."""
    puzzles, right = _without(subject.model, subject.task, removed)
    if family:
        right = right[np.isin(puzzles.hidden, puzzles.rules.families[family])]
    details = []
    if removed < 0 and not family:
        uses = use_by_family(subject.model, puzzles)
        details = [{"family": name, "use": [round(share, 5) for share in use.tolist()]} for name, use in uses.items()]
    return share(int(right.sum()), len(right)) | {"details": details}


@lru_cache(maxsize=16)
def _without(model: FINE, task: Task, removed: int) -> tuple[Puzzles, NDArray[np.bool_]]:
    puzzles = _puzzles(task, FORWARDS)
    return puzzles, evaluate(model if removed < 0 else without_slot(model, removed), puzzles).kinds == 0


MEASURES: dict[str, Callable[..., Result]] = {
    "question": question,
    "powers": powers,
    "chart": chart,
    "slots": slots,
    "noticing": noticing,
    "refusing": refusing,
    "confidence": confidence,
}
"""What can be measured, by the name a probe has."""
