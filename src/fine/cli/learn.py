"""`fine learn`"""

import shlex
from dataclasses import dataclass, replace
from typing import Annotated

import tyro
from rich.table import Table

from fine.cli.terminal import OptionalFloat, OptionalInt, OptionalPath, console, given, print_evaluation, say, use_device
from fine.continual.lessons import LESSON, Lesson, free_folder
from fine.evaluation import Evaluation, evaluate
from fine.pretrained import load
from fine.pretrained.cards import by_family
from fine.progress import Shown
from fine.protocols import Training
from fine.runs import Run
from fine.tasks import Task
from fine.training import train


@dataclass(frozen=True)
class Learn:
    """Teach a model that you have one more rule, without forgetting those it knows."""

    source: Annotated[str, tyro.conf.arg(name="from", metavar="RUN")]
    """A model of the package (affine-omniglot, …), a run folder, or an exported folder."""
    rules: str
    """What it does not know yet: swap, wave, several joined by +, or a family of your own."""
    out: OptionalPath = None
    """Run folder of the model with the new rule; by default runs/MODEL+RULES."""
    task: str = ""
    """Pictures to learn from, if not those it was trained on: glyphs, omniglot, cifar100, mnist or folder:PATH."""
    known: str = ""
    """Rules it knows, if its folder does not say: affine, rotation+scale …"""
    epochs: OptionalInt = None
    """Passes over the training puzzles, if not four."""
    batch: OptionalInt = None
    """Puzzles a step."""
    rate: OptionalFloat = None
    """Learning rate."""
    train_count: OptionalInt = None
    """Training puzzles."""
    test_count: OptionalInt = None
    """Test puzzles, over old rules and new ones."""
    seed: int = 0
    """Fixes the training puzzles and their order."""
    validation: bool = False
    """Learn from fewer classes and test on those held back, under the new rules alone: for choosing settings."""
    device: str = "cpu"
    """cpu or cuda."""
    threads: int = 0
    """CPU threads; 0 lets torch choose."""
    data_root: str = ""
    """Folder of the official data files; otherwise FINE_DATA or the user cache folder."""

    def run(self) -> None:
        use_device(self.device, self.threads)
        training = replace(LESSON, seed=self.seed, **given(self, Training))
        lesson = Lesson.about(self.source, rules=self.rules, task=self.task, known=self.known, training=training)
        lesson = lesson.change(data_root=self.data_root, validation=self.validation, **given(self, Task))
        config, folder = lesson.config, self.out or free_folder(self.source, self.rules)
        title = f"{self.source} knows {lesson.known} and learns {self.rules} over {config.task.images} in {folder}"
        try:
            with Shown(console, title, epochs=config.training.epochs, puzzles=config.task.train_count) as progress:
                after = train(config, folder, device=self.device, progress=progress)
        except KeyboardInterrupt:
            remedy = f"continue with: fine train --resume {shlex.quote(str(folder))}"
            say(f"stopped; {remedy if Run(folder).exists else 'nothing was written'}")
            raise SystemExit(130) from None
        print_evaluation(after)
        before = evaluate(load(self.source, device=self.device), after.puzzles, device=self.device)
        console.print(before_and_after(before, after))
        say(f"run folder: {folder}    use it: fine solve … --model {folder}")


def before_and_after(before: Evaluation, after: Evaluation) -> Table:
    """A row for every family: accuracy without and with the new slots, on the same puzzles."""
    table = Table("family", "puzzles", "before", "after")
    rows = zip(by_family(before.summary()), by_family(after.summary()), strict=True)
    for (family, puzzles, was), (_, _, now) in rows:
        table.add_row(family, f"{puzzles:,}", f"{was:.1%}", f"{now:.1%}")
    return table
