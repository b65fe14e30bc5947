"""Where the time of a training step goes: python benchmarks/step.py

The real step of the real trainer is timed in turn with its parts, in CPU time on one thread.
"""

import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import torch

from fine.protocols import Training
from fine.puzzles import Batch
from fine.runs import Run, RunConfig
from fine.tasks import Task
from fine.training import Trainer
from timing import median_ratio, show, take_turns, verdict

TARGET = 0.20
"""Largest share of a step that is not the encoder's."""


class Parts:
    """A training step, whole and in parts, over the same puzzles."""

    def __init__(self, model: str, *, batch: int):
        config = RunConfig(model=model, task=Task.preset("glyphs", rules="affine"), training=Training(batch=batch))
        self.trainer = Trainer(Run(Path(tempfile.mkdtemp())), config, torch.device("cpu"))
        self.model = self.trainer.model.train()
        puzzles = config.task.training_puzzles()
        self.specs, self.renderer = puzzles.specs[:batch], puzzles.renderer()
        self.batch = self.renderer(self.specs)
        self.codes = self.model.encode(self.batch.pictures).detach().requires_grad_()
        self.code_gradient = torch.randn_like(self.codes)

    def step(self) -> None:
        self.trainer._step(self.render(), 1e-6, len(self.specs), 0)

    def optimise(self) -> None:  # right after a step, whose gradients it takes again
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.trainer.config.training.clip)
        self.trainer.optimiser.step()

    def render(self) -> Batch:
        return self.renderer(self.specs)

    def encode(self) -> None:
        self.trainer.optimiser.zero_grad()
        self.model.encode(self.batch.pictures).backward(self.code_gradient)

    def answer(self) -> None:
        """Memory, backbone, distance and loss, from codes back to codes."""
        self.trainer.optimiser.zero_grad()
        self.codes.grad = None
        self.model.learn_from_codes(self.codes, self.batch.answers)[1].mean().backward()


def main() -> int:
    torch.set_num_threads(1)
    rows, met = [], True
    for model, batch in (("fine", 64), ("fine-nice", 32)):
        parts = Parts(model, batch=batch)
        candidates = (parts.step, parts.optimise, parts.render, parts.encode, parts.answer)
        whole, *times = take_turns(candidates, rounds=40, clock=time.process_time)
        optimise, render, encode, answer = (median_ratio(part, whole) for part in times)
        ok = 1 - encode <= TARGET
        met &= ok
        shares = (encode, answer, render, optimise, 1 - encode - answer - render - optimise, 1 - encode)
        rows.append((f"{model}, {batch}", f"{1000 * median(whole):.1f}", *(f"{share:.1%}" for share in shares), verdict(ok)))
    columns = ("model, batch", "step ms", "encoder", "memory to loss", "rendering", "clip + Adam", "rest", "not encoder")
    show("A training step by part", (*columns, f"≤ {TARGET:.0%}"), rows)
    return not met


if __name__ == "__main__":
    sys.exit(main())
