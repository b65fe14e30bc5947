"""The training loop: Adam on cross-entropy, a resumable state after every epoch, the same weights from the same seed.

    evaluation = train(RunConfig(task=Task.preset("omniglot", rules="rotation")), Path("runs/rotation"))
    evaluation = resume(Path("runs/rotation"))     # continues a run that was stopped, to the same weights

All randomness is addressed by (seed, epoch), so a run has no generator state to save.
"""

import contextlib
import csv
import io
import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from fine.allocation import keep_freed_memory
from fine.continual.held import MOST_HELD, encoded
from fine.continual.rehearsal import rehearsed
from fine.errors import FineError
from fine.evaluation import Evaluation, evaluate
from fine.functions.answering import Answering
from fine.locking import locked
from fine.models import model_config
from fine.models.fine import FINE
from fine.models.growing import MISFITS, hold_still, learn_misfits
from fine.processes import Processes
from fine.progress import Progress, Silent
from fine.puzzles import SIDES, Batch, Puzzles, seen_from, seen_through, turned
from fine.questions import FORWARDS
from fine.randomness import random_below, random_order, random_uniform
from fine.runs import Run, RunConfig, load_weights, provenance, read_tensors, save_tensors
from fine.storage import remove_leftovers, write_json, write_text
from fine.typed_json import read_as

# Addresses of random numbers; those of splits and puzzles are in tasks.py.
_ORDER, _SIDE, _THROUGH, _LENS, _TURN = 4, 5, 7, 8, 9
CURVE = ("epoch", "loss", "accuracy", "rate", "puzzles/s")
"""Columns of a run's learning curve, metrics.csv."""


def train(config: RunConfig, folder: Path, *, device: str = "cpu", progress: Progress | None = None) -> Evaluation:
    """Train a model from the start, test it, and keep everything in ``folder``, which must not hold a run already."""
    return begin(config, folder, _alone_in(folder), device=device, progress=progress)


def resume(folder: Path, *, device: str = "cpu", progress: Progress | None = None) -> Evaluation:
    """Train a run from its last whole epoch to its end (or from the start, if there is none), and test it."""
    Run(folder).config()  # a folder without a run is not touched
    with _alone_in(folder):
        return go_on(folder, device=device, progress=progress)


Hold = contextlib.AbstractContextManager[None]


def begin(
    config: RunConfig,
    folder: Path,
    hold: Hold,
    *,
    device: str = "cpu",
    progress: Progress | None = None,
    learned: Run | None = None,
) -> Evaluation:
    """`train`, for one who has another way to ``hold`` the folder to himself.

    ``learned`` is a finished run that differs in its test alone: its weights are those that training would end with.
    """
    run = Run(folder)
    config.check()
    _refuse_a_run(run)
    if config.training.arrival and not config.grown_from:
        from fine.continual.stages import begin_in_turn  # late, because it is made of runs

        return begin_in_turn(config, folder, hold, device=device, progress=progress)
    # A run keeps all settings of its model, so that it can be loaded after their defaults have changed.
    settings = asdict(model_config(config.model, config.settings))
    config = replace(config, settings=settings, channels=config.task.picture_channels)
    trainer = Trainer(run, config, torch.device(device))  # an impossible model or task is refused before anything is written
    if learned is not None:
        trainer.take_over(learned)
    with hold:
        if trainer.processes.first:
            _refuse_a_run(run)  # one that was begun meanwhile
            run.save_config(config)
        return trainer.complete(progress or Silent())


def go_on(folder: Path, *, device: str = "cpu", progress: Progress | None = None) -> Evaluation:
    """`resume`, for one who has the folder to himself already."""
    run = Run(folder)
    config = run.config()
    if run.finished:
        raise FineError(f"{folder} holds a finished run: test it with `fine evaluate {folder}`, or train in another folder")
    config.check()
    if config.training.arrival and not config.grown_from:
        from fine.continual.stages import learn_in_turn

        return learn_in_turn(config, folder, device=device, progress=progress)
    return Trainer(run, config, torch.device(device)).complete(progress or Silent())


def _refuse_a_run(run: Run) -> None:
    if run.exists:
        raise FineError(f"{run.folder} holds a run already: choose another folder, or continue it with --resume {run.folder}")


def _alone_in(folder: Path) -> Hold:
    """The run folder to ourselves, and to those we train with under torchrun: the first of them holds it for all."""
    if int(os.environ.get("RANK", "0")) or os.name == "nt":  # Windows has no such locks; there it is up to the user
        return contextlib.nullcontext()
    return locked(folder)


class Trainer:
    """A run in the making: model, optimiser and how far it has come."""

    def __init__(self, run: Run, config: RunConfig, device: torch.device):
        keep_freed_memory()
        self.run, self.config, self.device = run, config, device
        self.processes = Processes.join(device)
        torch.manual_seed(config.training.seed)
        # A run that goes on has its encoder in its state; the run it was taken from may be gone.
        self.model = self.processes.share((config.build() if run.state.exists() else config.start()).to(device))
        self.asked = self.model if config.question == FORWARDS else Answering(self.model, config.question)
        if config.grown_from:
            hold_still(self.model, config.training.arrival)
        self.learned = [parameter for parameter in self.model.parameters() if parameter.requires_grad]
        self.optimiser = torch.optim.Adam(self.learned, lr=config.training.rate, fused=True)
        self.epochs_done = 0
        self.seconds = 0.0
        self.metrics: list[dict[str, Any]] = []
        if run.state.exists():
            self._load_state()
        self.puzzles = self._draw()
        self.codes: Batch | None = None
        self.test_puzzles = config.task.test_puzzles(config.question)

    def take_over(self, learned: Run) -> None:
        """Have the weights and the curve of a run that has learned the same already, in no time."""
        load_weights(self.model, read_tensors(learned.weights)[0], learned.weights)
        with (learned.folder / "metrics.csv").open(encoding="utf-8", newline="") as file:
            self.metrics = list(csv.DictReader(file))
        self.epochs_done = self.config.training.epochs

    def complete(self, progress: Progress) -> Evaluation:
        """Train what is left and test."""
        if self.processes.first:
            remove_leftovers(self.run.folder)
        self.fit(progress)
        return self.finish()

    def fit(self, progress: Progress) -> None:
        """Train the epochs that are left, keeping the state after each."""
        first = self.epochs_done
        while self.epochs_done < self.config.training.epochs:
            if self.config.training.fresh and self.epochs_done > first:
                self.puzzles = self._draw()
            self._train_epoch(self.puzzles, progress)

    def finish(self) -> Evaluation:
        """Test the trained model and write weights, result and picture."""
        if isinstance(self.model, FINE) and _last_group_learnt(self.model, self.config):
            # Not the puzzles at hand: a run that was resumed at its end may have others than one that was not.
            learn_misfits(self.model, self.config.task.training_puzzles(seed=self.config.training.seed)[:MISFITS])
        evaluation = evaluate(self.asked, self.test_puzzles, device=self.device, processes=self.processes)
        if self.processes.first:
            self._save_metrics()  # again: a run killed between its last state and its last row would lack the row
            save_tensors(self.run.weights, self.model.state_dict())
            result = {**evaluation.summary(), "minutes": round(self.seconds / 60, 3), **provenance()}
            write_json(self.run.folder / "result.json", result)
            evaluation.draw(self.run.folder / "puzzles.png")
            self.run.state.unlink(missing_ok=True)
        self.processes.wait()
        return evaluation

    def _draw(self) -> Puzzles:
        """The training puzzles of the epoch to come."""
        training = self.config.training
        if self.config.grown_from and training.arrival == "rehearsal":
            return rehearsed(self.config.task, seed=training.seed)
        epoch = self.epochs_done if training.fresh else 0
        return self.config.task.training_puzzles(seed=training.seed, epoch=epoch, question=self.config.question)

    def _train_epoch(self, puzzles: Puzzles, progress: Progress) -> None:
        training, epoch = self.config.training, self.epochs_done
        show = self._shown(puzzles, epoch)
        order = random_order(len(puzzles), training.seed, _ORDER, epoch)
        batches = [order[at : at + training.batch] for at in range(0, len(order), training.batch)]
        if len(batches[-1]) < 2:
            batches.pop()  # too few to normalise over
        if len(batches[-1]) < self.processes.count:  # not dropped: any number of processes takes the same steps
            raise FineError(
                f"the last batch of an epoch has {len(batches[-1])} puzzles, too few for {self.processes.count} processes: "
                "use fewer processes, or another --batch"
            )
        loss_sum = torch.zeros((), device=self.device)
        right = torch.zeros((), device=self.device)
        started, worked, shown, done = time.monotonic(), time.process_time(), 0.0, 0
        self.asked.train()
        for number, batch in enumerate(batches):
            step = epoch * len(batches) + number
            rate = training.rate_at(step, training.epochs * len(batches))
            share = batch[self.processes.rank :: self.processes.count]
            batch_loss, batch_right = self._step(show(share), rate, len(batch), step)
            loss_sum += batch_loss
            right += batch_right
            done += len(batch)
            if time.monotonic() - shown > 0.2:  # reading a number waits for the device, so do it rarely
                shown = time.monotonic()
                seen = done / self.processes.count
                progress.step(
                    epoch=epoch + 1, done=epoch * len(puzzles) + done, loss=loss_sum.item() / seen, accuracy=right.item() / seen
                )
        self.processes.sum((loss_sum, right))
        self.processes.agree_on_buffers(self.model)
        state = self.model.state_dict()
        if not all(torch.isfinite(tensor).all() for tensor in state.values()):  # the last step has had no other to find it
            raise self._not_finite(step, state)
        seconds = time.monotonic() - started
        self.epochs_done += 1
        # What it costs, not how long it waited for other work on the same cores. On a GPU a waiting process does no work.
        self.seconds += seconds if self.device.type == "cuda" else min(seconds, time.process_time() - worked)
        loss, accuracy, speed = loss_sum.item() / done, right.item() / done, done / seconds
        self.metrics.append(dict(zip(CURVE, (epoch + 1, loss, accuracy, rate, speed), strict=True)))
        if self.processes.first:
            self._save_state()
        progress.epoch(epoch=epoch + 1, loss=loss, accuracy=accuracy, speed=speed)

    def _shown(self, puzzles: Puzzles, epoch: int) -> Callable[[NDArray[np.int64]], Batch]:
        """Numbers of puzzles -> the puzzles, as this epoch shows them; as codes if those never change."""
        training, render = self.config.training, puzzles.renderer(self.device)
        if isinstance(self.model, FINE) and self._holds_codes(puzzles):
            codes = self.codes = self.codes or encoded(self.model, puzzles, self.device)
            return lambda numbers: Batch(codes.pictures[numbers], codes.answers[numbers])

        def show(numbers: NDArray[np.int64]) -> Batch:
            specs = puzzles.specs[numbers]
            if training.turned:
                sides = random_below(SIDES, training.seed, _TURN, epoch, numbers[:, None], np.arange(3))
                specs = turned(puzzles, numbers, sides)
            shown = render(specs)
            if training.views > 1:
                shown = seen_from(shown, random_below(training.views, training.seed, _SIDE, epoch, numbers))
            if training.through:
                some = random_uniform(training.seed, _THROUGH, epoch, numbers) < training.through
                rules = random_below(len(puzzles.rules), training.seed, _LENS, epoch, numbers)
                shown = seen_through(shown, render.warp, np.where(some, rules, -1))
            return shown

        return show

    def _learn(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Logits and losses of puzzles, or of their codes."""
        if self.codes is not None and isinstance(self.model, FINE):
            return self.model.learn_from_codes(batch.pictures, batch.answers)
        return learn(self.asked, batch)

    def _holds_codes(self, puzzles: Puzzles) -> bool:
        """Whether the encoder sees the same puzzles in every epoch and does not learn from them."""
        training = self.config.training
        changing = training.fresh or training.turned or training.views > 1 or training.through
        learns = any(name.startswith("encoder.") and p.requires_grad for name, p in self.model.named_parameters())
        plain = self.config.question == FORWARDS
        return plain and not changing and not learns and len(puzzles) <= MOST_HELD

    def _step(self, batch: Batch, rate: float, size: int, step: int) -> tuple[Tensor, Tensor]:
        """One step of Adam on this process's share of a batch of ``size`` puzzles."""
        logits, losses = self._learn(batch)
        loss = losses.sum()
        self.optimiser.zero_grad()
        (loss / size).backward()
        self.processes.sum(p.grad for p in self.model.parameters() if p.grad is not None)
        gradients = {name: p.grad for name, p in self.model.named_parameters() if p.grad is not None}
        norm = torch.nn.utils.get_total_norm(gradients.values())
        if not torch.isfinite(norm + loss.detach()):  # one number read for both: reading waits for the device
            named = {f"the gradient of {name}": gradient for name, gradient in gradients.items()}
            raise self._not_finite(step, {"the loss": loss, **named, "the norm of the gradient": norm})
        torch.nn.utils.clip_grads_with_norm_(self.model.parameters(), self.config.training.clip, norm)
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        self.optimiser.step()
        return loss.detach(), (logits.argmax(1) == batch.answers).sum()

    def _not_finite(self, step: int, tensors: Mapping[str, Tensor]) -> FineError:
        """The error for numbers that have run away, naming the first: weights before all else, for they spoil the rest."""
        named: dict[str, Tensor] = {**dict(self.model.named_parameters()), **tensors}
        bad = [name for name, tensor in named.items() if not torch.isfinite(tensor).all()]
        others = f" and {len(bad) - 1} more are" if len(bad) > 1 else " is"
        kept = f"the state after epoch {self.epochs_done} is kept in {self.run.folder}; " if self.epochs_done else ""
        return FineError(
            f"{bad[0]}{others} not finite at step {step + 1}, epoch {self.epochs_done + 1}: {kept}train again with a lower "
            "--rate or --clip"
        )

    def _save_state(self) -> None:
        tensors = {f"model.{name}": tensor for name, tensor in self.model.state_dict().items()}
        for number, entry in self.optimiser.state_dict()["state"].items():
            tensors |= {f"adam.{number}.{name}": tensor for name, tensor in entry.items()}
        progress = {"epochs": self.epochs_done, "seconds": self.seconds, "metrics": self.metrics}
        save_tensors(self.run.state, tensors, {"progress": json.dumps(progress)})
        self._save_metrics()

    def _save_metrics(self) -> None:
        table = io.StringIO()
        writer = csv.DictWriter(table, CURVE, lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.metrics)
        write_text(self.run.folder / "metrics.csv", table.getvalue())

    def _load_state(self) -> None:
        tensors, metadata = read_tensors(self.run.state)
        try:
            progress = read_as(Past, json.loads(metadata["progress"]), "progress")
            self.epochs_done, self.seconds, self.metrics = progress.epochs, progress.seconds, list(progress.metrics)
            if self.epochs_done < 1 or len(self.metrics) != self.epochs_done:
                raise ValueError(f"{self.epochs_done} epochs with {len(self.metrics)} rows")
            if any(row.keys() != set(CURVE) for row in self.metrics):
                raise ValueError(f"a row of its learning curve has other columns than {', '.join(CURVE)}")
            weights = {name.removeprefix("model."): t for name, t in tensors.items() if name.startswith("model.")}
            load_weights(self.model, weights, self.run.state)
            moments: dict[int, dict[str, Tensor]] = {}
            for name, tensor in tensors.items():
                if name.startswith("adam."):
                    _, number, entry = name.split(".")
                    shape = torch.Size() if entry == "step" else self.learned[int(number)].shape
                    if tensor.shape != shape or tensor.dtype != torch.float32:
                        raise ValueError(f"'{name}' does not fit its weight")
                    moments.setdefault(int(number), {})[entry] = tensor
            if not moments or any(entry.keys() != {"step", "exp_avg", "exp_avg_sq"} for entry in moments.values()):
                raise ValueError("the optimiser's numbers are not complete")
            self.optimiser.load_state_dict({**self.optimiser.state_dict(), "state": moments})
        except (KeyError, IndexError, ValueError, TypeError, RecursionError) as problem:
            raise FineError(
                f"{self.run.state} is not a training state ({problem}): delete it to start the run again"
            ) from problem


@dataclass(frozen=True)
class Past:
    """How far a run had come when its state was written."""

    epochs: int
    seconds: float
    metrics: tuple[dict[str, Any], ...]


def _last_group_learnt(model: FINE, config: RunConfig) -> bool:
    """Whether a run taught the last group of slots, and no other."""
    return model.config.groups == 1 or (model.config.groups > 1 and bool(config.grown_from))


def learn(model: nn.Module, batch: Batch) -> tuple[Tensor, Tensor]:
    """Logits (b, k) and loss (b,) of training puzzles: a model's own way of learning, or the cross-entropy of its answer."""
    own: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]] | None = getattr(model, "learn", None)
    if own is not None:
        return own(batch.pictures, batch.answers)
    logits = model(batch.pictures)
    return logits, F.cross_entropy(logits, batch.answers, reduction="none")
