"""Error splits: what is wrong with the wrong answers, the rule, the object or both; a panel a column, a bar a model."""

import math

from fine.experiments.comparison import Comparison
from fine.report.facts import MISTAKES, NOT_RUN, mistakes
from fine.report.looks import column_name, looks
from fine.report.markup import Content, Markup, element, join
from fine.report.numbers import tenths
from fine.report.panels import RIGHT, TOP, Axis, figure, multiples, panel

BAR, STEP = 9.0, 14.0
START = 20.0


def error_splits(comparison: Comparison) -> Markup | None:
    """The figure; None if nothing has been run."""
    styles = looks(comparison)
    splits = [(entry, mistakes(entry)) for entry in comparison.entries if entry.records]
    if not splits:
        return None
    most = max(sum(split.values()) for _, split in splits)
    x = Axis(0, max(5, 5 * math.ceil(most / 5)), START, RIGHT - 18)
    rows = [row for row in comparison.experiment.rows if any(entry.place.row == row for entry, _ in splits)]
    panels = []
    for column in comparison.experiment.columns:
        drawn = {entry.place.row: (entry, split) for entry, split in splits if entry.place.column == column}
        if not drawn:
            continue
        name, bottom = column_name(comparison, column), TOP + STEP * len(rows)
        y = Axis(0, len(rows), TOP, bottom)
        parts: list[Content] = [element("line", x1=START, x2=START, y1=TOP - 2, y2=bottom, class_="grid")]
        for number, row in enumerate(rows):
            look = styles[row]
            parts.append(element("text", look.letter, x=START - 6, y=y(number) + 8, class_=f"letter end {look.kind}"))
            if row not in drawn:
                parts.append(element("text", NOT_RUN, x=START + 4, y=y(number) + 8, class_="tick"))
                continue
            (entry, split), at = drawn[row], 0.0
            key = entry.place.cell.group
            for kind in MISTAKES:
                told = f"{look.name}, {name}, {kind}: {tenths(split[kind])}"
                size = {"x": x(at), "width": x(split[kind]) - x(0), "y": y(number), "height": BAR}
                bar = element("rect", class_=kind.replace(" ", "-"), **size)
                parts.append(element("g", element("title", told), bar, data_key=key, data_field=kind))
                at += split[kind]
            total = element("text", tenths(at), x=x(at) + 4, y=y(number) + 8, class_="tick", data_key=key, data_field="wrong")
            parts.append(total)
        describe = f"Wrong answers by kind, {name}"
        panels.append(panel(name, join(parts), x=x, y=y, describe=describe, height=bottom + 4))
    kinds = [element("li", element("i", class_=kind.replace(" ", "-")), element("span", kind)) for kind in MISTAKES]
    note = "Share of the test puzzles answered wrong, in %, and what was wrong with the answer; the mean over seeds."
    return figure("splits", "What goes wrong", note, element("ul", join(kinds), class_="legend"), multiples(panels))
