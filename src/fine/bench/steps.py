"""What is timed: steps of the real trainer, whole and in parts, and puzzles answered."""

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from fine.models import memory, paper
from fine.puzzles import Batch
from fine.puzzles.task import Task
from fine.training import Run, RunConfig, Trainer, Training, learn


class Step:
    """A training step of one model, from puzzles to new weights: call it."""

    def __init__(
        self, model: str, task: Task, *, batch: int, settings: Mapping[str, Any] | None = None
    ):
        config = RunConfig(
            model,
            task,
            Training(batch=batch),
            dict(settings or {}),
            channels=task.image_channels,
        )
        # A trainer looks in its folder for a checkpoint to resume from; nothing is written.
        with tempfile.TemporaryDirectory() as nowhere:
            self.trainer = Trainer(Run(Path(nowhere)), config, torch.device("cpu"))
        self.trainer.model.train()
        self.render = self.trainer.puzzles.renderer()
        self.specs = self.trainer.puzzles.specs[:batch]

    @property
    def parameters(self) -> int:
        return sum(weight.numel() for weight in self.trainer.model.parameters())

    def __call__(self) -> None:
        batch, size = self.render(self.specs), len(self.specs)
        self.trainer.step(batch, learning_rate=1e-6, size=size, number=0)


class Solving:
    """Puzzles rendered and answered by one model: call it."""

    def __init__(self, step: Step):
        self.model, self.render, self.specs = step.trainer.model, step.render, step.specs

    @torch.no_grad()
    def __call__(self) -> None:
        self.model.eval()
        self.model(self.render(self.specs).images)
        self.model.train()


class Reading(NamedTuple):
    """A call of a memory while a model learns, with a gradient for its answer."""

    memory: nn.Module
    x: Tensor
    y: Tensor
    gradient: Tensor


class Parts:
    """The parts of a training step of a FINE, over the same puzzles as the step."""

    def __init__(self, step: Step):
        self.step, self.trainer = step, step.trainer
        self.model = cast(paper.FINE, step.trainer.model)
        self.batch = self.render()
        self.embeddings = self.model.encode(self.batch.images).detach().requires_grad_()
        self.gradient = torch.randn_like(self.embeddings)
        self.readings = memory_readings(self.model, self.batch)

    def render(self) -> Batch:
        return self.step.render(self.step.specs)

    def encode(self) -> None:
        """Images to embeddings, forward and backward."""
        self.trainer.optimiser.zero_grad()
        self.model.encode(self.batch.images).backward(self.gradient)

    def answer(self) -> None:
        """Memory, backbone, distance and loss: embeddings to losses, forward and backward."""
        self.trainer.optimiser.zero_grad()
        self.embeddings.grad = None
        learn_from_embeddings = getattr(self.model, "learn_from_embeddings", None)
        if learn_from_embeddings is not None:
            losses = learn_from_embeddings(self.embeddings, self.batch.answers)[1]
        else:
            logits = self.model.score(self.embeddings)
            losses = F.cross_entropy(logits, self.batch.answers, reduction="none")
        losses.mean().backward()

    def remember(self) -> None:
        """All calls of memories that the answer takes, forward and backward."""
        self.trainer.optimiser.zero_grad()
        for reading in self.readings:
            reading.x.grad = reading.y.grad = None
            reading.memory(reading.x, reading.y).backward(reading.gradient)

    def optimise(self) -> None:
        """Gradient clipping and Adam; right after a step, whose gradients it uses again."""
        norm = self.trainer.config.training.grad_clip
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), norm)
        self.trainer.optimiser.step()


def memory_readings(model: nn.Module, batch: Batch) -> list[Reading]:
    """Every call of a memory while a model learns from a batch."""
    readings: list[Reading] = []

    def note(called: nn.Module, pair: tuple[Tensor, ...], weight: Tensor) -> None:
        x, y = (embedding.detach().requires_grad_() for embedding in pair)
        readings.append(Reading(called, x, y, torch.randn_like(weight)))

    kinds = (memory.FunctionalMemory, paper.FunctionalMemory)
    memories = [module for module in model.modules() if isinstance(module, kinds)]
    hooks = [module.register_forward_hook(note) for module in memories]
    learn(model, batch)
    for hook in hooks:
        hook.remove()
    return readings
