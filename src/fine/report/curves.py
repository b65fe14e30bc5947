"""Learning curves: accuracy on the training puzzles over epochs, a panel a column."""

from fine.experiments.comparison import Comparison
from fine.report.facts import curve
from fine.report.looks import column_name, legend, looks
from fine.report.markup import Content, Markup, element, join
from fine.report.numbers import tenths
from fine.report.panels import (
    BOTTOM,
    LEFT,
    RIGHT,
    TOP,
    Axis,
    accuracy_axis,
    accuracy_ticks,
    figure,
    grid,
    multiples,
    panel,
    spread_out,
)


def learning_curves(comparison: Comparison) -> Markup | None:
    """The figure; None if nothing has been run."""
    styles = looks(comparison)
    curves = [(entry, points) for entry in comparison.entries if (points := curve(entry))]
    if not curves:
        return None
    y = accuracy_axis(value for _, points in curves for value in points)
    panels = []
    for column in comparison.experiment.columns:
        drawn = [(entry, points) for entry, points in curves if entry.place.column == column]
        if not drawn:
            continue
        name, epochs = column_name(comparison, column), max(len(points) for _, points in drawn)
        x = Axis(1, max(2, epochs), LEFT + 4, RIGHT)
        parts: list[Content] = [grid(x, y, x_ticks={1: "1", epochs: str(epochs)}, y_ticks=accuracy_ticks(y))]
        ends = spread_out([y(points[-1]) for _, points in drawn], gap=8.5, low=TOP, high=BOTTOM)
        for (entry, points), end in zip(drawn, ends, strict=True):
            look = styles[entry.place.row]
            told = f"{look.name}, {name}, after {len(points)} epochs: {tenths(points[-1])}"
            path = " ".join(f"{x(number):.1f},{y(value):.1f}" for number, value in enumerate(points, start=1))
            line = element("polyline", points=path, class_=f"line {look.kind}")
            letter = element("text", look.letter, x=x(len(points)) + 5, y=end + 3, class_=f"letter {look.kind}")
            key = {"data_key": entry.place.cell.group, "data_field": "curve"}
            parts.append(element("g", element("title", told), line, letter, **key))
        describe = f"Training accuracy over epochs, {name}: {_told(len(drawn))}"
        panels.append(panel(name, join(parts), x=x, y=y, describe=describe))
    rows = [styles[row] for row in comparison.experiment.rows if any(entry.place.row == row for entry, _ in curves)]
    note = "Accuracy on the training puzzles in %, over epochs; the mean over seeds. 25 is a blind guess, 50 the right object."
    return figure("curves", "How they learn", note, legend(rows, comparison.experiment.row_title), multiples(panels))


def _told(number: int) -> str:
    return "one line" if number == 1 else f"{number} lines"
