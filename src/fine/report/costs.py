"""Cost against accuracy: minutes of training and accuracy on the test puzzles, a panel a column."""

from fine.experiments.comparison import Comparison
from fine.report.facts import cost
from fine.report.looks import column_name, legend, looks
from fine.report.markup import Content, Markup, element, join
from fine.report.numbers import minutes, tenths
from fine.report.panels import LEFT, RIGHT, Axis, accuracy_axis, accuracy_ticks, figure, grid, multiples, panel, round_steps

BESIDE = ((7.0, 3.0), (-7.0, 3.0), (0.0, -5.5), (0.0, 11.5), (7.0, -4.0), (-7.0, -4.0), (7.0, 10.0), (-7.0, 10.0))
"""Where the letter of a dot may stand, the best place first."""


def cost_against_accuracy(comparison: Comparison) -> Markup | None:
    """The figure; None if nothing has been run."""
    styles = looks(comparison)
    found = [entry for entry in comparison.entries if entry.records and cost(entry) > 0]
    if not found:
        return None
    steps = round_steps(min(map(cost, found)), max(map(cost, found)))
    x = Axis(steps[0], steps[-1], LEFT + 6, RIGHT - 4, log=True)
    y = accuracy_axis(entry.here for entry in found if entry.here is not None)
    panels = []
    for column in comparison.experiment.columns:
        drawn = [(entry, entry.here) for entry in found if entry.place.column == column and entry.here is not None]
        if not drawn:
            continue
        ticks = steps if len(steps) < 6 else [step for step in steps if f"{step:e}".startswith("1")]
        parts: list[Content] = [grid(x, y, x_ticks={at: f"{at:g}" for at in ticks}, y_ticks=accuracy_ticks(y))]
        name, places = column_name(comparison, column), letter_places([(x(cost(entry)), y(here)) for entry, here in drawn])
        for (entry, here), (across, down) in zip(drawn, places, strict=True):
            look, spent = styles[entry.place.row], cost(entry)
            told = f"{look.name}, {name}, in {minutes(spent)} minutes: {tenths(here)}"
            dot = element("circle", cx=x(spent), cy=y(here), r=3, class_=f"dot {look.kind}")
            letter = element("text", look.letter, x=across, y=down, class_=f"letter middle {look.kind}")
            parts.append(element("g", element("title", told), dot, letter, data_key=entry.place.cell.group, data_field="cost"))
        describe = f"Accuracy against minutes of training, {name}"
        panels.append(panel(name, join(parts), x=x, y=y, describe=describe))
    note = "Test accuracy in % over minutes of training on one thread (a logarithmic scale); the mean over seeds."
    rows = [styles[row] for row in comparison.experiment.rows if any(entry.place.row == row for entry in found)]
    return figure("costs", "What it costs", note, legend(rows, comparison.experiment.row_title), multiples(panels))


def letter_places(dots: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """For every dot a place for its letter, as free of other dots and letters as there is one."""
    taken = [(across, down + 3) for across, down in dots]  # a letter's place is its foot, 3 below its middle
    places = []
    for across, down in dots:
        choices = [(across + right, down + below) for right, below in BESIDE]
        crowd = [sum(abs(a - u) < 6.5 and abs(b - v) < 7.5 for u, v in taken) for a, b in choices]
        places.append(choices[crowd.index(min(crowd))])
        taken.append(places[-1])
    return places
