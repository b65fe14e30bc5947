"""How far a model's word can be taken: probabilities that mean what they say, and limits beyond which no answer is better.

    calibration = calibrate(model, held_back(task, 2_000))         # on training puzzles that training has not shown
    calibration.temperature, calibration.beyond(signs)             # and which puzzles had better not be answered

Everything here is fitted on puzzles over training classes; test puzzles choose nothing.
"""

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from fine.errors import FineError
from fine.functions.maps import compose_map
from fine.functions.noticing import unexplained
from fine.models.fine import FINE
from fine.puzzles import Puzzles
from fine.storage import read_json, write_json
from fine.tasks import Task
from fine.typed_json import read_as

FALSE_ALARMS = 0.05
"""Share of puzzles with a known rule and a right choice that may be refused."""
FILE = "calibration.json"
"""Its name in the folder of a model."""
BINS = 10
"""Steps of confidence in which it is compared with what is right."""
_OTHER_SEED = 1_000_003  # added to the seed of a training: puzzles that it has not shown
_CHUNK = 100
_FORMAT = 1


@dataclass(frozen=True)
class Calibration:
    """What was found out about a model on puzzles that its training has not shown."""

    temperature: float
    """What logits are divided by to make probabilities; above 1, the model is surer than it should be."""
    strangest_hint: float
    """The largest misfit of a hint whose rule the model knows."""
    farthest_answer: float
    """The largest misfit of a right choice."""
    least_sure: float
    """The smallest probability, by the temperature, of a choice that is taken."""
    false_alarms: float
    """Share of puzzles beyond these limits, a third of it for each."""
    puzzles: int
    """How many it was found on."""

    def beyond(self, signs: "Signs") -> tuple[Tensor, Tensor, Tensor]:  # three of bool (b,)
        """Which puzzles lie beyond each limit: a strange hint, a choice too far away, no choice that stands out."""
        sure = (signs.logits / self.temperature).softmax(1).amax(1)
        return signs.hint > self.strangest_hint, signs.answer > self.farthest_answer, sure < self.least_sure

    def save(self, path: Path) -> None:
        """Write it to a file."""
        write_json(path, {"format": _FORMAT, **asdict(self)})

    @staticmethod
    def read(path: Path) -> "Calibration":
        """What a file holds, or one line on why it cannot be used."""
        content = read_json(path)
        try:
            if content.pop("format", None) != _FORMAT:
                raise ValueError(f"its format is not {_FORMAT}")
            return read_as(Calibration, content)
        except (TypeError, ValueError) as problem:
            raise FineError(f"{path} is not a calibration ({problem}): make it again with `fine calibrate`") from problem


class Signs(NamedTuple):
    """What a model shows of itself while it answers puzzles."""

    logits: Tensor
    """(b, k)"""
    hint: Tensor
    """(b,): what the memory leaves unexplained of the hint, as a share of y."""
    answer: Tensor
    """(b,): how far the function stays from the choice that is taken, as a share of that."""


@torch.no_grad()
def signs_of(model: FINE, pictures: Tensor) -> Signs:  # (b, 3 + k, channels, size, size)
    """The signs of puzzles as the model sees them."""
    codes = model.eval().encode(pictures)
    x, y, new, choices = codes[:, 0], codes[:, 1], codes[:, 2], codes[:, 3:]
    logits = model.judge(codes)
    taken = choices[torch.arange(len(codes)), logits.argmax(1)]
    made = compose_map(model, [x], [y])(new)
    return Signs(logits, unexplained(model, x, y), _share(model, made, taken))


def _share(model: FINE, made: Tensor, wanted: Tensor) -> Tensor:  # (b, rows, columns) twice -> (b,)
    return model.distance(made, wanted) / model.distance(torch.zeros_like(wanted), wanted).clamp(min=1e-8)


def signs_of_all(model: FINE, pictures: Tensor) -> Signs:
    """The same for many puzzles, a few at a time."""
    parts = [signs_of(model, part) for part in pictures.split(_CHUNK)]
    return Signs(*(torch.cat(each) for each in zip(*parts, strict=True)))


def held_back(task: Task, count: int, *, seed: int = 0) -> Puzzles:
    """Puzzles that a training on this task with this seed has not shown: over the classes it held back, or else new ones."""
    counted = replace(task, train_count=count, test_count=count)
    return counted.test_puzzles() if task.validation else counted.training_puzzles(seed=seed + _OTHER_SEED)


def calibrate(model: FINE, puzzles: Puzzles, *, false_alarms: float = FALSE_ALARMS) -> Calibration:
    """The temperature with the most likely answers, and the limits that leave a share of these puzzles outside."""
    if not 0 < false_alarms < 1:
        raise FineError(f"false_alarms is {false_alarms}: give a share between 0 and 1, such as {FALSE_ALARMS}")
    if len(puzzles) * false_alarms < 3:
        raise FineError(f"{len(puzzles)} puzzles are too few for {false_alarms:.1%} false alarms: give more of them")
    batch = puzzles.render(range(len(puzzles)))
    signs = signs_of_all(model, batch.pictures)
    temperature = round(best_temperature(signs.logits, batch.answers), 4)
    sure = (signs.logits / temperature).softmax(1).amax(1)
    return Calibration(
        temperature=temperature,
        strangest_hint=round(float(signs.hint.quantile(1 - false_alarms / 3)), 5),
        farthest_answer=round(float(signs.answer.quantile(1 - false_alarms / 3)), 5),
        least_sure=round(float(sure.quantile(false_alarms / 3)), 5),
        false_alarms=false_alarms,
        puzzles=len(puzzles),
    )


def best_temperature(logits: Tensor, answers: Tensor) -> float:  # (b, k), (b,)
    """The temperature that makes the right answers most likely, from 1/20 to 20."""
    low, high = -3.0, 3.0
    for _ in range(4):  # the likelihood has one peak: look around it ever more closely
        tries = torch.linspace(low, high, 41, dtype=torch.float64)
        losses = [F.cross_entropy(logits.double() / step.exp(), answers) for step in tries]
        best = int(torch.stack(losses).argmin())
        low, high = float(tries[max(0, best - 1)]), float(tries[min(40, best + 1)])
    return float(torch.tensor((low + high) / 2).exp())


def reliability(confidences: Tensor, right: Tensor) -> list[dict[str, Any]]:  # (b,), bool (b,)
    """For every step of confidence with puzzles in it: how sure answers are on average, and how many of them are right."""
    rows = []
    steps = (confidences * BINS).long().clamp(max=BINS - 1)
    for step in steps.unique().tolist():
        own = steps == step
        rows.append(
            {
                "from": step / BINS,
                "to": (step + 1) / BINS,
                "puzzles": int(own.sum()),
                "sure": round(float(confidences[own].mean()), 5),
                "right": round(float(right[own].float().mean()), 5),
            }
        )
    return rows


def calibration_error(confidences: Tensor, right: Tensor) -> float:
    """How far confidence and what is right are apart, on average over puzzles (ECE, in ten steps)."""
    rows = reliability(confidences, right)
    return sum(row["puzzles"] * abs(row["sure"] - row["right"]) for row in rows) / len(confidences)
