"""`fine map`"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import tyro

from fine.cli.terminal import say
from fine.drawing.chart_page import write_chart_page
from fine.drawing.chart_sheet import draw_chart
from fine.errors import FineError, unknown
from fine.functions.charts import LAYOUTS, chart_of
from fine.pretrained import load
from fine.tasks import Task

WORDS = {"umap": "UMAP", "principal": "principal components"}


@dataclass(frozen=True)
class DrawMap:
    """Draw a map of the functions a model composes, coloured by family and by parameter: like functions lie near each other."""

    model: Annotated[str, tyro.conf.Positional] = "all-glyphs"
    """A model of the package (all-glyphs, …), a run folder, or an exported folder."""
    task: str = "glyphs"
    """Where the pictures come from; the names are those of `fine train`."""
    rules: str = "affine"
    """What happens to them; the names are those of `fine train`."""
    count: int = 80
    """Functions a family."""
    layout: str = ""
    """umap, or principal (components); empty: umap where umap-learn is installed."""
    out: Path = Path("map.html")
    """An interactive page (.html), or a picture (.png, .svg)."""
    data_root: str = ""
    """Folder of the official data files; otherwise FINE_DATA or the user cache folder."""

    def run(self) -> None:
        if self.out.suffix.lower() not in (".html", ".png", ".svg"):
            raise FineError(f"a map cannot be drawn to '{self.out.name}': the name must end in .html, .png or .svg")
        if self.layout not in ("", *LAYOUTS):
            raise unknown("layout", self.layout, LAYOUTS)
        model = load(self.model)
        task = replace(Task.preset(self.task, rules=self.rules), channels=model.channels, size=model.size)
        chart = chart_of(model, replace(task, test_count=1_000, data_root=self.data_root), count=self.count, layout=self.layout)
        together = float(chart.kept_together(chart.points).float().mean())
        layout = WORDS[chart.layout]
        title = f"Functions of {Path(self.model).name}, {self.rules} over {self.task}"
        note = (
            f"{len(chart.numbers)} functions, each composed from one example pair over classes never seen in training and laid "
            f"out by {layout}; the nearest on the map is of the same family for {together:.1%}."
        )
        if self.out.suffix.lower() == ".html":
            write_chart_page(chart, self.out, title=title, note=note)
        else:
            draw_chart(chart, self.out, title=f"{title}, by {layout}")
        say(note)
        if chart.layout == "principal" and not self.layout:
            say("for a map by UMAP: pip install umap-learn")
        say(f"written to {self.out}")
