"""`fine map`"""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import tyro

from fine.analysis.function_map import LAYOUTS, make_function_map
from fine.analysis.map_page import write_map_page
from fine.analysis.map_sheet import draw_map
from fine.cli.arguments import options
from fine.cli.options import DataRoot, Rules, TaskName, TrainedModel
from fine.cli.terminal import say
from fine.errors import FineError, unknown
from fine.pretrained import load
from fine.puzzles.task import Task

IN_WORDS = {"umap": "UMAP", "principal": "principal components"}
_PUZZLES = 1_000  # test puzzles whose images are used


@options()
class DrawMap:
    """Draw a map of the functions that a model composes, coloured by family and by parameter;
    similar functions lie near each other."""

    model: Annotated[TrainedModel, tyro.conf.Positional] = "all-glyphs"
    task: TaskName = "glyphs"
    rules: Rules = "affine"
    count: int = 80
    """Functions of each family."""
    layout: str = ""
    """umap, or principal (components); by default umap if umap-learn is installed."""
    out: Path = Path("map.html")
    """An interactive page (.html), or an image (.png, .svg)."""
    data_root: DataRoot = ""

    def run(self) -> None:
        suffix = self.out.suffix.lower()
        if suffix not in (".html", ".png", ".svg"):
            raise FineError(
                f"a map cannot be drawn to '{self.out.name}': the name must end in .html, .png or "
                ".svg"
            )
        if self.layout not in ("", *LAYOUTS):
            raise unknown("layout", self.layout, LAYOUTS)
        model = load(self.model)
        task = Task.preset(self.task, rules=self.rules)
        task = replace(task, channels=model.channels, size=model.size, data_root=self.data_root)
        task = replace(task, test_count=_PUZZLES)
        made = make_function_map(model, task, count=self.count, layout=self.layout)
        layout = IN_WORDS[made.layout]
        alike = float(made.nearest_is_alike(made.points).float().mean())
        title = f"Functions of {Path(self.model).name}, {self.rules} over {self.task}"
        note = (
            f"{len(made.numbers)} functions, each composed from one example pair over classes "
            f"never seen in training and laid out by {layout}; for {alike:.1%} of them the nearest "
            "on the map is of the same family."
        )
        if suffix == ".html":
            write_map_page(made, self.out, title=title, note=note)
        else:
            draw_map(made, self.out, title=f"{title}, by {layout}")
        say(note)
        if made.layout == "principal" and not self.layout:
            say("for a map by UMAP: pip install umap-learn")
        say(f"written to {self.out}")
