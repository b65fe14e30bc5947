"""`fine train`"""

import itertools
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import tyro

from fine.cli.arguments import given, options
from fine.cli.options import (
    ContinualOptions,
    MachineOptions,
    ModelName,
    ModelOptions,
    RulesOfTask,
    TaskName,
    TaskOptions,
    TrainingOptions,
    VariantOptions,
)
from fine.cli.scores import print_evaluation
from fine.cli.terminal import console, say
from fine.continual import ContinualConfig
from fine.models.string_encoder import STRING_SETTINGS
from fine.puzzles.task import Task, usual_rules
from fine.puzzles.variants import PLAIN
from fine.training import resume, train
from fine.training.api import other_threads
from fine.training.loggers import Several, open_log
from fine.training.progress import ProgressBar
from fine.training.protocols import Training
from fine.training.run import Run, RunConfig


@options()
class RunOptions(MachineOptions):
    """Where to run, and what to continue."""

    resume: Path | None = None
    """Continue the run in this folder, with the options that it was started with."""
    log: Annotated[str, tyro.conf.arg(metavar="NAME")] = ""
    """Also write curves for tensorboard, or for wandb (Weights & Biases)."""


@options(Training, default="the protocol's")
class Train:
    """Train a model on puzzles, then test it on images it has never seen."""

    task: TaskName = "glyphs"
    rules: RulesOfTask = ""
    model: ModelName = "fine"
    epochs: int | None = None
    seed: int = 0
    out: Path | None = None
    """Run folder; by default a new one, runs/TASK-RULES-MODEL-SEED."""
    puzzles: Annotated[TaskOptions, tyro.conf.arg(name="task")] = TaskOptions()
    settings: Annotated[ModelOptions, tyro.conf.arg(name="model")] = ModelOptions()
    training: TrainingOptions = TrainingOptions()
    variant: VariantOptions = VariantOptions()
    continual: ContinualOptions = ContinualOptions()
    machine: Annotated[RunOptions, tyro.conf.arg(name="run")] = RunOptions()

    def run(self) -> None:
        self.machine.use()
        if self.machine.resume is not None:
            folder, config = self.machine.resume, Run(self.machine.resume).config()
            if line := other_threads(Run(folder), self.machine.threads):
                say(line)
        else:
            folder, config = self.out or self._free_folder(), self.config()
        title = f"training {config.model} on {described(config)} in {folder}"
        with (
            open_log(self.machine.log, folder, config) as log,
            progress_bar(config, folder, title) as bar,
        ):
            progress = Several(bar, log)
            if self.machine.resume is not None:
                device, threads = self.machine.device, self.machine.threads
                evaluation = resume(folder, device=device, threads=threads, progress=progress)
            else:
                evaluation = train(config, folder, device=self.machine.device, progress=progress)
            log.result(evaluation)
        print_evaluation(evaluation)
        say(f"run folder: {folder}    solved and missed puzzles: {folder / 'puzzles.png'}")

    def config(self) -> RunConfig:
        """The run that is asked for."""
        rules = self.rules or usual_rules(self.task)
        task = replace(Task.preset(self.task, rules=rules), **given(self.puzzles, Task))
        training = self.training.make(epochs=self.epochs, strings=task.shows_strings)
        usual = STRING_SETTINGS if task.shows_strings and self.model == "fine" else {}
        config = RunConfig(
            model=self.model,
            task=task,
            training=replace(training, seed=self.seed),
            settings={**usual, **self.settings.settings()},
            encoder_from=self.settings.encoder_from,
            variant=self.variant.make(),
        )
        if self.continual.strategy:
            return ContinualConfig(**vars(config), strategy=self.continual.strategy)
        return config

    def _free_folder(self) -> Path:
        """runs/TASK-RULES-MODEL-SEED, or the first of …-2, …-3 that holds no run."""
        rules = self.rules or usual_rules(self.task)
        name = f"{self.task}-{rules}-{self.model}-{self.seed}"
        name = name.replace("/", "-").replace(":", "-")
        suffixes = itertools.chain([""], (f"-{number}" for number in itertools.count(2)))
        folders = (Path("runs") / f"{name}{suffix}" for suffix in suffixes)
        return next(folder for folder in folders if not Run(folder).exists)


def described(config: RunConfig) -> str:
    """A run in words."""
    variant = "" if config.variant == PLAIN else f", {config.variant},"
    return f"{config.task.rules} puzzles over {config.task.images}{variant}"


@contextmanager
def progress_bar(config: RunConfig, folder: Path, title: str) -> Iterator[ProgressBar]:
    """The progress of a run; if it is stopped by Ctrl-C, how to continue it."""
    epochs, puzzles = config.training.epochs, config.task.train_count
    try:
        with ProgressBar(console, title, epochs=epochs, puzzles=puzzles) as progress:
            yield progress
    except KeyboardInterrupt:
        remedy = f"continue with: fine train --resume {shlex.quote(str(folder))}"
        say(f"stopped; {remedy if Run(folder).exists else 'nothing was written'}")
        raise SystemExit(130) from None
