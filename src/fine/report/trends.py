"""Accuracy over what the columns count, puzzles or slots: the paper's figures of this kind, with its numbers as rings."""

import math

from fine.experiments.comparison import Comparison
from fine.experiments.experiment import label
from fine.report.looks import legend, looks
from fine.report.markup import Content, Markup, element, join
from fine.report.numbers import tenths
from fine.report.panels import BOTTOM, TOP, Axis, accuracy_axis, accuracy_ticks, figure, spread_out

WIDTH, HEIGHT = 460.0, 152.0
LEFT, RIGHT = 26.0, 436.0


def trend(comparison: Comparison) -> Markup | None:
    """The figure; None if the columns are not numbers or nothing has been run."""
    experiment, styles = comparison.experiment, looks(comparison)
    lines = {row: [entry for entry in comparison.row(row) if entry.here is not None] for row in experiment.rows}
    lines = {row: entries for row, entries in lines.items() if entries}
    if not lines or not all(column.isdigit() for column in experiment.columns):
        return None
    counts = [int(column) for column in experiment.columns]
    x = Axis(counts[0], counts[-1], LEFT + 8, RIGHT - 8, log=counts[0] > 0)
    values = [entry.here for entries in lines.values() for entry in entries if entry.here is not None]
    y = accuracy_axis([*values, *(entry.paper.mean for entry in comparison.entries if entry.paper)])
    parts: list[Content] = []
    for at, text in accuracy_ticks(y).items():
        parts.append(element("line", x1=LEFT, x2=RIGHT, y1=y(at), y2=y(at), class_="grid"))
        parts.append(element("text", text, x=LEFT - 4, y=y(at) + 3, class_="tick end"))
    for at, column in zip(counts, experiment.columns, strict=True):
        parts.append(element("text", label(column), x=x(at), y=BOTTOM + 13, class_="tick middle"))
    parts.append(element("text", experiment.column_title, x=(LEFT + RIGHT) / 2, y=BOTTOM + 26, class_="tick middle"))
    for entry in comparison.entries:
        if entry.paper:
            told = f"{label(entry.place.row)}, {label(entry.place.column)}, in the paper: {entry.paper}"
            ring = element("circle", cx=x(int(entry.place.column)), cy=y(entry.paper.mean), r=5, class_="ring")
            parts.append(element("g", element("title", told), ring, data_key=entry.place.cell.group, data_field="paper"))
    last = [y(entries[-1].here or 0) for entries in lines.values()]
    for (row, entries), height in zip(lines.items(), spread_out(last, gap=9, low=TOP, high=BOTTOM), strict=True):
        look, points = styles[row], [(x(int(entry.place.column)), y(entry.here or 0)) for entry in entries]
        parts.append(element("polyline", points=" ".join(f"{a:.1f},{b:.1f}" for a, b in points), class_=f"line {look.kind}"))
        parts.append(element("text", look.letter, x=points[-1][0] + 7, y=height + 3, class_=f"letter {look.kind}"))
        for entry, (across, up) in zip(entries, points, strict=True):
            told = f"{look.name}, {label(entry.place.column)}: {tenths(entry.here if entry.here is not None else math.nan)}"
            dot = element("circle", cx=across, cy=up, r=2.6, class_=f"dot {look.kind}")
            parts.append(element("g", element("title", told), dot, data_key=entry.place.cell.group, data_field="here"))
    describe = f"Test accuracy over {experiment.column_title}, a line for each {experiment.row_title}, as in the table"
    size = f"0 0 {WIDTH:g} {HEIGHT:g}"
    picture = element(
        "svg",
        element("title", describe),
        join(parts),
        viewBox=size,
        role="img",
        aria_label=describe,
        data_x=x.text,
        data_y=y.text,
    )
    note = f"Test accuracy in % over {experiment.column_title}" + ("; rings are the paper's." if comparison.has_paper else ".")
    shown = legend([styles[row] for row in lines], experiment.row_title)
    return figure("trend", "At a glance", note, shown, picture)
