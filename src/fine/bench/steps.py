"""What is timed: steps of the real trainer, whole and in parts, and puzzles answered."""

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor, nn

from fine.models.memory import FunctionalMemory
from fine.protocols import Training
from fine.puzzles import Batch
from fine.runs import Run, RunConfig
from fine.tasks import Task
from fine.training import Trainer, learn


class Step:
    """A training step of one model, from puzzles to new weights: call it."""

    def __init__(self, model: str, task: Task, *, batch: int, settings: Mapping[str, Any] | None = None):
        config = RunConfig(model, task, Training(batch=batch), dict(settings or {}), channels=task.picture_channels)
        with tempfile.TemporaryDirectory() as nowhere:  # a trainer looks there for a state to go on from; nothing is written
            self.trainer = Trainer(Run(Path(nowhere)), config, torch.device("cpu"))
        self.trainer.model.train()
        self.render, self.specs = self.trainer.puzzles.renderer(), self.trainer.puzzles.specs[:batch]

    @property
    def parameters(self) -> int:
        return sum(weight.numel() for weight in self.trainer.model.parameters())

    def __call__(self) -> None:
        self.trainer._step(self.render(self.specs), 1e-6, len(self.specs), 0)


class Solving:
    """Puzzles rendered and answered by one model: call it."""

    def __init__(self, step: Step):
        self.model, self.render, self.specs = step.trainer.model, step.render, step.specs

    @torch.no_grad()
    def __call__(self) -> None:
        self.model.eval()
        self.model(self.render(self.specs).pictures)
        self.model.train()


class Parts:
    """The parts of a training step of a FINE, over the same puzzles as the step."""

    def __init__(self, step: Step):
        self.step, self.trainer = step, step.trainer
        self.model = cast(Any, step.trainer.model)
        self.batch = self.render()
        self.codes = self.model.encode(self.batch.pictures).detach().requires_grad_()
        self.code_gradient = torch.randn_like(self.codes)
        self.readings = memory_readings(self.model, self.batch)

    def render(self) -> Batch:
        return self.step.render(self.step.specs)

    def encode(self) -> None:
        """Pictures to codes, and back."""
        self.trainer.optimiser.zero_grad()
        self.model.encode(self.batch.pictures).backward(self.code_gradient)

    def answer(self) -> None:
        """Memory, backbone, distance and loss: codes to losses, and back."""
        self.trainer.optimiser.zero_grad()
        self.codes.grad = None
        self.model.learn_from_codes(self.codes, self.batch.answers)[1].mean().backward()

    def remember(self) -> None:
        """All readings of memories that the answer takes, and back."""
        self.trainer.optimiser.zero_grad()
        for memory, x, y, gradient in self.readings:
            x.grad = y.grad = None
            memory(x, y).backward(gradient)

    def optimise(self) -> None:
        """Clip and Adam; right after a step, whose gradients it takes again."""
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.trainer.config.training.clip)
        self.trainer.optimiser.step()


def memory_readings(model: nn.Module, batch: Batch) -> list[tuple[nn.Module, Tensor, Tensor, Tensor]]:
    """Every memory that is read while a model learns from a batch, with what it was asked and a gradient for its answer."""
    readings: list[tuple[nn.Module, Tensor, Tensor, Tensor]] = []

    def note(memory: nn.Module, asked: tuple[Tensor, ...], answer: Tensor) -> None:
        x, y = (code.detach().requires_grad_() for code in asked)
        readings.append((memory, x, y, torch.randn_like(answer)))

    hooks = [module.register_forward_hook(note) for module in model.modules() if isinstance(module, FunctionalMemory)]
    learn(model, batch)
    for hook in hooks:
        hook.remove()
    return readings
