"""Heat maps of rules: which rules are hard, and which are taken for which.

They are tables with coloured cells rather than drawings: each number can be read, copied and heard, and is small in the file.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fine.experiments.comparison import Comparison, Entry
from fine.experiments.experiment import label
from fine.report.facts import by_rule, confusions
from fine.report.markup import Content, Markup, block, element, lines
from fine.report.numbers import whole
from fine.report.panels import folded
from fine.rules import FAMILIES, Rule

MAPPED = {
    "rotation": ("→ degrees",),
    "translation": ("→ to the right,", "↓ down, of 32"),
    "shear": ("→ degrees across,", "↓ degrees down"),
}
"""Families with a map, and what its axes are."""
SHADES = 8
"""Steps of colour, from none to full."""
FULL = 50.0
"""The share of errors, in %, that has the full colour."""

Values = dict[tuple[float, ...], float]
"""Shares in % by the parameters of a rule, or by how far two rules are apart."""


@dataclass(frozen=True)
class Map:
    """What is mapped: a field of an entry, how it is told, and whether much of it is bad."""

    field: str
    heading: str
    note: str
    values: Callable[[Entry, str], Values]
    bad: bool


def hidden(entry: Entry, family: str) -> Values:
    """Share of right answers by the hidden rule."""
    known = {str(Rule(FAMILIES[family], parameters)): parameters for parameters in FAMILIES[family].grid}
    return {known[name]: share for name, share in by_rule(entry).items() if name in known}


MAPS = (
    Map(
        "right",
        "Which rules are hard",
        "Right answers in % for every hidden rule, the mean over seeds; the stronger the colour, the more are wrong. "
        "An empty place is a rule the test does not have.",
        hidden,
        bad=False,
    ),
    Map(
        "apart",
        "Which rules are taken for which",
        "Answers in % that show the right object under the wrong rule, by how far that rule is from the hidden one.",
        confusions,
        bad=True,
    ),
)


def rule_maps(comparison: Comparison, *, unfolded: bool) -> list[Markup]:
    """The figures of an experiment; none without columns of a mapped family."""
    figures = []
    for what in MAPS:
        blocks: list[Content] = []
        for column in comparison.experiment.columns:
            family = _family(comparison, column)
            entries = [entry for entry in comparison.entries if entry.place.column == column and entry.records]
            found = [(entry, what.values(entry, family)) for entry in entries] if family else []
            found = [(entry, values) for entry, values in found if values]
            if found:
                blocks.append(element("h4", label(column), " ", element("small", " ".join(MAPPED[family]))))
                blocks.append(_strip(what, family, found) if len(MAPPED[family]) == 1 else _grids(what, family, found))
        if blocks:
            figures.append(folded("maps", what.heading, what.note, *blocks, unfolded=unfolded))
    return figures


def _family(comparison: Comparison, column: str) -> str:
    """The family of all test puzzles of a column, if it has a map."""
    task = next(entry for entry in comparison.entries if entry.place.column == column).place.cell.config.task
    name = (task.test_rules or task.rules).partition(":")[0]
    return name if name in MAPPED else ""


def _strip(what: Map, family: str, found: list[tuple[Entry, Values]]) -> Markup:
    """A row a model, for a family with one parameter."""
    columns = sorted({parameters for _, values in found for parameters in values})
    head = [element("th", f"{parameters[0]:g}°", scope="col") for parameters in columns]
    rows = [
        element(
            "tr",
            element("th", label(entry.place.row), scope="row"),
            *(_cell(what, values.get(parameters)) for parameters in columns),
            data_key=entry.place.cell.group,
            data_field=f"{what.field} {family}",
        )
        for entry, values in found
    ]
    corner = element("td", "apart" if what.bad else "angle", class_="corner")
    return element(
        "div", element("table", lines(element("tr", corner, *head), *rows), class_="heat strip"), class_="scroll", tabindex="0"
    )


def _grids(what: Map, family: str, found: list[tuple[Entry, Values]]) -> Markup:
    """A square a model, for a family with two parameters."""
    ticks = [sorted({parameters[place] for _, values in found for parameters in values}) for place in (0, 1)]
    return block("div", *(_grid(what, family, *pair, *ticks) for pair in found), class_="grids")


def _grid(what: Map, family: str, entry: Entry, values: Values, across: Sequence[float], down: Sequence[float]) -> Markup:
    head = [element("th", f"{tick:g}", scope="col") for tick in across]
    rows = [
        element(
            "tr", element("th", f"{second:g}", scope="row"), *(_cell(what, values.get((first, second))) for first in across)
        )
        for second in down
    ]
    return element(
        "table",
        element("caption", label(entry.place.row)),
        lines(element("tr", element("td", class_="corner"), *head), *rows),
        class_="heat",
        data_key=entry.place.cell.group,
        data_field=f"{what.field} {family}",
    )


def _cell(what: Map, value: float | None) -> Markup:
    if value is None:
        return element("td", class_="none")
    error = value if what.bad else 100 - value
    return element("td", whole(value), class_=f"h{min(SHADES, round(SHADES * error / FULL))}")
