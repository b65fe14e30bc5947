"""`fine evaluate`"""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import torch
import tyro
from rich.table import Table
from torch import nn

from fine.cli.arguments import options
from fine.cli.options import DataRoot, MachineOptions, VariantOptions
from fine.cli.scores import print_comparison, print_evaluation
from fine.cli.terminal import console, say
from fine.distributed import ProcessGroup
from fine.drawing import draw_evaluation, sheet_format
from fine.errors import FineError
from fine.evaluation import Evaluation, evaluate, paired_test
from fine.io.files import write_json
from fine.models.oracle import LIMITS
from fine.models.variant_solver import VariantSolver
from fine.pretrained import holds_run, load, names, trained_on
from fine.puzzles import KINDS, Puzzles
from fine.puzzles.task import Task, usual_rules
from fine.puzzles.variants import PLAIN, Variant
from fine.training.run import Run


@options(Task, default="the task's")
class Evaluate:
    """Test a trained model on the puzzles of its own task or of another, or measure what can be
    reached without learning."""

    source: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")]
    """The run folder, an exported folder, or a bundled model by name; or oracle, which knows all
    rules and looks up which one it is; or pixels, a least-squares map between pixels."""
    task: str = ""
    """Another task to test on, such as omniglot for a model trained on glyphs."""
    rules: str = ""
    """Other rules to test on."""
    distractors: Annotated[str, tyro.conf.arg(metavar="KIND")] = ""
    """How the wrong rules are drawn: any, family (the same one as the right rule), near …"""
    test_count: int | None = None
    against: Annotated[str, tyro.conf.arg(metavar="OTHER")] = ""
    """Another model, given as RUN is: it answers the same puzzles, and the two are compared by
    McNemar's test."""
    by_rule: bool = False
    """Also show a row for every rule."""
    json: Path | None = None
    """Also write the numbers to this file."""
    sheet: Path | None = None
    """Draw solved and missed puzzles to this PNG or SVG file."""
    data_root: DataRoot = ""
    variant: VariantOptions = VariantOptions()
    machine: MachineOptions = MachineOptions()

    def run(self) -> None:
        self.machine.use()
        if self.sheet is not None:
            sheet_format(self.sheet)  # refuse a wrong name before the work, not after it
        model, puzzles, variant = self._limit() if self.source in LIMITS else self._trained()
        models = [model, self._other(puzzles)] if self.against else [model]
        device = self.machine.device
        group = ProcessGroup.join(torch.device(device))
        solvers = (one if variant == PLAIN else VariantSolver(one, variant) for one in models)
        evaluation, *others = (evaluate(it, puzzles, device=device, group=group) for it in solvers)
        if not group.first:
            return
        print_evaluation(evaluation)
        for other in others:
            print_comparison(self.against, other, paired_test(evaluation, other))
        if variant != PLAIN:
            say(f"variant: {variant}")
        if variant.name == "backwards":
            say(
                "a rule may do little, so the choice most similar to y' is right more often than "
                "chance (docs/functions.md)"
            )
        if self.by_rule:
            console.print(rule_table(evaluation))
        if self.json is not None:
            write_json(self.json, evaluation.summary())
        if self.sheet is not None:
            draw_evaluation(evaluation, self.sheet)
            say(f"solved and missed puzzles: {self.sheet}")

    def _trained(self) -> tuple[nn.Module, Puzzles, Variant]:
        """A trained model, and puzzles with as many channels and pixels as it was trained on."""
        folder = Path(self.source)
        if _is_exported(self.source):
            model = load(self.source, device=self.machine.device)
            trained, channels, usual = self._exported_task(), model.channels, PLAIN
        else:
            run = Run(folder)
            config = run.config()
            trained, channels, usual = config.task, config.channels, config.variant
            model = None
        task = trained
        if self.task:
            task = Task.preset(self.task, rules=self.rules or trained.rules.partition(":")[0])
        elif self.rules:
            task = replace(task, rules=self.rules, test_rules="")
        task = replace(task, channels=channels, size=trained.size)
        variant = self.variant.make(usual)
        puzzles = self._puzzles(task, variant, data_root=trained.data_root)
        return model or Run(folder).load(device=self.machine.device), puzzles, variant

    def _other(self, puzzles: Puzzles) -> nn.Module:
        """The model to compare with, which has to see the same images."""
        channels, size = puzzles.images.pixels.shape[1:3]
        if self.against in LIMITS:
            return LIMITS[self.against](puzzles.rules, size)
        device = self.machine.device
        model: nn.Module
        if _is_exported(self.against):
            exported = load(self.against, device=device)
            model, seen = exported, (exported.channels, exported.size)
        else:
            run = Run(Path(self.against))
            config = run.config()
            model, seen = run.load(device=device), (config.channels, config.task.size)
        if seen != (channels, size):
            raise FineError(
                f"{self.against} sees {_shape(*seen)}, and {self.source} {_shape(channels, size)}: "
                "compare models that see the same"
            )
        return model

    def _exported_task(self) -> Task:
        """What a model that is no run was trained on."""
        task = trained_on(self.source)
        if task is None:
            if not self.task:
                raise FineError(f"{self.source} does not say what it was trained on: give --task")
            return Task.preset(self.task, rules=self.rules or usual_rules(self.task))
        return task

    def _limit(self) -> tuple[nn.Module, Puzzles, Variant]:
        """What needs no training, and the puzzles of the task it is given."""
        name = self.task or "glyphs"
        task = Task.preset(name, rules=self.rules or usual_rules(name))
        variant = self.variant.make()
        puzzles = self._puzzles(task, variant)
        return LIMITS[self.source](puzzles.rules, task.size), puzzles, variant

    def _puzzles(self, task: Task, variant: Variant, *, data_root: str = "") -> Puzzles:
        count = task.test_count if self.test_count is None else self.test_count
        if count < 1:
            raise FineError(f"test_count is {count}: give at least 1")
        task = replace(task, test_count=count, data_root=self.data_root or data_root)
        if self.distractors:
            task = replace(task, test_distractors=self.distractors)
        return task.test_puzzles(variant)


def _is_exported(source: str) -> bool:
    """Whether a model is bundled or was exported, and so is no run."""
    folder = Path(source)
    return source in names() or ((folder / "config.json").is_file() and not holds_run(folder))


def _shape(channels: int, size: int) -> str:
    return f"{'grey' if channels == 1 else 'colour'} images of {size} × {size}"


def rule_table(evaluation: Evaluation) -> Table:
    """A row for every hidden rule."""
    table = Table("rule", "puzzles", *KINDS)
    for row in evaluation.by_rule():
        table.add_row(row["rule"], str(row["puzzles"]), *(f"{row[kind]:.1%}" for kind in KINDS))
    return table
