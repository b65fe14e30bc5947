"""`fine learn`"""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import tyro
from rich.table import Table

from fine.cli.arguments import given, options
from fine.cli.options import CountOptions, MachineOptions, TrainedModel
from fine.cli.scores import print_evaluation
from fine.cli.terminal import console, say
from fine.cli.train import progress_bar
from fine.continual.lessons import LESSON, PUZZLES, Lesson, free_folder
from fine.evaluation import Evaluation, evaluate
from fine.evaluation.metrics import by_family
from fine.pretrained import load
from fine.puzzles.task import Task
from fine.training import train
from fine.training.protocols import Training


@options(Training)
class Learn:
    """Teach a trained model one more rule, without forgetting those it knows."""

    source: Annotated[TrainedModel, tyro.conf.arg(name="from")]
    rules: str
    """What it does not know yet: swap, wave, several joined by +, or a family of your own."""
    out: Path | None = None
    """Run folder of the model with the new rule; by default runs/MODEL+RULES."""
    task: str = ""
    """Images to learn from, if not those it was trained on; the names are those of `fine train`."""
    known: str = ""
    """Rules it knows, if its folder does not say: affine, rotation+scale …"""
    epochs: int = LESSON.epochs
    batch: int = LESSON.batch
    learning_rate: float = LESSON.learning_rate
    seed: int = LESSON.seed
    validation: bool = False
    """Learn from fewer classes and test on those held back, under the new rules alone: for choosing
    settings honestly."""
    puzzles: Annotated[CountOptions, tyro.conf.arg(name="task")] = CountOptions(train_count=PUZZLES)
    machine: MachineOptions = MachineOptions()

    def run(self) -> None:
        self.machine.use()
        lesson = Lesson.about(
            self.source,
            rules=self.rules,
            task=self.task,
            known=self.known,
            training=replace(LESSON, **given(self, Training)),
        )
        lesson = lesson.change(validation=self.validation, **given(self.puzzles, Task))
        config, folder = lesson.config, self.out or free_folder(self.source, self.rules)
        title = (
            f"{self.source} knows {lesson.known} and learns {self.rules} over "
            f"{config.task.images} in {folder}"
        )
        device = self.machine.device
        with progress_bar(config, folder, title) as progress:
            after = train(config, folder, device=device, progress=progress)
        print_evaluation(after)
        before = evaluate(load(self.source, device=device), after.puzzles, device=device)
        console.print(before_and_after(before, after))
        say(f"run folder: {folder}    use it: fine solve … --model {folder}")


def before_and_after(before: Evaluation, after: Evaluation) -> Table:
    """A row for every family: accuracy without and with the new slots, on the same puzzles."""
    table = Table("family", "puzzles", "before", "after")
    rows = zip(by_family(before.by_rule()), by_family(after.by_rule()), strict=True)
    for (family, puzzles, was), (_, _, now) in rows:
        table.add_row(family, f"{puzzles:,}", f"{was:.1%}", f"{now:.1%}")
    return table
