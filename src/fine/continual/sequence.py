"""Families of rules learned one after another, with no puzzle of an old one shown again.

    config = ContinualConfig(task=task, model="fine-grouped", settings={"slots": 72, "groups": 9})
    train(config, Path("runs/sequence"))     # task.rules="all": nine stages, each a run of its own
    figures(read_json(Path("runs/sequence/result.json"))["stages"])   # average, forgetting, …

Half of the training puzzles are of the first family, from which the encoder learns; the others
share the rest. A first family that is never tested (`patchwork`) has new puzzles in every epoch. A
stage starts from the model of the one before, and is stopped and resumed like any other run. After
each stage the model answers the test puzzles of all families, even of those still to come.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import torch

from fine.continual.config import GROWING, ContinualConfig
from fine.continual.stage import StageTrainer
from fine.distributed import ProcessGroup
from fine.drawing import draw_evaluation
from fine.errors import FineError
from fine.evaluation import Evaluation, evaluate
from fine.evaluation.metrics import by_family
from fine.io.files import read_json, remove_leftovers, write_json, write_text
from fine.io.provenance import provenance
from fine.io.tables import read_table_text
from fine.io.tensors import read_tensors, save_tensors
from fine.models import find_model
from fine.models.fine import FINE
from fine.pretrained import load
from fine.puzzles import OBJECT_CHANCE
from fine.puzzles.task import Task
from fine.rules import FAMILIES, rule_set
from fine.training.api import lock_for_all, resume_locked
from fine.training.progress import Progress
from fine.training.protocols import Training
from fine.training.run import Run, RunConfig, difference, register_run_kind

FROZEN_EPOCHS, FROZEN_RATE = 4, 2
"""How many times the epochs, and the learning rate, where the encoder is frozen: embeddings are
made once then, and an epoch over them costs a quarter."""
PRETRAINING_SLOTS = 16
"""Slots while a model pretrains; the first family starts from some of them, and none are kept."""

Row = dict[str, Any]
"""A stage: its family, and the accuracy on the test puzzles of every family after it."""


@dataclass(frozen=True)
class Figures:
    """The usual figures of continual learning, as shares of puzzles."""

    average: float
    """Accuracy on all families at the end."""
    forgetting: float
    """Accuracy lost on a family from its best to the end, on average over all but the last."""
    transfer: float
    """Accuracy on a family just before it is learned, above ignoring the rule, on average over all
    but the first."""


class Stage(NamedTuple):
    """One family, the folder of its run, and how it is learned."""

    family: str
    folder: Path
    config: RunConfig


def stages(config: ContinualConfig, folder: Path) -> list[Stage]:
    """The stages of a sequence, or one line on why it cannot be run."""
    families = list(rule_set(config.task.rules).families)
    tested = [family for family in families if not FAMILIES[family].pretraining_only]
    if not issubclass(find_model(config.model).model, FINE):
        raise FineError(
            f"{config.model} has no slots to add: only a `fine` can learn rules one after another"
        )
    if len(families) < 2:
        raise FineError(
            f"'{config.task.rules}' is one family: with --continual {config.strategy} give "
            "several, joined by +"
        )
    if config.strategy in GROWING and config.settings.get("groups", 0) != len(tested):
        raise FineError(
            f"{len(tested)} families learned by {config.strategy} need a group of slots each: set "
            f"--model fine-grouped and groups={len(tested)}"
        )
    made: list[Stage] = []
    for number, family in enumerate(families):
        start_from = str(made[-1].folder) if made else ""
        model, settings = _model_of(config, family, tested)
        stage = replace(
            config,
            model=model,
            settings=settings,
            task=_task_of(config, families[: number + 1], len(families)),
            training=_training_of(config, first=not made, pretraining=family not in tested),
            start_from=start_from,
            encoder_from="" if start_from else config.encoder_from,
        )
        own = stage if start_from else _plain(stage)
        made.append(Stage(family, folder / f"{number + 1}-{family}", own))
    return made


def _task_of(config: ContinualConfig, so_far: list[str], count: int) -> Task:
    """The task of the last of the families so far, among ``count`` in all."""
    task = config.task
    half = task.train_count // 2
    share = half if len(so_far) == 1 else half // (count - 1)
    return replace(
        task,
        rules="+".join(so_far) if config.strategy == "rehearsal" else so_far[-1],
        test_rules="",
        train_count=max(2, share),
        test_count=max(1, task.test_count // count),
    )


def _model_of(
    config: ContinualConfig, family: str, tested: list[str]
) -> tuple[str, dict[str, Any]]:
    """The model that learns this family, and its settings: with a group for each family so far."""
    settings = dict(config.settings)
    if family not in tested:
        settings.pop("groups", None)
        return "fine", {**settings, "slots": PRETRAINING_SLOTS}
    if config.strategy in GROWING:
        groups = tested.index(family) + 1
        settings |= {"slots": settings["slots"] // len(tested) * groups, "groups": groups}
    return config.model, settings


def _training_of(config: ContinualConfig, *, first: bool, pretraining: bool) -> Training:
    """How a family is trained; after the first, `anchor` freezes the encoder."""
    training = config.training
    if first:
        return replace(training, resample_each_epoch=pretraining)
    if config.strategy == "anchor":
        return replace(
            training,
            epochs=FROZEN_EPOCHS * training.epochs,
            learning_rate=FROZEN_RATE * training.learning_rate,
        )
    return training


def _plain(config: ContinualConfig) -> RunConfig:
    """The same as a run like any other: the first stage starts from no model."""
    return RunConfig(**{field.name: getattr(config, field.name) for field in fields(RunConfig)})


class SequenceTrainer:
    """Learns families one after another, each in a run of its own."""

    def __init__(self, run: Run, config: ContinualConfig, device: torch.device):
        self.run, self.config, self.device = run, config, device
        self.group = ProcessGroup.join(device)
        self.stages = stages(config, run.folder)

    def reuse(self, trained: Run) -> None:
        """Nothing can be taken over from another run; stages that are there are found anyway."""

    def complete(self, progress: Progress) -> Evaluation:
        """Learn the families that are left, and keep the last model as that of the sequence."""
        if self.group.first:
            self._prepare()
        self.group.wait()
        test_puzzles = self.config.task.test_puzzles()
        rows: list[Row] = []
        for number, stage in enumerate(self.stages):
            with lock_for_all(stage.folder):
                self._learn(number, progress)
                record, last = stage.folder / "families.json", number == len(self.stages) - 1
                if not record.exists() or last:
                    model = load(stage.folder, device=self.device)
                    evaluation = evaluate(model, test_puzzles, device=self.device)
                    rows_by_family = by_family(evaluation.by_rule())
                    accuracy = {name: round(right, 5) for name, _, right in rows_by_family}
                    self.group.wait()  # until no other process asks whether it is there
                    if self.group.first:
                        write_json(record, {"family": stage.family, "accuracy": accuracy})
                    self.group.wait()
                rows.append(read_json(record))
        if self.group.first:
            self._finish(rows, evaluation)
        self.group.wait()
        return evaluation

    def _prepare(self) -> None:
        """Refuse stages that are not of this sequence, and delete what a killed process left."""
        for stage in self.stages:
            run = Run(stage.folder)
            if stage.folder.is_symlink():
                raise FineError(
                    f"{stage.folder} is a link: expected a folder of this sequence; delete it to "
                    "learn this family here"
                )
            changed = difference(run.config(), stage.config) if run.exists else ""
            if changed:
                raise FineError(
                    f"{stage.folder} does not fit {self.run.folder} any more ({changed}): put it "
                    "back in config.json, or train in another folder"
                )
        remove_leftovers(self.run.folder)

    def _learn(self, number: int, progress: Progress) -> None:
        """Train what is left of a stage."""
        stage = self.stages[number]
        run = Run(stage.folder)
        if self.group.first:
            remove_leftovers(stage.folder)
        if run.finished:
            return
        if self.group.first and not run.checkpoint.exists():
            # Written again if it is there: the folder that it starts from may have been moved.
            run.save_config(stage.config)
        self.group.wait()
        resume_locked(
            stage.folder,
            device=str(self.device),
            threads=torch.get_num_threads(),
            progress=_StageProgress(progress, self.config, self.stages, number),
        )

    def _finish(self, rows: list[Row], evaluation: Evaluation) -> None:
        """Make the folder of the sequence a run like any other: weights, all epochs, result."""
        folder, folders = self.run.folder, [stage.folder for stage in self.stages]
        curves = [read_table_text(each / "metrics.csv").splitlines() for each in folders]
        header = curves[0][0]
        epochs = [line.partition(",")[2] for curve in curves for line in curve[1:]]
        numbered = [f"{number},{epoch}" for number, epoch in enumerate(epochs, start=1)]
        write_text(folder / "metrics.csv", "\n".join([header, *numbered]) + "\n")
        minutes = round(sum(read_json(each / "result.json")["minutes"] for each in folders), 3)
        result = {**evaluation.summary(), "minutes": minutes, "stages": rows, **provenance()}
        write_json(folder / "result.json", result)
        draw_evaluation(evaluation, folder / "puzzles.png")
        # Last: with its weights a run is finished.
        save_tensors(self.run.weights, read_tensors(Run(folders[-1]).weights)[0])


def figures(rows: Sequence[Row]) -> Figures:
    """The figures of a sequence of stages, over the families that were tested."""
    final, end = rows[-1]["accuracy"], len(rows) - 1
    stage_of = {row["family"]: n for n, row in enumerate(rows) if row["family"] in final}

    def best(family: str) -> float:
        """The best accuracy from its own stage to the last but one."""
        return max(row["accuracy"][family] for row in rows[stage_of[family] : end])

    def before(family: str) -> float:
        return rows[stage_of[family] - 1]["accuracy"][family]

    old = [family for family, stage in stage_of.items() if stage < end]
    later = [family for family, stage in stage_of.items() if stage > 0]
    return Figures(
        average=fmean(final[family] for family in stage_of),
        forgetting=fmean(best(family) - final[family] for family in old),
        transfer=fmean(before(family) - OBJECT_CHANCE for family in later),
    )


class _StageProgress:
    """Shows the progress of a stage as that of the whole sequence.

    A bar counts the epochs and puzzles of the sequence's own configuration.
    """

    def __init__(self, progress: Progress, config: RunConfig, stages: Sequence[Stage], number: int):
        self.progress, self.before = progress, _puzzles_shown(stages[:number])
        whole = config.training.epochs * config.task.train_count
        self.scale = whole / _puzzles_shown(stages)
        # Epochs of the stage that count as one; more than 1 where the encoder is frozen.
        self.epochs_in_one = stages[number].config.training.epochs // config.training.epochs

    def step(self, *, epoch: int, done: int, loss: float, accuracy: float) -> None:
        done = round(self.scale * (self.before + done))
        epoch = -(-epoch // self.epochs_in_one)
        self.progress.step(epoch=epoch, done=done, loss=loss, accuracy=accuracy)

    def epoch(self, *, epoch: int, loss: float, accuracy: float, speed: float) -> None:
        if epoch % self.epochs_in_one == 0:
            epoch //= self.epochs_in_one
            self.progress.epoch(epoch=epoch, loss=loss, accuracy=accuracy, speed=speed)


def _puzzles_shown(stages: Sequence[Stage]) -> int:
    """Puzzles that some stages show, counted in every epoch."""
    configs = [stage.config for stage in stages]
    return sum(config.training.epochs * config.task.train_count for config in configs)


def make_trainer(
    run: Run, config: ContinualConfig, device: torch.device
) -> StageTrainer | SequenceTrainer:
    """What trains a continual run: a stage if it starts from a model, otherwise a sequence."""
    kind = StageTrainer if config.start_from else SequenceTrainer
    return kind(run, config, device)


register_run_kind("continual", ContinualConfig, make_trainer)
