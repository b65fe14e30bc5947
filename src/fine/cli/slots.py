"""`fine slots`"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import tyro
from rich.table import Table

from fine.cli.terminal import OptionalPath, console, say
from fine.drawing.sheet import sheet_format
from fine.drawing.slot_sheet import draw_slots
from fine.errors import FineError
from fine.evaluation import evaluate
from fine.functions.slots import memory_of, use_by_family, without_slot
from fine.pretrained import load
from fine.tasks import Task


@dataclass(frozen=True)
class ShowSlots:
    """Look inside a model: which slots of its memory each family of rules uses, and what is lost without one of them."""

    model: Annotated[str, tyro.conf.Positional] = "all-glyphs"
    """A model of the package (all-glyphs, …), a run folder, or an exported folder."""
    task: str = "glyphs"
    """Where the pictures come from; the names are those of `fine train`."""
    rules: str = "affine"
    """What happens to them; the names are those of `fine train`."""
    count: int = 500
    """Test puzzles."""
    remove: bool = False
    """Also measure the accuracy without each of the slots."""
    out: OptionalPath = None
    """Draw the use of slots, and what is in them, to this PNG or SVG file."""
    data_root: str = ""
    """Folder of the official data files; otherwise FINE_DATA or the user cache folder."""

    def run(self) -> None:
        if self.out is not None:
            sheet_format(self.out)  # refuse a wrong name before the work, not after it
        if self.count < 1:
            raise FineError(f"count is {self.count}: give at least 1 test puzzle")
        model = load(self.model)
        task = replace(Task.preset(self.task, rules=self.rules), channels=model.channels, size=model.size)
        puzzles = replace(task, test_count=self.count, data_root=self.data_root).test_puzzles()
        use = use_by_family(model, puzzles)
        slots = memory_of(model).slots
        table = Table("slot", *use, *(["accuracy without"] if self.remove else []))
        whole = evaluate(model, puzzles).accuracy if self.remove else 0.0
        left = [evaluate(without_slot(model, slot), puzzles).accuracy for slot in range(slots)] if self.remove else []
        for slot in range(slots):
            shares = [f"{float(share[slot]):.1%}" for share in use.values()]
            table.add_row(str(slot), *shares, *([f"{left[slot]:.1%}"] if left else []))
        console.print(table)
        say(f"mean share of each slot in the functions of {len(puzzles):,} hints over classes never seen in training")
        if self.remove:
            say(f"accuracy with all slots: {whole:.1%}")
        if self.out is not None:
            title = f"{Path(self.model).name}, {self.rules} over {self.task}, {len(puzzles):,} puzzles"
            draw_slots(memory_of(model), use, [100 * (whole - rest) for rest in left], self.out, title=title)
            say(f"drawn to {self.out}")
