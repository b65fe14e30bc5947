"""How much faster batches are than one puzzle at a time: python benchmarks/ratios.py

Both have the same weights and give the same answers, and take turns on one thread, in CPU time.
Training is the step of the real trainer, rendering included. Solving is 1,000 rendered puzzles: in
batches of 100; puzzle by puzzle; and puzzle by puzzle with the images of 100 embedded together.
"""

import sys
import time
from statistics import median

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from fine.bench.steps import Step
from fine.models import make_model
from fine.models.fine import FINE
from fine.puzzles.task import Task
from timing import median_ratio, show, take_turns, verdict

BATCH, PUZZLES = 64, 1_000
TRAINING, SOLVING = 3, 10
"""How many times faster training and solving should be."""

Row = tuple[str, ...]


class PuzzleByPuzzle(nn.Module):
    """A FINE that embeds x, y, x' and each choice in turn, and composes one function at a time."""

    def __init__(self, model: nn.Module):
        super().__init__()
        self.model = model

    def forward(self, images: Tensor) -> Tensor:
        return torch.cat([self.model.score(one[None]) for one in self.encode(images)])

    def learn(self, images: Tensor, answers: Tensor) -> tuple[Tensor, Tensor]:
        puzzles = zip(self.encode(images), answers, strict=True)
        logits, losses = zip(*(self.learn_one(*puzzle) for puzzle in puzzles), strict=True)
        return torch.cat(logits), torch.cat(losses)

    def learn_one(self, embeddings: Tensor, answer: Tensor) -> tuple[Tensor, Tensor]:
        if isinstance(self.model, FINE):
            return self.model.learn_from_embeddings(embeddings[None], answer[None])
        logits = self.model.score(embeddings[None])
        return logits, F.cross_entropy(logits, answer[None], reduction="none")

    def encode(self, images: Tensor) -> Tensor:
        numbers = range(images.shape[1])
        embedded = [self.model.encode(images[:, [number]], firsts=[0]) for number in numbers]
        return torch.cat(embedded, dim=1)


class Solving:
    """Answers to rendered puzzles, ``at_once`` at a time.

    Where all puzzles would take too long it answers ``count`` of them; times are multiplied by
    ``factor``.
    """

    def __init__(self, model: nn.Module, images: Tensor, *, at_once: int, count: int = PUZZLES):
        self.model, self.parts = model.eval(), images[:count].split(at_once)
        self.factor = PUZZLES / count

    @torch.no_grad()
    def __call__(self) -> None:
        for part in self.parts:
            self.model(part)


def training(name: str, task: Task) -> tuple[Row, bool]:
    """The row of a model's training, and whether it is fast enough."""
    fast, plain = Step(name, task, batch=BATCH), Step(name, task, batch=BATCH)
    plain.trainer.model = plain.trainer.solver = PuzzleByPuzzle(plain.trainer.model)
    taken = take_turns((fast, plain), rounds=3, clock=time.process_time)
    ratio = median_ratio(taken[1], taken[0])
    speeds = (f"{BATCH / median(seconds):,.0f}" for seconds in taken)
    met = ratio >= TRAINING
    aim = (f"{ratio:.1f} ×", f"≥ {TRAINING} ×", verdict(met))
    return (name, f"training, {BATCH} a step", *speeds, *aim), met


def solving(name: str, images: Tensor) -> tuple[list[Row], bool]:
    """The rows of a model's answers, and whether they are fast enough."""
    model = make_model(name, channels=1, size=32)
    fast = Solving(model, images, at_once=100)
    plain = {
        "one puzzle": Solving(PuzzleByPuzzle(model), images, at_once=1, count=50),
        "100 embedded at once": Solving(PuzzleByPuzzle(model), images, at_once=100, count=200),
    }
    here, *there = take_turns((fast, *plain.values()), rounds=3, clock=time.process_time)
    rows, met = [], True
    for (how, way), seconds in zip(plain.items(), there, strict=True):
        ratio = way.factor * median_ratio(seconds, here)
        plain_speed = PUZZLES / way.factor / median(seconds)
        speeds = (f"{PUZZLES / median(here):,.0f}", f"{plain_speed:,.0f}")
        aim = ("", "")
        if how == "one puzzle":
            met &= ratio >= SOLVING
            aim = (f"≥ {SOLVING} ×", verdict(ratio >= SOLVING))
        rows.append((name, f"solving, against {how}", *speeds, f"{ratio:.1f} ×", *aim))
    return rows, met


def main() -> int:
    torch.set_num_threads(1)
    task, rows, met = Task.preset("glyphs", rules="affine"), [], True
    images = task.test_puzzles()[:PUZZLES].render(range(PUZZLES)).images
    for name in ("fine", "fine-nice"):
        row, fast_training = training(name, task)
        more, fast_solving = solving(name, images)
        rows += [row, *more]
        met &= fast_training and fast_solving
    columns = (
        "model",
        "what",
        "puzzles/s in batches",
        "puzzle by puzzle",
        "faster by",
        "target",
        "",
    )
    show("Against one puzzle at a time, one thread", columns, rows)
    return not met


if __name__ == "__main__":
    sys.exit(main())
