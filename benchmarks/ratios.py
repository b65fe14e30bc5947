"""How much faster than a plain transcription of the paper: python benchmarks/ratios.py

Both have the same weights and give the same numbers (reference.py), and take turns on one thread, in CPU time. Training is the
step of the real trainer, rendering included. Solving is 1,000 rendered puzzles: here all at once; by the transcription one by
one, as one would ask it, and in batches too.
"""

import sys
import time
from statistics import median

import torch

from fine.bench.steps import Step
from fine.models import make_model
from fine.tasks import Task
from reference import PlainFINE
from timing import median_ratio, show, take_turns, verdict

BATCH, PUZZLES = 64, 1_000
TRAINING, SOLVING = 3, 10
"""How many times faster training and solving should be."""


class Solving:
    """Answers to rendered puzzles, so many at once; of fewer puzzles, to be multiplied up, where all would take too long."""

    def __init__(self, model: torch.nn.Module, pictures: torch.Tensor, *, at_once: int, count: int = PUZZLES):
        self.model, self.parts = model.eval(), pictures[:count].split(at_once)
        self.factor = PUZZLES / count

    @torch.no_grad()
    def __call__(self) -> None:
        for part in self.parts:
            self.model(part)


def main() -> int:
    torch.set_num_threads(1)
    task, rows, met = Task.preset("glyphs", rules="affine"), [], True
    pictures = task.test_puzzles()[:PUZZLES].render(range(PUZZLES)).pictures
    for name in ("fine", "fine-nice"):
        fast, plain = Step(name, task, batch=BATCH), Step(name, task, batch=BATCH)
        plain.trainer.model = PlainFINE(plain.trainer.model)
        taken = take_turns((fast, plain), rounds=3, clock=time.process_time)
        ratio = median_ratio(taken[1], taken[0])
        met &= ratio >= TRAINING
        speeds = (f"{BATCH / median(seconds):,.0f}" for seconds in taken)
        rows.append(
            (name, f"training, {BATCH} a step", *speeds, f"{ratio:.1f} ×", f"≥ {TRAINING} ×", verdict(ratio >= TRAINING))
        )
        model = make_model(name, channels=1, size=32)
        ways = (
            Solving(model, pictures, at_once=100),
            Solving(PlainFINE(model), pictures, at_once=1, count=50),
            Solving(PlainFINE(model), pictures, at_once=100, count=200),
        )
        here, *there = take_turns(ways, rounds=3, clock=time.process_time)
        for how, way, seconds in zip(("one by one", "100 at once"), ways[1:], there, strict=True):
            ratio = way.factor * median_ratio(seconds, here)
            speeds = (f"{PUZZLES / median(here):,.0f}", f"{PUZZLES / way.factor / median(seconds):,.0f}")
            aim, ok = (f"≥ {SOLVING} ×", verdict(ratio >= SOLVING)) if how == "one by one" else ("", "")
            met &= how != "one by one" or ratio >= SOLVING
            rows.append((name, f"solving; plain: {how}", *speeds, f"{ratio:.1f} ×", aim, ok))
    columns = ("model", "what", "puzzles/s here", "plain", "faster by", "target", "")
    show("Against a plain transcription, one thread", columns, rows)
    return not met


if __name__ == "__main__":
    sys.exit(main())
