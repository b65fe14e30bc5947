"""Reliability diagrams: accuracy over confidence; on the diagonal, probabilities are calibrated."""

from typing import Any

from fine.experiments.comparison import Comparison, Entry
from fine.experiments.experiment import label
from fine.report.markup import Content, Markup, element, join
from fine.report.panels import (
    BOTTOM,
    LEFT,
    PERCENTS,
    RIGHT,
    TOP,
    Axis,
    figure,
    grid,
    multiples,
    panel,
)

TICKS = {at / 100: str(at) for at in PERCENTS}


def reliability_diagrams(comparison: Comparison) -> Markup | None:
    """The figure; None if the experiment measures nothing of the kind."""
    panels = []
    for entry in comparison.entries:
        rows = [row for record in entry.records[:1] for row in record.details if "sure" in row]
        if rows:
            panels.append(_panel(entry, rows))
    if not panels:
        return None
    note = (
        "Accuracy in % (upwards) over confidence in %, in ten bins; the area of a dot is its share "
        "of the answers."
    )
    return figure("reliability", "Reliability diagrams", note, multiples(panels))


def _panel(entry: Entry, rows: list[dict[str, Any]]) -> Markup:
    x, y = Axis(0, 1, LEFT, RIGHT), Axis(0, 1, BOTTOM, TOP)
    answers = sum(row["puzzles"] for row in rows)
    parts: list[Content] = [
        grid(x, y, x_ticks=TICKS, y_ticks=TICKS),
        element("line", x1=x(0), y1=y(0), x2=x(1), y2=y(1), class_="grid"),
    ]
    for row in rows:
        sure, right = row["sure"], row["right"]
        hover = f"{row['puzzles']} answers, {100 * sure:.1f} % sure: {100 * right:.1f} % right"
        radius = 2 + 6 * (row["puzzles"] / answers) ** 0.5
        dot = {"cx": x(sure), "cy": y(right), "r": radius, "class_": "dot ours"}
        parts.append(element("circle", element("title", hover), **dot))
    title = f"{label(entry.place.column)}, {label(entry.place.row)}"
    temperature = rows[0].get("temperature", 1)
    if temperature != 1:
        title += f" of {temperature:.2f}"
    describe = f"Accuracy over confidence, {title}"
    return panel(title, join(parts), x=x, y=y, describe=describe)
