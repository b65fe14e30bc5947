"""A table at a glance: a line for each column, a mark for each model, a ring for the paper's FINE.

Places are in % of the width, so a mark stands at the accuracy it shows on a screen of any size.
"""

from collections.abc import Sequence

from fine.experiments.comparison import Comparison, Entry
from fine.experiments.experiment import label
from fine.report.markup import Markup, block, element, join
from fine.report.numbers import tenths
from fine.report.panels import PERCENTS, figure, mark
from fine.report.styles import Style, row_styles

HEADING = "At a glance"
PAPERS = ("fine-mlp", "fine-nice")
DOTS = {"fine": 3, "fine-pyramid": 5}
"""Ours, and how large the dots are."""


def at_a_glance(comparison: Comparison, *, heading: str = HEADING) -> Markup | None:
    """The figure; None if nothing has been run."""
    styles = row_styles(comparison)
    rows = []
    for column in comparison.experiment.columns:
        entries = comparison.column(column)
        if any(entry.records for entry in entries):
            line = _line(label(column), entries, styles)
            rows.append(element("li", element("span", label(column)), line))
    if not rows:
        return None
    note = (
        "Test accuracy in %. A dot is ours, a large one FINE on two grids; a bar is one of the "
        "paper's FINE models run here, a stroke another model."
    )
    if comparison.has_paper:
        note += " The ring is the better FINE of the paper."
    ticks = element("div", *(element("i", str(tick)) for tick in PERCENTS))
    scale = element("li", element("span"), ticks, class_="scale")
    return figure("glance", heading, note, block("ul", *rows, scale))


def _line(column: str, entries: Sequence[Entry], styles: dict[str, Style]) -> Markup:
    parts = [
        element("line", x1=f"{tick}%", x2=f"{tick}%", y1=0, y2=24, class_="grid")
        for tick in PERCENTS
    ]
    quoted = [
        (entry.paper.mean, entry)
        for entry in entries
        if entry.paper is not None and entry.place.row in PAPERS
    ]
    if quoted:
        mean, best = max(quoted, key=lambda pair: pair[0])
        hover = f"{label(best.place.row)}, {column}, in the paper: {best.paper}"
        ring = element("circle", cx=f"{mean:g}%", cy=12, r=5.5, class_="ring")
        parts.append(mark(best, "paper", hover, ring))
    for entry in sorted(entries, key=lambda entry: entry.place.row in DOTS):  # ours on top
        if entry.here is not None:
            style = styles[entry.place.row]
            hover = f"{style.name}, {column}: {tenths(entry.here)}"
            parts.append(mark(entry, "here", hover, _shape(style, f"{entry.here:.2f}%")))
    describe = f"{column}: accuracy of the models, in the table below"
    return element("svg", join(parts), height=24, role="img", aria_label=describe)


def _shape(style: Style, at: str) -> Markup:
    if style.row in DOTS:
        return element("circle", cx=at, cy=12, r=DOTS[style.row], class_="dot ours")
    kind, *_ = style.kind.split()
    top, bottom = (5, 19) if style.row in PAPERS else (8, 16)
    return element("line", x1=at, x2=at, y1=top, y2=bottom, class_=f"stroke {kind}")
