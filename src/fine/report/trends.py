"""Accuracy over what the columns count, puzzles or slots, with the paper's numbers as rings."""

from fine.experiments.comparison import Comparison, Entry
from fine.experiments.experiment import label
from fine.report.markup import Content, Markup, element, join
from fine.report.numbers import tenths
from fine.report.panels import (
    BOTTOM,
    LEFT,
    TOP,
    Axis,
    accuracy_axis,
    accuracy_ticks,
    drawing,
    figure,
    grid,
    mark,
    polyline,
    spread_out,
)
from fine.report.styles import Style, legend, row_styles

WIDTH, HEIGHT = 460.0, 152.0
RIGHT = 436.0

Line = list[tuple[Entry, float]]
"""Entries of a row with their accuracy."""


def trend(comparison: Comparison, *, heading: str = "At a glance") -> Markup | None:
    """The figure; None if the columns are not numbers or nothing has been run."""
    experiment = comparison.experiment
    lines = {
        row: [(entry, entry.here) for entry in comparison.row(row) if entry.here is not None]
        for row in experiment.rows
    }
    lines = {row: line for row, line in lines.items() if line}
    if not lines or not all(column.isdigit() for column in experiment.columns):
        return None
    counts = [int(column) for column in experiment.columns]
    x = Axis(counts[0], counts[-1], LEFT + 8, RIGHT - 8, log=counts[0] > 0)
    values = [here for line in lines.values() for _, here in line]
    y = accuracy_axis([*values, *(entry.paper.mean for entry in comparison.entries if entry.paper)])
    ticks = {float(count): f"{count:,}" for count in counts}
    middle = (LEFT + RIGHT) / 2
    parts: list[Content] = [
        grid(x, y, x_ticks=ticks, y_ticks=accuracy_ticks(y), right=RIGHT),
        element("text", experiment.column_title, x=middle, y=BOTTOM + 26, class_="tick middle"),
        *_rings(comparison, x, y),
    ]
    styles = row_styles(comparison)
    ends = spread_out([y(line[-1][1]) for line in lines.values()], gap=9, low=TOP, high=BOTTOM)
    for (row, line), end in zip(lines.items(), ends, strict=True):
        parts.append(_line(styles[row], line, end, x, y))
    over = f"over {experiment.column_title}"
    describe = f"Test accuracy {over}, a line for each {experiment.row_title}, as in the table"
    plot = drawing(join(parts), x=x, y=y, describe=describe, width=WIDTH, height=HEIGHT)
    note = f"Test accuracy in % {over}."
    if comparison.has_paper:
        note = f"Test accuracy in % {over}; rings are the paper's."
    letters = legend(comparison, [entry for line in lines.values() for entry, _ in line])
    return figure("trend", heading, note, letters, plot)


def _rings(comparison: Comparison, x: Axis, y: Axis) -> list[Markup]:
    rings = []
    for entry in comparison.entries:
        if entry.paper:
            row, column = entry.place.row, entry.place.column
            hover = f"{label(row)}, {label(column)}, in the paper: {entry.paper}"
            at = {"cx": x(int(column)), "cy": y(entry.paper.mean)}
            rings.append(mark(entry, "paper", hover, element("circle", **at, r=5, class_="ring")))
    return rings


def _line(style: Style, line: Line, end: float, x: Axis, y: Axis) -> Markup:
    """A row's line and dots, and its letter at the height ``end``."""
    points = [(x(int(entry.place.column)), y(here)) for entry, here in line]
    right, kind = points[-1][0], f"letter {style.kind}"
    letter = element("text", style.letter, x=right + 7, y=end + 3, class_=kind)
    parts = [polyline(points, style.kind), letter]
    for (entry, here), (across, down) in zip(line, points, strict=True):
        hover = f"{style.name}, {label(entry.place.column)}: {tenths(here)}"
        dot = element("circle", cx=across, cy=down, r=2.6, class_=f"dot {style.kind}")
        parts.append(mark(entry, "here", hover, dot))
    return join(parts)
