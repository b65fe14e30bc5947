"""Learning curves: accuracy on the training puzzles over epochs, one panel for each column."""

from fine.experiments.comparison import Comparison, Entry
from fine.report.facts import curve
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
    folded,
    grid,
    mark,
    multiples,
    panel,
    polyline,
    spread_out,
)
from fine.report.styles import column_name, legend, row_styles

Curve = tuple[Entry, list[float]]


def learning_curves(comparison: Comparison) -> Markup | None:
    """The figure; None if nothing has been run."""
    curves = [(entry, points) for entry in comparison.entries if (points := curve(entry))]
    if not curves:
        return None
    y = accuracy_axis(value for _, points in curves for value in points)
    panels = []
    for column in comparison.experiment.columns:
        drawn = [(entry, points) for entry, points in curves if entry.place.column == column]
        if drawn:
            panels.append(_panel(comparison, column_name(comparison, column), drawn, y))
    note = (
        "Accuracy on the training puzzles in %, over epochs; the mean over seeds. 25 is a blind "
        "guess, 50 the right object."
    )
    letters = legend(comparison, [entry for entry, _ in curves])
    return folded("curves", "Learning curves", note, letters, multiples(panels))


def _panel(comparison: Comparison, name: str, drawn: list[Curve], y: Axis) -> Markup:
    styles = row_styles(comparison)
    epochs = max(len(points) for _, points in drawn)
    x = Axis(1, max(2, epochs), LEFT + 4, RIGHT)
    x_ticks = {1.0: "1", float(epochs): str(epochs)}
    parts: list[Content] = [grid(x, y, x_ticks=x_ticks, y_ticks=accuracy_ticks(y))]
    heights = [y(points[-1]) for _, points in drawn]
    ends = spread_out(heights, gap=8.5, low=TOP, high=BOTTOM)
    for (entry, points), end in zip(drawn, ends, strict=True):
        style = styles[entry.place.row]
        hover = f"{style.name}, {name}, after {len(points)} epochs: {tenths(points[-1])}"
        path = [(x(number), y(value)) for number, value in enumerate(points, start=1)]
        place = {"x": x(len(points)) + 5, "y": end + 3}
        letter = element("text", style.letter, **place, class_=f"letter {style.kind}")
        parts.append(mark(entry, "curve", hover, polyline(path, style.kind), letter))
    count = "one line" if len(drawn) == 1 else f"{len(drawn)} lines"
    describe = f"Training accuracy over epochs, {name}: {count}"
    return panel(name, join(parts), x=x, y=y, describe=describe)
