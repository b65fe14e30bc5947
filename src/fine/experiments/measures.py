"""What probes measure of a trained model, as the result of a cell.

    result = measure(cell, trained)            # `trained` gives the finished run of a configuration

A measure takes a `Subject`, what it is about, and its own options by name.
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
from torch import Tensor, nn

from fine.analysis.function_map import FunctionMap, make_function_map
from fine.analysis.rotations import rotation_errors
from fine.analysis.slots import slot_shares_by_family, without_slot
from fine.errors import FineError, unknown
from fine.evaluation import Evaluation, evaluate, wilson
from fine.evaluation.calibration import (
    Calibration,
    OODScores,
    all_ood_scores,
    calibrate,
    calibration_error,
    held_back,
    reliability,
)
from fine.evaluation.ood import auroc, auroc_interval, ood_puzzles
from fine.experiments.cells import Cell
from fine.io.provenance import provenance
from fine.models.oracle import Oracle
from fine.models.paper import FINE
from fine.models.variant_solver import MostSimilar, VariantSolver
from fine.puzzles import Puzzles
from fine.puzzles.task import Task
from fine.puzzles.variants import PLAIN, Variant
from fine.rules import rule_set
from fine.training.run import Run, RunConfig

BOOTSTRAP = 200
"""Resamples for the interval of a number that is not a share."""
CALIBRATION_PUZZLES = 1_000
"""Training puzzles on which thresholds and temperatures are found."""
MAP_IMAGES = 1_000
"""Test puzzles whose images a function map may show."""

Trained = Callable[[RunConfig], Run]
"""A configuration -> its finished run, trained now if it has not been."""
Result = dict[str, Any]


@dataclass(frozen=True)
class Subject:
    """The run that is measured, and how many puzzles to measure it on."""

    config: RunConfig
    count: int
    trained: Trained
    device: str

    @property
    def task(self) -> Task:
        """The run's own task, with as many test puzzles as are wanted."""
        return replace(self.config.task, test_count=self.count)

    @cached_property
    def model(self) -> FINE:
        """The trained model; a measure that does not use it does not have it trained."""
        return _loaded(self.trained(self.config).folder, self.device)


@lru_cache(maxsize=4)
def _loaded(folder: Path, device: str) -> FINE:
    """The model of a run, once for all probes of it."""
    model = Run(folder).load(device=device)
    if not isinstance(model, FINE):
        kind = type(model).__name__
        raise FineError(f"{folder} holds a {kind}, which composes no function: probe a FINE")
    return model


@lru_cache(maxsize=8)
def _puzzles(task: Task, variant: Variant) -> Puzzles:
    """Test puzzles, drawn once for all probes of them."""
    return task.test_puzzles(variant)


def measure(cell: Cell, trained: Trained, *, device: str = "cpu") -> Result:
    """The result of a cell's probe, with provenance and time."""
    if cell.probe is None or cell.probe.name not in MEASURES:
        raise unknown("probe", cell.probe.name if cell.probe else "", MEASURES)
    start = time.perf_counter()
    subject = Subject(cell.config, cell.probe.count, trained, device)
    result = MEASURES[cell.probe.name](subject, **cell.probe.options)
    minutes = round((time.perf_counter() - start) / 60, 3)
    return {**result, "minutes": minutes, **provenance()}


def found(
    value: float,
    interval: tuple[float, float],
    puzzles: int,
    *,
    mistakes: Mapping[str, float] | None = None,
    by_rule: list[dict[str, Any]] | None = None,
    details: list[dict[str, Any]] | None = None,
) -> Result:
    """A value from 0 to 1, its 95 % interval, the number of puzzles, and what is behind it."""
    low, high = interval
    return {
        "value": round(value, 5),
        "interval": [round(low, 5), round(high, 5)],
        "puzzles": puzzles,
        "mistakes": dict(mistakes or {}),
        "by_rule": by_rule or [],
        "details": details or [],
    }


def share(successes: int, trials: int, *, details: list[dict[str, Any]] | None = None) -> Result:
    """A share of puzzles as a result."""
    interval = wilson(successes, trials)
    return found(successes / trials, interval, trials, details=details)


def variant(subject: Subject, *, solver: str = "model", family: str = "", **fields: Any) -> Result:
    """Accuracy on a variant of the test puzzles, of all or of those with a rule of ``family``."""
    wanted = Variant(**fields)
    puzzles = _puzzles(subject.task, wanted)
    if family:
        puzzles = _of_family(puzzles, family)
    evaluation = _solved(subject, solver, wanted, puzzles)
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


def _solved(subject: Subject, solver: str, wanted: Variant, puzzles: Puzzles) -> Evaluation:
    model: nn.Module
    if solver == "oracle":
        model = VariantSolver(Oracle(puzzles.rules, size=subject.task.size), wanted)
    elif solver == "most-similar":
        model = MostSimilar(subject.model)
    elif wanted == PLAIN:
        model = subject.model
    else:
        model = VariantSolver(subject.model, wanted)
    return evaluate(model, puzzles, device=subject.device)


def rotations(subject: Subject, *, made: str, within: int = 0) -> Result:
    """Share of functions made of others that come nearest to the right one of 24 rotations.

    ``within`` degrees of the right one count too.
    """
    errors = _rotations(subject.model, subject.task)[made]
    return share(int((errors.abs() <= within).sum()), len(errors))


@lru_cache(maxsize=2)
def _rotations(model: FINE, task: Task) -> dict[str, Tensor]:
    return rotation_errors(model, _puzzles(task, PLAIN))


def function_map(subject: Subject, *, space: str) -> Result:
    """Share of functions next to one of their own family, by ``numbers`` or on the ``map``."""
    made = _map(subject.model, subject.config.task, subject.count)
    together = made.nearest_is_alike(made.vectors if space == "numbers" else made.points)
    rules = (made.rules.rules[number] for number in made.numbers)
    points = [
        {
            "family": rule.family.name,
            "rule": str(rule),
            "parameters": list(rule.parameters),
            "across": round(across, 4),
            "down": round(down, 4),
            "layout": made.layout,
        }
        for rule, (across, down) in zip(rules, made.points.tolist(), strict=True)
    ]
    details = points if space == "map" else None
    return share(int(together.sum()), len(together), details=details)


@lru_cache(maxsize=1)
def _map(model: FINE, task: Task, count: int) -> FunctionMap:
    families = rule_set(task.rules).families
    shown = replace(task, test_count=MAP_IMAGES)
    return make_function_map(model, shown, count=max(2, count // len(families)))


def ood(subject: Subject, *, score: str, against: str) -> Result:
    """AUROC of an out-of-distribution score: unknown puzzles, or mistakes, against the known."""
    known, answers = _known(subject.model, subject.task)
    low = _score(known, score)
    if against == "mistakes":
        missed = known.logits.argmax(1) != answers
        high, low = low[missed], low[~missed]
    else:
        high = _score(_unknown(subject.model, subject.task, against), score)
    if not len(high) or not len(low):
        raise FineError(
            f"there is nothing to tell apart: {len(high)} {against} and {len(low)} others; use "
            "more puzzles"
        )
    area = auroc(high, low)
    interval = auroc_interval(area, len(high), len(low))
    return found(area, interval, len(high) + len(low))


def rejection(subject: Subject, *, against: str = "") -> Result:
    """Share of unknown puzzles that are rejected; of known ones, the share of false alarms."""
    limits = _calibration(subject)
    if against:
        scores = _unknown(subject.model, subject.task, against)
    else:
        scores, _ = _known(subject.model, subject.task)
    residual, distance, confidence = limits.beyond(scores)
    rejected = residual | distance | confidence
    return share(int(rejected.sum()), len(rejected))


def calibration(subject: Subject, *, calibrated: bool = False) -> Result:
    """Expected calibration error, of probabilities as they are or with a temperature."""
    scores, answers = _known(subject.model, subject.task)
    temperature = _calibration(subject).temperature if calibrated else 1.0
    sure, chosen = (scores.logits / temperature).softmax(1).max(1)
    right = chosen == answers
    generator = torch.Generator().manual_seed(0)
    draws = torch.randint(len(sure), (BOOTSTRAP, len(sure)), generator=generator)
    errors = torch.tensor([calibration_error(sure[draw], right[draw]) for draw in draws])
    low, high = errors.quantile(torch.tensor([0.025, 0.975])).tolist()
    details = [row | {"temperature": temperature} for row in reliability(sure, right)]
    return found(calibration_error(sure, right), (low, high), len(sure), details=details)


@lru_cache(maxsize=2)
def _known(model: FINE, task: Task) -> tuple[OODScores, Tensor]:
    puzzles = _puzzles(task, PLAIN)
    batch = puzzles.render(range(len(puzzles)))
    return all_ood_scores(model, batch.images), batch.answers


@lru_cache(maxsize=8)
def _unknown(model: FINE, task: Task, what: str) -> OODScores:
    return all_ood_scores(model, ood_puzzles(task, what))


def _score(scores: OODScores, name: str) -> Tensor:
    """An out-of-distribution score: high if the model does not know the rule."""
    low_confidence = -scores.logits.softmax(1).amax(1)
    named = {
        "residual": scores.residual,
        "distance": scores.distance,
        "confidence": low_confidence,
    }
    if name not in named:
        raise unknown("out-of-distribution score", name, named)
    return named[name]


def _calibration(subject: Subject) -> Calibration:
    return _calibrated(subject.model, subject.config.task, subject.config.training.seed)


@lru_cache(maxsize=2)
def _calibrated(model: FINE, task: Task, seed: int) -> Calibration:
    count = min(CALIBRATION_PUZZLES, task.train_count)
    return calibrate(model, held_back(task, count, seed=seed))


def slots(subject: Subject, *, removed: int = -1, family: str = "") -> Result:
    """Accuracy without one slot, on all plain puzzles or on those of ``family``.

    With all slots and families, details say how much each family uses each slot.
    """
    puzzles, right = _without(subject.model, subject.task, removed)
    if family:
        right = right[np.isin(puzzles.hidden, puzzles.rules.families[family])]
    details = []
    if removed < 0 and not family:
        uses = slot_shares_by_family(subject.model, puzzles)
        for name, use in uses.items():
            details.append({"family": name, "use": [round(part, 5) for part in use.tolist()]})
    return share(int(right.sum()), len(right), details=details)


@lru_cache(maxsize=16)
def _without(model: FINE, task: Task, removed: int) -> tuple[Puzzles, NDArray[np.bool_]]:
    puzzles = _puzzles(task, PLAIN)
    solver = model if removed < 0 else without_slot(model, removed)
    return puzzles, evaluate(solver, puzzles).kinds == 0


MEASURES: dict[str, Callable[..., Result]] = {
    "variant": variant,
    "rotations": rotations,
    "function-map": function_map,
    "slots": slots,
    "ood": ood,
    "rejection": rejection,
    "calibration": calibration,
}
"""Measures by the name of their probe; `METRIC_OF` says what each value is."""
