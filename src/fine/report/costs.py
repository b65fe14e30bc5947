"""Cost against accuracy: minutes of training and test accuracy, one panel for each column."""

from fine.experiments.comparison import Comparison, Entry
from fine.experiments.durations import show_minutes
from fine.report.facts import cost
from fine.report.markup import Content, Markup, element, join
from fine.report.numbers import tenths
from fine.report.panels import (
    LEFT,
    RIGHT,
    Axis,
    accuracy_axis,
    accuracy_ticks,
    folded,
    grid,
    mark,
    multiples,
    panel,
    round_steps,
)
from fine.report.styles import column_name, legend, row_styles

BESIDE = (
    *((7.0, 3.0), (-7.0, 3.0), (0.0, -5.5), (0.0, 11.5)),
    *((7.0, -4.0), (-7.0, -4.0), (7.0, 10.0), (-7.0, 10.0)),
)
"""Where the letter of a dot may stand, the best place first."""


def cost_against_accuracy(comparison: Comparison) -> Markup | None:
    """The figure; None if nothing has been run."""
    found = [entry for entry in comparison.entries if entry.records and cost(entry) > 0]
    if not found:
        return None
    steps = round_steps(min(map(cost, found)), max(map(cost, found)))
    x = Axis(steps[0], steps[-1], LEFT + 6, RIGHT - 4, log=True)
    y = accuracy_axis(entry.here for entry in found if entry.here is not None)
    ticks = steps if len(steps) < 6 else [step for step in steps if f"{step:e}".startswith("1")]
    axes = grid(x, y, x_ticks={at: f"{at:g}" for at in ticks}, y_ticks=accuracy_ticks(y))
    panels = []
    for column in comparison.experiment.columns:
        name = column_name(comparison, column)
        drawn = [entry for entry in found if entry.place.column == column]
        if drawn:
            dots = _dots(comparison, name, drawn, x, y)
            describe = f"Accuracy against minutes of training, {name}"
            panels.append(panel(name, join([axes, dots]), x=x, y=y, describe=describe))
    note = (
        "Test accuracy in % over minutes of training on one thread (a logarithmic scale); the mean "
        "over seeds."
    )
    letters = legend(comparison, found)
    return folded("costs", "Training time", note, letters, multiples(panels))


def _dots(comparison: Comparison, name: str, drawn: list[Entry], x: Axis, y: Axis) -> Markup:
    styles = row_styles(comparison)
    dots = [(x(cost(entry)), y(entry.here or 0)) for entry in drawn]
    places = zip(drawn, dots, letter_places(dots), strict=True)
    parts: list[Content] = []
    for entry, (across, down), (letter_across, letter_down) in places:
        style, spent = styles[entry.place.row], show_minutes(cost(entry))
        hover = f"{style.name}, {name}, in {spent} minutes: {tenths(entry.here or 0)}"
        dot = element("circle", cx=across, cy=down, r=3, class_=f"dot {style.kind}")
        at = {"x": letter_across, "y": letter_down}
        letter = element("text", style.letter, **at, class_=f"letter middle {style.kind}")
        parts.append(mark(entry, "cost", hover, dot, letter))
    return join(parts)


def letter_places(dots: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """For every dot a place for its letter, as free of other dots and letters as possible."""
    taken = [(across, down + 3) for across, down in dots]  # a letter stands 3 below its middle
    places = []
    for across, down in dots:
        choices = [(across + right, down + below) for right, below in BESIDE]
        crowd = [sum(abs(a - u) < 6.5 and abs(b - v) < 7.5 for u, v in taken) for a, b in choices]
        places.append(choices[crowd.index(min(crowd))])
        taken.append(places[-1])
    return places
