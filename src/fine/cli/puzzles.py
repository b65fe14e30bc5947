"""`fine puzzles`"""

from dataclasses import dataclass, replace

from rich.table import Table

from fine.cli.terminal import OptionalPath, console, say
from fine.drawing import draw_sheet, show
from fine.drawing.asked import draw_asked, show_asked
from fine.errors import FineError
from fine.puzzles import Puzzles
from fine.questions import FORWARDS, Question, ask, question
from fine.rules import rule_set
from fine.tasks import Task

FARTHEST = 100_000
"""How far into a set of puzzles one may look: a second of drawing."""


@dataclass(frozen=True)
class ShowPuzzles:
    """Show puzzles in the terminal, and draw them to a file if asked."""

    task: str = "glyphs"
    """Where the pictures come from; the names are those of `fine train`."""
    rules: str = "affine"
    """What happens to a picture; the names are those of `fine train`."""
    count: int = 4
    """How many puzzles."""
    start: int = 0
    """Number of the first one."""
    ask: str = "hints"
    """What is asked: hints, backwards, chain or odd-one-out, as `fine evaluate` has them."""
    hints: int = 0
    """Hints that are shown; 0: one, two in a chain, four with an odd one out."""
    noise: float = 0.0
    """Share of the pixels of hints that have a random brightness instead of their own."""
    covered: float = 0.0
    """Share of each picture of a hint that a black square covers."""
    answers: bool = False
    """Mark the right choices and name the rules."""
    out: OptionalPath = None
    """Draw them to this PNG or SVG file."""
    train: bool = False
    """Show training puzzles instead of test puzzles."""
    seed: int = 0
    """Seed of the training puzzles."""
    size: int = 32
    """Width and height of the pictures: 32 or 28."""
    redraws: bool = False
    """Instead of showing puzzles, count for each family how many had choices that look alike and were drawn again."""
    data_root: str = ""
    """Folder of the official data files; otherwise FINE_DATA or the user cache folder."""

    def run(self) -> None:
        if self.count < 1 or self.start < 0:
            raise FineError(f"cannot show {self.count} puzzles from number {self.start}: give a count ≥ 1 and a start ≥ 0")
        if self.start > FARTHEST:
            raise FineError(
                f"cannot show puzzles from number {self.start:,}, for all before it would be drawn first: give a start of at "
                f"most {FARTHEST:,}"
            )
        end = self.start + self.count
        task = Task.preset(self.task, rules=self.rules)
        task = replace(task, size=self.size, train_count=end, test_count=end, data_root=self.data_root)
        if self.redraws and task.shows_strings:
            raise FineError("families of strings often have one rule, too few for puzzles of their own: leave out --redraws")
        if self.redraws:
            console.print(self._redraw_table(task))
            return
        wanted = question(self.ask, hints=self.hints, noise=self.noise, covered=self.covered)
        numbers = range(self.start, end)
        if wanted != FORWARDS:
            self._show_asked(task, wanted, numbers)
            return
        puzzles = self._draw(task)
        if self.out is not None:
            draw_sheet(puzzles, numbers, self.out, answers=self.answers)
            say(f"drawn to {self.out}")
        show(puzzles, numbers, console=console, answers=self.answers)

    def _show_asked(self, task: Task, question: Question, numbers: range) -> None:
        classes = task.training_classes if self.train else task.testing_classes
        puzzles = ask(self._draw(task), question, classes=classes)
        if self.out is not None:
            draw_asked(puzzles, numbers, self.out, answers=self.answers)
            say(f"drawn to {self.out}")
        show_asked(puzzles, numbers, console=console, answers=self.answers)

    def _draw(self, task: Task) -> Puzzles:
        return task.training_puzzles(seed=self.seed) if self.train else task.test_puzzles()

    def _redraw_table(self, task: Task) -> Table:
        table = Table("family", "puzzles", "drawn again", "share")
        rules = task.rules if self.train else task.test_rules or task.rules
        _, colon, split = rules.partition(":")
        for family in rule_set(rules).families:
            attempts = self._draw(replace(task, rules=family + colon + split, test_rules="")).attempts
            again = int((attempts > 1).sum())
            table.add_row(family, f"{len(attempts):,}", f"{again:,}", f"{again / len(attempts):.2%}")
        return table
