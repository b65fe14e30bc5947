"""`fine evaluate`"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import tyro
from rich.table import Table
from torch import nn

from fine.cli.terminal import OptionalInt, OptionalPath, console, print_evaluation, say, use_device
from fine.drawing.sheet import sheet_format
from fine.errors import FineError
from fine.evaluation import Evaluation, evaluate
from fine.models.limits import LIMITS
from fine.puzzles import KINDS, Puzzles
from fine.runs import Run
from fine.storage import write_json
from fine.tasks import Task


@dataclass(frozen=True)
class Evaluate:
    """Test a trained model, on the puzzles of its own task or of another; or measure what can be reached without learning."""

    source: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")]
    """The run folder; or `oracle`, which knows the rules and looks up which one it is, or `pixels`, a least-squares map
    between pixels."""
    task: str = ""
    """Another task to test on, such as omniglot for a model trained on glyphs."""
    rules: str = ""
    """Other rules to test on."""
    test_count: OptionalInt = None
    """Test puzzles, if not the task's."""
    by_rule: bool = False
    """Also show a row for every rule."""
    json: OptionalPath = None
    """Write the numbers to this file too."""
    picture: OptionalPath = None
    """Draw solved and missed puzzles to this PNG or SVG file."""
    device: str = "cpu"
    """cpu or cuda."""
    threads: int = 0
    """CPU threads; 0 lets torch choose."""
    data_root: str = ""
    """Folder of the official data files; otherwise FINE_DATA or the user cache folder."""

    def run(self) -> None:
        use_device(self.device, self.threads)
        if self.picture is not None:
            sheet_format(self.picture)  # refuse a wrong name before the work, not after it
        model, puzzles = self._limit() if self.source in LIMITS else self._trained()
        evaluation = evaluate(model, puzzles, device=self.device)
        print_evaluation(evaluation)
        if self.by_rule:
            console.print(rule_table(evaluation))
        if self.json is not None:
            write_json(self.json, evaluation.summary())
        if self.picture is not None:
            evaluation.draw(self.picture)
            say(f"solved and missed puzzles: {self.picture}")

    def _trained(self) -> tuple[nn.Module, Puzzles]:
        """The model of a run folder, and puzzles as it was trained to see them: grey or colour, and of its own size."""
        run = Run(Path(self.source))
        config = run.config()
        task = config.task
        if self.task:
            task = Task.preset(self.task, rules=self.rules or config.task.rules.partition(":")[0])
        elif self.rules:
            task = replace(task, rules=self.rules, test_rules="")
        task = replace(task, channels=config.channels, size=config.task.size)
        puzzles = self._puzzles(task, data_root=config.task.data_root)
        return run.load(device=self.device), puzzles

    def _limit(self) -> tuple[nn.Module, Puzzles]:
        """What needs no training, and the puzzles of the task it is given."""
        task = Task.preset(self.task or "glyphs", rules=self.rules or "affine")
        puzzles = self._puzzles(task)
        return LIMITS[self.source](puzzles.rules, task.size), puzzles

    def _puzzles(self, task: Task, *, data_root: str = "") -> Puzzles:
        count = task.test_count if self.test_count is None else self.test_count
        if count < 1:
            raise FineError(f"test_count is {count}: give at least 1")
        return replace(task, test_count=count, data_root=self.data_root or data_root).test_puzzles()


def rule_table(evaluation: Evaluation) -> Table:
    """A row for every hidden rule."""
    table = Table("rule", "puzzles", *KINDS)
    for row in evaluation.by_rule():
        table.add_row(row["rule"], str(row["puzzles"]), *(f"{row[kind]:.1%}" for kind in KINDS))
    return table
