"""`fine evaluate`"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import torch
import tyro
from rich.table import Table
from torch import nn

from fine.cli.terminal import OptionalInt, OptionalPath, console, print_evaluation, say, use_device
from fine.drawing.sheet import sheet_format
from fine.errors import FineError
from fine.evaluation import Evaluation, evaluate
from fine.functions.answering import Answering
from fine.models.limits import LIMITS
from fine.processes import Processes
from fine.puzzles import KINDS, Puzzles
from fine.questions import FORWARDS, Question, question
from fine.runs import Run
from fine.storage import write_json
from fine.strings import are_strings
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
    ask: str = ""
    """What is asked: hints (which choice does x' become?), backwards (which one was it?), chain (after all of the hints) or
    odd-one-out (which pair follows another rule?); empty: what the run was trained for."""
    hints: int = 0
    """Hints that are shown; 0: one, two in a chain, four with an odd one out."""
    by: str = ""
    """How a backwards puzzle is solved: inverse (of the function), turned (the function composed from y to x) or tried (the
    function, on every choice); empty: inverse, or as the run was trained."""
    noise: float = 0.0
    """Share of the pixels of hints that have a random brightness instead of their own."""
    covered: float = 0.0
    """Share of each picture of a hint that a black square covers."""
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
        wanted = self._question()
        model, puzzles = self._limit(wanted) if self.source in LIMITS else self._trained(wanted)
        processes = Processes.join(torch.device(self.device))
        asked = model if wanted == FORWARDS else Answering(model, wanted)
        evaluation = evaluate(asked, puzzles, device=self.device, processes=processes)
        if not processes.first:
            return
        print_evaluation(evaluation)
        if wanted != FORWARDS:
            say(f"asked: {wanted}")
        if wanted.name == "backwards":
            say("what looks most like y' is the answer more often than by chance, for a rule may do little (docs/functions.md)")
        if self.by_rule:
            console.print(rule_table(evaluation))
        if self.json is not None:
            write_json(self.json, evaluation.summary())
        if self.picture is not None:
            evaluation.draw(self.picture)
            say(f"solved and missed puzzles: {self.picture}")

    def _question(self) -> Question:
        """What these options ask; of a run, where they ask nothing, what it was trained for."""
        given = self.ask or self.hints or self.noise or self.covered
        if not given and self.source not in LIMITS:
            own = Run(Path(self.source)).config().question
            return replace(own, by=self.by or own.by)
        return question(self.ask or "hints", hints=self.hints, noise=self.noise, covered=self.covered, by=self.by)

    def _trained(self, question: Question) -> tuple[nn.Module, Puzzles]:
        """The model of a run folder, and puzzles as it was trained to see them: grey or colour, and of its own size."""
        run = Run(Path(self.source))
        config = run.config()
        task = config.task
        if self.task:
            task = Task.preset(self.task, rules=self.rules or config.task.rules.partition(":")[0])
        elif self.rules:
            task = replace(task, rules=self.rules, test_rules="")
        task = replace(task, channels=config.channels, size=config.task.size)
        puzzles = self._puzzles(task, question, data_root=config.task.data_root)
        return run.load(device=self.device), puzzles

    def _limit(self, question: Question) -> tuple[nn.Module, Puzzles]:
        """What needs no training, and the puzzles of the task it is given."""
        task = Task.preset(self.task or "glyphs", rules=self.rules or ("all" if are_strings(self.task) else "affine"))
        puzzles = self._puzzles(task, question)
        return LIMITS[self.source](puzzles.rules, task.size), puzzles

    def _puzzles(self, task: Task, question: Question, *, data_root: str = "") -> Puzzles:
        count = task.test_count if self.test_count is None else self.test_count
        if count < 1:
            raise FineError(f"test_count is {count}: give at least 1")
        return replace(task, test_count=count, data_root=self.data_root or data_root).test_puzzles(question)


def rule_table(evaluation: Evaluation) -> Table:
    """A row for every hidden rule."""
    table = Table("rule", "puzzles", *KINDS)
    for row in evaluation.by_rule():
        table.add_row(row["rule"], str(row["puzzles"]), *(f"{row[kind]:.1%}" for kind in KINDS))
    return table
