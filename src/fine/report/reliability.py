"""Reliability: how sure answers are, in steps, and how many of them are right; on the diagonal a word is worth what it says."""

from fine.experiments.comparison import Comparison
from fine.experiments.experiment import label
from fine.report.markup import Content, Markup, element, join
from fine.report.panels import BOTTOM, LEFT, RIGHT, TOP, Axis, figure, grid, multiples, panel

TICKS = {at / 100: str(at) for at in (0, 25, 50, 75, 100)}


def reliability_diagrams(comparison: Comparison) -> Markup | None:
    """The figure; None if the experiment measures nothing of the kind."""
    x, y = Axis(0, 1, LEFT, RIGHT), Axis(0, 1, BOTTOM, TOP)
    panels = []
    for entry in comparison.entries:
        rows = [row for record in entry.records[:1] for row in record.details if "sure" in row]
        if not rows:
            continue
        whole = sum(row["puzzles"] for row in rows)
        parts: list[Content] = [grid(x, y, x_ticks=TICKS, y_ticks=TICKS)]
        parts.append(element("line", x1=x(0), y1=y(0), x2=x(1), y2=y(1), class_="grid"))
        for row in rows:
            told = f"{row['puzzles']} answers, {100 * row['sure']:.1f} % sure: {100 * row['right']:.1f} % right"
            size = 2 + 6 * (row["puzzles"] / whole) ** 0.5  # the area is the share of answers
            dot = element("circle", element("title", told), cx=x(row["sure"]), cy=y(row["right"]), r=size, class_="dot ours")
            parts.append(dot)
        heat = rows[0].get("temperature", 1)
        title = f"{label(entry.place.column)}, {label(entry.place.row)}" + ("" if heat == 1 else f" of {heat:.2f}")
        panels.append(panel(title, join(parts), x=x, y=y, describe=f"Share of right answers over how sure they are, {title}"))
    if not panels:
        return None
    note = "Right answers in % (upwards) over how sure they were in %, in ten steps; the area of a dot is its share of answers."
    return figure("reliability", "How much a word is worth", note, multiples(panels))
