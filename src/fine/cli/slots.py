"""`fine slots`"""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import tyro
from rich.table import Table

from fine.analysis.slot_sheet import draw_slots
from fine.analysis.slots import memory_of, slot_shares_by_family, without_slot
from fine.cli.arguments import options
from fine.cli.options import DataRoot, Rules, TaskName, TrainedModel
from fine.cli.terminal import console, say
from fine.drawing import sheet_format
from fine.errors import FineError
from fine.evaluation import evaluate
from fine.pretrained import load
from fine.puzzles.task import Task


@options()
class ShowSlots:
    """Look inside a model: which slots of its memory each family of rules uses, and what is lost
    without one of them."""

    model: Annotated[TrainedModel, tyro.conf.Positional] = "all-glyphs"
    task: TaskName = "glyphs"
    rules: Rules = "affine"
    count: int = 500
    """Test puzzles."""
    remove: bool = False
    """Also measure the accuracy without each of the slots."""
    out: Path | None = None
    """Draw the use of slots, and what is in them, to this PNG or SVG file."""
    data_root: DataRoot = ""

    def run(self) -> None:
        if self.out is not None:
            sheet_format(self.out)  # refuse a wrong name before the work, not after it
        if self.count < 1:
            raise FineError(f"count is {self.count}: give at least 1 test puzzle")
        model = load(self.model)
        task = Task.preset(self.task, rules=self.rules)
        task = replace(task, channels=model.channels, size=model.size, data_root=self.data_root)
        puzzles = replace(task, test_count=self.count).test_puzzles()
        shares = slot_shares_by_family(model, puzzles)
        slots = range(memory_of(model).slots)
        whole = evaluate(model, puzzles).accuracy if self.remove else 0.0
        without = [
            evaluate(without_slot(model, slot), puzzles).accuracy for slot in slots if self.remove
        ]
        table = Table("slot", *shares, *(["accuracy without"] if self.remove else []))
        for slot in slots:
            texts = [f"{float(share[slot]):.1%}" for share in shares.values()]
            table.add_row(str(slot), *texts, *([f"{without[slot]:.1%}"] if without else []))
        console.print(table)
        say(
            f"mean share of each slot in the functions of {len(puzzles):,} hints over classes "
            "never seen in training"
        )
        if self.remove:
            say(f"accuracy with all slots: {whole:.1%}")
        if self.out is not None:
            name = Path(self.model).name
            title = f"{name}, {self.rules} over {self.task}, {len(puzzles):,} puzzles"
            lost = [100 * (whole - rest) for rest in without]
            draw_slots(memory_of(model), shares, lost, self.out, title=title)
            say(f"drawn to {self.out}")
