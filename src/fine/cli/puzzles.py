"""`fine puzzles`"""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import tyro
from rich.table import Table

from fine.cli.arguments import options
from fine.cli.options import DataRoot, RulesOfTask, ShownVariant, TaskName
from fine.cli.terminal import console, say
from fine.drawing import draw_sheet, show
from fine.drawing.variants import draw_variants, show_variants
from fine.errors import FineError
from fine.exchange import export_puzzles
from fine.exchange.formats import HUB
from fine.puzzles import Puzzles
from fine.puzzles.task import Task, usual_rules
from fine.puzzles.variants import PLAIN, Variant, VariantPuzzles
from fine.rules import rule_set

FARTHEST = 100_000
"""Number of the last puzzle to start from: those before it take a second to draw."""


@options(Task)
class ShowPuzzles:
    """Show puzzles in the terminal, or draw them to a file."""

    task: TaskName = "glyphs"
    rules: RulesOfTask = ""
    distractors: str = Task.distractors
    count: int = 4
    """How many puzzles."""
    start: int = 0
    """Number of the first one."""
    answers: bool = False
    """Mark the right choices and name the rules."""
    out: Path | None = None
    """Draw them to this PNG or SVG file too."""
    export: Annotated[str, tyro.conf.arg(metavar="PATH")] = ""
    """Instead of showing puzzles, write them for other programs: NAME.npz (NumPy), NAME.parquet, a
    folder (PNG and CSV) or hub:FOLDER (Hugging Face), with a card. `fine score` scores answers."""
    train: bool = False
    """Show training puzzles instead of test puzzles."""
    seed: int = 0
    """Seed of the training puzzles."""
    size: int = Task.size
    redraws: bool = False
    """Instead of showing puzzles, count for each family how many had choices that look alike and
    were drawn again."""
    data_root: DataRoot = ""
    variant: ShownVariant = ShownVariant()

    def run(self) -> None:
        if self.count < 1 or self.start < 0:
            raise FineError(
                f"cannot show {self.count} puzzles from number {self.start}: give a count ≥ 1 and "
                "a start ≥ 0"
            )
        if self.start > FARTHEST:
            raise FineError(
                f"cannot show puzzles from number {self.start:,}, because all before it would be "
                f"drawn first: give a start of at most {FARTHEST:,}"
            )
        end = self.start + self.count
        task = replace(
            Task.preset(self.task, rules=self.rules or usual_rules(self.task)),
            size=self.size,
            distractors=self.distractors,
            data_root=self.data_root,
        )
        if self.export:
            self._export(task)
            return
        task = replace(task, train_count=end, test_count=end)
        if self.redraws:
            console.print(self._redraw_table(task))
            return
        puzzles = self._draw(task, self.variant.make())
        numbers = range(self.start, end)
        if isinstance(puzzles, VariantPuzzles):
            if self.out is not None:
                draw_variants(puzzles, numbers, self.out, answers=self.answers)
            show_variants(puzzles, numbers, console=console, answers=self.answers)
        else:
            if self.out is not None:
                draw_sheet(puzzles, numbers, self.out, answers=self.answers)
            show(puzzles, numbers, console=console, answers=self.answers)
        if self.out is not None:
            say(f"drawn to {self.out}")

    def _export(self, task: Task) -> None:
        export_puzzles(
            task,
            self.export,
            split="training" if self.train else "test",
            seed=self.seed,
            start=self.start,
            count=self.count,
            variant=self.variant.make(),
        )
        path = self.export.removeprefix(HUB)
        say(
            f"{self.count:,} puzzles are in {path} now; score answers to them with `fine score "
            f"answers.csv {path}`"
        )

    def _draw(self, task: Task, variant: Variant = PLAIN) -> Puzzles:
        if self.train:
            return task.training_puzzles(seed=self.seed, variant=variant)
        return task.test_puzzles(variant)

    def _redraw_table(self, task: Task) -> Table:
        if task.shows_strings:
            raise FineError(
                "many families of strings have one rule, too few for puzzles of their own: leave "
                "out --redraws"
            )
        table = Table("family", "puzzles", "drawn again", "share")
        rules = task.rules if self.train else task.test_rules or task.rules
        _, colon, split = rules.partition(":")
        for family in rule_set(rules).families:
            only = replace(task, rules=family + colon + split, test_rules="")
            attempts = self._draw(only).attempts
            again = int((attempts > 1).sum())
            share = f"{again / len(attempts):.2%}"
            table.add_row(family, f"{len(attempts):,}", f"{again:,}", share)
        return table
