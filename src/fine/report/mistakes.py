"""Mistakes by kind: the wrong rule, the wrong object or both; one bar for each model."""

import math

from fine.experiments.comparison import MISSING, Comparison, Entry
from fine.report.facts import MISTAKES, mistakes
from fine.report.markup import Content, Markup, element, join
from fine.report.numbers import tenths
from fine.report.panels import RIGHT, TOP, Axis, folded, mark, multiples, panel
from fine.report.styles import Style, column_name, row_styles

BAR, STEP = 9.0, 14.0
START = 20.0


def mistakes_by_kind(comparison: Comparison) -> Markup | None:
    """The figure; None if nothing has been run."""
    found = [entry for entry in comparison.entries if entry.records]
    if not found:
        return None
    most = max(sum(mistakes(entry).values()) for entry in found)
    x = Axis(0, max(5, 5 * math.ceil(most / 5)), START, RIGHT - 18)
    filled = {entry.place.row for entry in found}
    styles = [style for row, style in row_styles(comparison).items() if row in filled]
    panels = []
    for column in comparison.experiment.columns:
        drawn = {entry.place.row: entry for entry in found if entry.place.column == column}
        if drawn:
            panels.append(_panel(column_name(comparison, column), styles, drawn, x))
    kinds = [
        element("li", element("i", class_=_class(kind)), element("span", kind)) for kind in MISTAKES
    ]
    note = (
        "Share of the test puzzles answered wrong, in %, and what was wrong with the answer; the "
        "mean over seeds."
    )
    legend = element("ul", join(kinds), class_="legend")
    return folded("splits", "Mistakes", note, legend, multiples(panels))


def _panel(name: str, styles: list[Style], drawn: dict[str, Entry], x: Axis) -> Markup:
    bottom = TOP + STEP * len(styles)
    y = Axis(0, len(styles), TOP, bottom)
    parts: list[Content] = [
        element("line", x1=START, x2=START, y1=TOP - 2, y2=bottom, class_="grid")
    ]
    for number, style in enumerate(styles):
        foot = y(number) + 8
        letter = f"letter end {style.kind}"
        parts.append(element("text", style.letter, x=START - 6, y=foot, class_=letter))
        if style.row in drawn:
            parts.append(_bar(name, style, drawn[style.row], x, y(number)))
        else:
            parts.append(element("text", MISSING, x=START + 4, y=foot, class_="tick"))
    describe = f"Wrong answers by kind, {name}"
    return panel(name, join(parts), x=x, y=y, describe=describe, height=bottom + 4)


def _bar(name: str, style: Style, entry: Entry, x: Axis, top: float) -> Markup:
    parts: list[Content] = []
    at = 0.0
    for kind, share in mistakes(entry).items():
        hover = f"{style.name}, {name}, {kind}: {tenths(share)}"
        size = {"x": x(at), "width": x(share) - x(0), "y": top, "height": BAR}
        parts.append(mark(entry, kind, hover, element("rect", class_=_class(kind), **size)))
        at += share
    source = {"data_key": entry.place.cell.group, "data_field": "wrong"}
    parts.append(element("text", tenths(at), x=x(at) + 4, y=top + 8, class_="tick", **source))
    return join(parts)


def _class(kind: str) -> str:
    return kind.replace(" ", "-")
