"""Fits temperature and rejection thresholds: how sure an answer is, and when to give none.

    calibration = calibrate(model, held_back(task, 2_000))   # puzzles that training did not show
    scores = ood_scores(model, images)
    calibration.temperature, calibration.beyond(scores)       # which puzzles to leave unanswered

Everything here is fitted on puzzles over training classes; test puzzles choose nothing.
"""

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import torch
import torch.nn.functional as F
from torch import Tensor

from fine.errors import FineError
from fine.evaluation.ood import residual_share
from fine.io.files import read_json, write_json
from fine.io.typed_json import read_as
from fine.models.embedding_functions import compose_function
from fine.models.finite import check_finite
from fine.models.paper import FINE
from fine.puzzles import Puzzles
from fine.puzzles.task import Task

FALSE_ALARMS = 0.05
"""Share of puzzles with a known rule and a right choice that may be refused."""
FILE = "calibration.json"
"""The name of a calibration in the folder of a model."""
MOST_TEMPERATURE = 1000.0
"""Temperatures lie between this and its inverse; those that are fitted between 1/20 and 20."""
BINS = 10
"""Bins of confidence in which it is compared with accuracy."""
_OTHER_SEED = 1_000_003  # added to the seed of a training: puzzles that it has not shown
_CHUNK = 100
_FORMAT = 2
_FORMAT_1 = {
    "strangest_hint": "max_residual",
    "farthest_answer": "max_distance",
    "least_sure": "min_confidence",
}
"""Fields in format 1 -> now."""


class OODScores(NamedTuple):
    """Logits of puzzles, and two scores that are high for those that should not be answered."""

    logits: Tensor
    """(b, k)"""
    residual: Tensor
    """(b,): the residual of the hint, as a share of y."""
    distance: Tensor
    """(b,): from f(x') to the choice taken, relative to the size of that choice."""


@dataclass(frozen=True)
class Calibration:
    """The temperature and the rejection thresholds of a model."""

    temperature: float
    """Logits are divided by it; above 1, the model is surer than it should be."""
    max_residual: float
    """The largest residual of a hint whose rule the model knows."""
    max_distance: float
    """The largest distance from f(x') to a right choice."""
    min_confidence: float
    """The smallest calibrated probability of a choice that is taken."""
    false_alarms: float
    """Share of puzzles beyond these thresholds, a third of it for each."""
    puzzles: int
    """How many puzzles it was fitted on."""

    def check(self) -> None:
        """Refuse what no calibration can have found."""
        if not 1 / MOST_TEMPERATURE <= self.temperature <= MOST_TEMPERATURE:
            raise ValueError(f"its temperature is {self.temperature:g}")
        if not 0 < self.false_alarms < 1:
            raise ValueError(f"its share of false alarms is {self.false_alarms:g}")

    def probabilities(self, logits: Tensor) -> Tensor:  # (b, k), the same out
        """How probable each choice is, if one of them is right."""
        return check_finite((logits / self.temperature).softmax(1))

    def beyond(self, scores: OODScores) -> tuple[Tensor, Tensor, Tensor]:  # three of bool (b,)
        """Which puzzles lie beyond the threshold of the residual, the distance, the confidence."""
        confidence = self.probabilities(scores.logits).amax(1)
        return (
            scores.residual > self.max_residual,
            scores.distance > self.max_distance,
            confidence < self.min_confidence,
        )

    def save(self, path: Path) -> None:
        """Write it to a file."""
        write_json(path, {"format": _FORMAT, **asdict(self)})

    @staticmethod
    def read(path: Path) -> "Calibration":
        """The calibration in a file, or one line on why it cannot be used."""
        content = read_json(path)
        version = content.pop("format", None)
        if version == 1:
            content = {_FORMAT_1.get(name, name): value for name, value in content.items()}
        try:
            if version not in (1, _FORMAT):
                raise ValueError(f"its format is not {_FORMAT}")
            calibration = read_as(Calibration, content)
            calibration.check()
        except (TypeError, ValueError) as problem:
            raise FineError(
                f"{path} is not a calibration ({problem}): make it again with `fine calibrate`"
            ) from problem
        return calibration


_REMEMBERED: WeakKeyDictionary[FINE, Calibration] = WeakKeyDictionary()


def remember_calibration(model: FINE, calibration: Calibration) -> None:
    """Remember the calibration of a model as long as the model exists."""
    _REMEMBERED[model] = calibration


def calibration_of(model: FINE) -> Calibration | None:
    """The calibration that a model was loaded with, if it has one."""
    return _REMEMBERED.get(model)


@torch.no_grad()
def ood_scores(model: FINE, images: Tensor) -> OODScores:  # (b, 3 + k, channels, size, size)
    """The out-of-distribution scores of puzzles, as the model sees them."""
    embeddings = model.eval().encode(images)
    x, y, new, choices = embeddings[:, 0], embeddings[:, 1], embeddings[:, 2], embeddings[:, 3:]
    logits = check_finite(model.score(embeddings))
    distance = answer_distance(model, compose_function(model, [x], [y])(new), choices, logits)
    return OODScores(logits, check_finite(residual_share(model, x, y)), distance)


def answer_distance(model: FINE, guess: Tensor, choices: Tensor, logits: Tensor) -> Tensor:  # (b,)
    """From f(x') to the choice taken, relative to the size of that choice; of embeddings."""
    chosen = choices[torch.arange(len(choices)), logits.argmax(1)]
    size = model.distance(torch.zeros_like(chosen), chosen).clamp(min=1e-8)
    return check_finite(model.distance(guess, chosen) / size)


def all_ood_scores(model: FINE, images: Tensor) -> OODScores:
    """The same for many puzzles, a few at a time."""
    parts = [ood_scores(model, part) for part in images.split(_CHUNK)]
    return OODScores(*(torch.cat(each) for each in zip(*parts, strict=True)))


def held_back(task: Task, count: int, *, seed: int = 0) -> Puzzles:
    """Puzzles that a training on this task with this seed has not shown.

    They are over the classes that it held back; or else over its training classes, with another
    seed.
    """
    counted = replace(task, train_count=count, test_count=count)
    if task.validation:
        return counted.test_puzzles()
    return counted.training_puzzles(seed=seed + _OTHER_SEED)


def calibrate(model: FINE, puzzles: Puzzles, *, false_alarms: float = FALSE_ALARMS) -> Calibration:
    """The most likely temperature, and the thresholds that refuse a share of these puzzles."""
    if not 0 < false_alarms < 1:
        raise FineError(
            f"false_alarms is {false_alarms}: give a share between 0 and 1, such as {FALSE_ALARMS}"
        )
    if len(puzzles) * false_alarms < 3:
        raise FineError(
            f"{len(puzzles)} puzzles are too few for {false_alarms:.1%} false alarms: give more"
        )
    batch = puzzles.render(range(len(puzzles)))
    scores = all_ood_scores(model, batch.images)
    temperature = round(best_temperature(scores.logits, batch.answers), 4)
    confidence = (scores.logits / temperature).softmax(1).amax(1)
    share = false_alarms / 3  # for each of the three thresholds
    return Calibration(
        temperature=temperature,
        max_residual=round(float(scores.residual.quantile(1 - share)), 5),
        max_distance=round(float(scores.distance.quantile(1 - share)), 5),
        min_confidence=round(float(confidence.quantile(share)), 5),
        false_alarms=false_alarms,
        puzzles=len(puzzles),
    )


def best_temperature(logits: Tensor, answers: Tensor) -> float:  # (b, k), (b,)
    """The temperature that makes the right answers most likely, from 1/20 to 20."""
    low, high = -3.0, 3.0
    for _ in range(4):  # the likelihood has one peak: search ever finer grids around it
        grid = torch.linspace(low, high, 41, dtype=torch.float64)
        losses = [F.cross_entropy(logits.double() / step.exp(), answers) for step in grid]
        best = int(torch.stack(losses).argmin())
        low, high = float(grid[max(0, best - 1)]), float(grid[min(40, best + 1)])
    return float(torch.tensor((low + high) / 2).exp())


def reliability(confidences: Tensor, right: Tensor) -> list[dict[str, Any]]:  # (b,), bool (b,)
    """For every bin of confidence with puzzles in it: their mean confidence, and their accuracy."""
    rows = []
    bins = (confidences * BINS).long().clamp(max=BINS - 1)
    for number in bins.unique().tolist():
        members = bins == number
        rows.append(
            {
                "from": number / BINS,
                "to": (number + 1) / BINS,
                "puzzles": int(members.sum()),
                "sure": round(float(confidences[members].mean()), 5),
                "right": round(float(right[members].float().mean()), 5),
            }
        )
    return rows


def calibration_error(confidences: Tensor, right: Tensor) -> float:  # (b,), bool (b,)
    """Expected calibration error (ECE): the mean gap between confidence and accuracy in bins."""
    rows = reliability(confidences, right)
    gaps = (row["puzzles"] * abs(row["sure"] - row["right"]) for row in rows)
    return sum(gaps) / len(confidences)
