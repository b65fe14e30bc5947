"""The training loop: Adam on cross-entropy, with a checkpoint after every epoch.

trainer = Trainer(Run(folder), config, torch.device("cpu"))
evaluation = trainer.complete(Silent())      # trains what is left, tests, writes weights and result
"""

import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from fine.allocation import keep_freed_memory
from fine.distributed import ProcessGroup
from fine.drawing import draw_evaluation
from fine.errors import FineError
from fine.evaluation import Evaluation, evaluate
from fine.io.files import remove_leftovers, write_json
from fine.io.ownership import check_owned
from fine.io.provenance import provenance
from fine.io.tensors import read_tensors, save_tensors
from fine.models.variant_solver import VariantSolver
from fine.models.weights import load_weights
from fine.puzzles import PLAIN, Batch, Puzzles
from fine.randomness import random_order
from fine.training.checkpoint import (
    CURVE,
    TEST_ACCURACY,
    CheckpointMeta,
    load_checkpoint,
    read_curve,
    save_checkpoint,
    write_curve,
)
from fine.training.embedding_cache import MOST_CACHED, EmbeddingCache
from fine.training.feed import Feed
from fine.training.progress import Progress
from fine.training.run import Run, RunConfig, register_run_kind
from fine.training.sync_batchnorm import convert_sync_batchnorm

_ORDER = 4  # address of random numbers: the order of the puzzles in an epoch
_SHOWN_EVERY = 0.2  # seconds; reading a number waits for the device, so progress does it rarely

Integers = NDArray[np.int64]


class Step(NamedTuple):
    """The outcome of one training step, over this process's share of the batch."""

    loss: Tensor
    """The sum of the losses of its puzzles."""
    right: Tensor
    """How many of its puzzles were answered right."""


class _Stopwatch:
    """Seconds since it was made."""

    def __init__(self, device: torch.device):
        self.on_gpu = device.type == "cuda"
        self.started, self.worked = time.monotonic(), time.process_time()

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self.started

    @property
    def cost(self) -> float:
        """Without the time of other work on the same cores; with a GPU, all of it."""
        worked = time.process_time() - self.worked
        return self.elapsed if self.on_gpu else min(self.elapsed, worked)


class Trainer:
    """A run while it is trained: model, optimiser and learning curve.

    A subclass may override `prepare` to freeze parts of the model, `draw` to choose the training
    puzzles, and `after_training` to fit what is not trained by gradients.
    """

    def __init__(self, run: Run, config: RunConfig, device: torch.device):
        keep_freed_memory()
        self.run, self.config, self.device = run, config, device
        self.group = ProcessGroup.join(device)
        torch.manual_seed(config.training.seed)
        # A resumed run has its weights in its checkpoint; the source of its encoder may be gone.
        resumed = run.checkpoint.exists()
        self.model = (config.build() if resumed else config.start()).to(device)
        if self.group.count > 1:
            convert_sync_batchnorm(self.model)
        self.solver = self.model
        if config.variant != PLAIN:
            self.solver = VariantSolver(self.model, config.variant)
        self.prepare()
        self.parameters = [weight for weight in self.model.parameters() if weight.requires_grad]
        self.optimiser = torch.optim.Adam(
            self.parameters, lr=config.training.learning_rate, fused=True
        )
        self.epochs_done = 0
        self.seconds = 0.0
        self.metrics: list[dict[str, Any]] = []
        if resumed:
            meta = load_checkpoint(
                run.checkpoint, config, self.model, self.optimiser, self.parameters
            )
            self.epochs_done, self.seconds = meta.epochs, meta.seconds
            self.metrics = list(meta.metrics)
        self.puzzles = self.draw()
        self.cache: EmbeddingCache | None = None
        self.test_puzzles = config.task.test_puzzles(config.variant)

    def prepare(self) -> None:
        """Freeze parameters that must not change; called before the optimiser is made."""

    def draw(self) -> Puzzles:
        """The training puzzles of the next epoch."""
        training = self.config.training
        epoch = self.epochs_done if training.resample_each_epoch else 0
        return self.config.task.training_puzzles(
            seed=training.seed, epoch=epoch, variant=self.config.variant
        )

    def after_training(self) -> None:
        """Show training puzzles once more to a model that has an ``after_training(puzzles)``."""
        after: Callable[[Puzzles], None] | None = getattr(self.model, "after_training", None)
        if after is not None:
            # Those of epoch 0, not self.puzzles: a run resumed at its end would have others there.
            after(self.config.task.training_puzzles(seed=self.config.training.seed))

    def reuse(self, trained: Run) -> None:
        """Copy weights and learning curve of a finished run that was trained the same way."""
        load_weights(self.model, read_tensors(trained.weights)[0], trained.weights)
        rows = read_curve(trained.folder / "metrics.csv")
        # Without its test accuracies: they were measured on other puzzles.
        self.metrics = [{name: row[name] for name in CURVE} for row in rows]
        self.epochs_done = self.config.training.epochs

    def complete(self, progress: Progress) -> Evaluation:
        """Train what is left and test."""
        if self.group.first:
            remove_leftovers(self.run.folder)
        self.fit(progress)
        return self.finish()

    def fit(self, progress: Progress) -> None:
        """Train the epochs that are left, with a checkpoint after each."""
        first, training = self.epochs_done, self.config.training
        while self.epochs_done < training.epochs:
            if training.resample_each_epoch and self.epochs_done > first:
                self.puzzles = self.draw()
            self._train_epoch(progress)

    def finish(self) -> Evaluation:
        """Test the trained model and write weights, result and image."""
        self.after_training()
        evaluation = self._test()
        if self.group.first:
            folder = self.run.folder
            # Again: a run killed right after its last checkpoint lacks the last row.
            write_curve(folder / "metrics.csv", self.metrics)
            save_tensors(self.run.weights, self.model.state_dict())
            minutes = round(self.seconds / 60, 3)
            result = {**evaluation.summary(), "minutes": minutes, **provenance()}
            write_json(folder / "result.json", result)
            draw_evaluation(evaluation, folder / "puzzles.png")
            check_owned(folder)
            self.run.checkpoint.unlink(missing_ok=True)
        self.group.wait()
        return evaluation

    def step(self, batch: Batch, *, learning_rate: float, size: int, number: int) -> Step:
        """One step of Adam on this process's share of a batch of ``size`` puzzles.

        ``number`` counts the steps of the run from 0, for the message if numbers are not finite.
        """
        logits, losses = self._learn(batch)
        loss = losses.sum()
        self.optimiser.zero_grad()
        (loss / size).backward()
        self.group.sum(p.grad for p in self.model.parameters() if p.grad is not None)
        named = self.model.named_parameters()
        gradients = {name: p.grad for name, p in named if p.grad is not None}
        norm = nn.utils.get_total_norm(gradients.values())
        if not torch.isfinite(norm + loss.detach()):  # one read of both: it waits for the device
            suspects = {"the loss": loss}
            suspects |= {f"the gradient of {name}": grad for name, grad in gradients.items()}
            raise self._not_finite(number, {**suspects, "the norm of the gradient": norm})
        nn.utils.clip_grads_with_norm_(
            self.model.parameters(), self.config.training.grad_clip, norm
        )
        for group in self.optimiser.param_groups:
            group["lr"] = learning_rate
        self.optimiser.step()
        return Step(loss.detach(), (logits.argmax(1) == batch.answers).sum())

    def _train_epoch(self, progress: Progress) -> None:
        training, epoch, group = self.config.training, self.epochs_done, self.group
        feed, batches = self._feed(), self._batches()
        loss_sum = torch.zeros((), device=self.device)
        right = torch.zeros((), device=self.device)
        watch, shown, done = _Stopwatch(self.device), 0.0, 0
        self.solver.train()
        for place, batch in enumerate(batches):
            number = epoch * len(batches) + place
            rate = training.learning_rate_at(number, training.epochs * len(batches))
            share = batch[group.rank :: group.count]
            step = self.step(feed(share), learning_rate=rate, size=len(batch), number=number)
            loss_sum += step.loss
            right += step.right
            done += len(batch)
            if time.monotonic() - shown > _SHOWN_EVERY:
                shown, seen = time.monotonic(), done / group.count
                progress.step(
                    epoch=epoch + 1,
                    done=epoch * len(self.puzzles) + done,
                    loss=loss_sum.item() / seen,
                    accuracy=right.item() / seen,
                )
        group.sum((loss_sum, right))
        group.average_buffers(self.model)
        self._check_weights(number)
        loss, accuracy = loss_sum.item() / done, right.item() / done
        speed = done / watch.elapsed
        self.epochs_done += 1
        self.seconds += watch.cost
        row = (epoch + 1, loss, accuracy, rate, speed)
        self.metrics.append(dict(zip(CURVE, row, strict=True)))
        if self.epochs_done in training.test_epochs:
            self.metrics[-1][TEST_ACCURACY] = self._test().accuracy
        if group.first:
            self._save_checkpoint()
        progress.epoch(epoch=epoch + 1, loss=loss, accuracy=accuracy, speed=speed)

    def _batches(self) -> list[Integers]:
        """The numbers of the puzzles in this epoch's order, in batches."""
        training = self.config.training
        order = random_order(len(self.puzzles), training.seed, _ORDER, self.epochs_done)
        batches = [order[at : at + training.batch] for at in range(0, len(order), training.batch)]
        if len(batches[-1]) < 2:
            batches.pop()  # too few to normalise over
        last = len(batches[-1])
        if last < self.group.count:  # dropping it would make runs depend on the number of processes
            raise FineError(
                f"the last batch of an epoch has {last} puzzles, too few for {self.group.count} "
                "processes: use fewer processes, or another --batch"
            )
        return batches

    def _feed(self) -> Callable[[Integers], Batch]:
        """Numbers of puzzles -> those puzzles as this epoch shows them, or cached embeddings."""
        if self._embeddings_stay():
            self.cache = self.cache or EmbeddingCache(self.model, self.puzzles, self.device)
            return self.cache
        return Feed(self.puzzles, self.config.training, self.epochs_done, self.device)

    def _embeddings_stay(self) -> bool:
        """Whether every epoch shows the same images to an encoder that is frozen."""
        if not hasattr(self.model, "learn_from_embeddings"):
            return False
        plain = self.config.variant == PLAIN and self.config.training.shows_the_same
        return plain and self._encoder_is_frozen() and len(self.puzzles) <= MOST_CACHED

    def _encoder_is_frozen(self) -> bool:
        named = self.model.named_parameters()
        return not any(name.startswith("encoder.") and p.requires_grad for name, p in named)

    def _learn(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Logits and losses of puzzles, or of their cached embeddings."""
        if self.cache is not None:
            learn_from_embeddings: Any = self.model.learn_from_embeddings
            return learn_from_embeddings(batch.images, batch.answers)
        return learn(self.solver, batch)

    def _check_weights(self, number: int) -> None:
        """Refuse weights that are not finite after the last step: no later step would notice."""
        weights = self.model.state_dict()
        if not all(torch.isfinite(tensor).all() for tensor in weights.values()):
            raise self._not_finite(number, weights)

    def _not_finite(self, number: int, tensors: Mapping[str, Tensor]) -> FineError:
        """The error for numbers that are not finite.

        It names the first one, parameters before everything else, because they cause the rest.
        """
        named: dict[str, Tensor] = {**dict(self.model.named_parameters()), **tensors}
        bad = [name for name, tensor in named.items() if not torch.isfinite(tensor).all()]
        others = f" and {len(bad) - 1} more are" if len(bad) > 1 else " is"
        kept = ""
        if self.epochs_done:
            kept = f"the checkpoint of epoch {self.epochs_done} is kept in {self.run.folder}; "
        return FineError(
            f"{bad[0]}{others} not finite at step {number + 1}, epoch {self.epochs_done + 1}: "
            f"{kept}train again with a lower --learning-rate or --grad-clip"
        )

    def _test(self) -> Evaluation:
        return evaluate(self.solver, self.test_puzzles, device=self.device, group=self.group)

    def _save_checkpoint(self) -> None:
        meta = CheckpointMeta(self.epochs_done, self.seconds, tuple(self.metrics))
        save_checkpoint(self.run.checkpoint, self.config, self.model, self.optimiser, meta)
        write_curve(self.run.folder / "metrics.csv", self.metrics)


def learn(model: nn.Module, batch: Batch) -> tuple[Tensor, Tensor]:
    """Logits (b, k) and loss (b,) of training puzzles.

    A model's own ``learn(images, answers)`` if it has one, or the cross-entropy of its answer.
    """
    own: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]] | None = getattr(model, "learn", None)
    if own is not None:
        return own(batch.images, batch.answers)
    logits = model(batch.images)
    return logits, F.cross_entropy(logits, batch.answers, reduction="none")


register_run_kind("plain", RunConfig, Trainer)
