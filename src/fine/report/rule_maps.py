"""Heat maps of rules: which rules are hard, and which are taken for which.

They are tables with coloured cells rather than drawings: each number can be read, copied and read
aloud, and is small in the file.
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
"""Shares in % by the parameters of a rule, or by the distance between two rules."""
Mapped = list[tuple[Entry, Values]]


@dataclass(frozen=True)
class Map:
    """What is mapped: a field of an entry, what a reader should know, and whether much is bad."""

    field: str
    heading: str
    note: str
    values: Callable[[Entry, str], Values]
    bad: bool


def right_by_rule(entry: Entry, family: str) -> Values:
    """Share of right answers by the hidden rule."""
    grid = FAMILIES[family].grid
    known = {str(Rule(FAMILIES[family], parameters)): parameters for parameters in grid}
    return {known[name]: share for name, share in by_rule(entry).items() if name in known}


MAPS = (
    Map(
        "right",
        "Which rules are hard",
        "Right answers in % for every hidden rule, the mean over seeds; the stronger the colour, "
        "the more are wrong. An empty place is a rule the test does not have.",
        right_by_rule,
        bad=False,
    ),
    Map(
        "apart",
        "Which rules are taken for which",
        "Answers in % that show the right object under the wrong rule, by the distance of that "
        "rule from the hidden one.",
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
            entries = [entry for entry in comparison.column(column) if entry.records]
            family = _family(comparison, column)
            if family:
                blocks += _blocks(what, column, family, entries)
        if blocks:
            figures.append(folded("maps", what.heading, what.note, *blocks, unfolded=unfolded))
    return figures


def _family(comparison: Comparison, column: str) -> str:
    """The family of all test puzzles of a column, if it has a map."""
    task = comparison.column(column)[0].place.cell.config.task
    name = (task.test_rules or task.rules).partition(":")[0]
    return name if name in MAPPED else ""


def _blocks(what: Map, column: str, family: str, entries: Sequence[Entry]) -> list[Markup]:
    """A heading and the maps of a column, if there are any."""
    mapped = [(entry, values) for entry in entries if (values := what.values(entry, family))]
    if not mapped:
        return []
    axes = element("small", " ".join(MAPPED[family]))
    make = _strip if len(MAPPED[family]) == 1 else _grids
    return [element("h4", label(column), " ", axes), make(what, family, mapped)]


def _strip(what: Map, family: str, mapped: Mapped) -> Markup:
    """A row for each model, for a family with one parameter."""
    columns = sorted({parameters for _, values in mapped for parameters in values})
    head = [element("th", f"{parameters[0]:g}°", scope="col") for parameters in columns]
    rows = [
        element(
            "tr",
            element("th", label(entry.place.row), scope="row"),
            *(_cell(what, values.get(parameters)) for parameters in columns),
            **_source(what, family, entry),
        )
        for entry, values in mapped
    ]
    corner = element("td", "apart" if what.bad else "angle", class_="corner")
    table = element("table", lines(element("tr", corner, *head), *rows), class_="heat strip")
    return element("div", table, class_="scroll", tabindex="0")


def _grids(what: Map, family: str, mapped: Mapped) -> Markup:
    """A square for each model, for a family with two parameters."""
    every = [parameters for _, values in mapped for parameters in values]
    across, down = (sorted({parameters[place] for parameters in every}) for place in (0, 1))
    grids = (_grid(what, family, entry, values, across, down) for entry, values in mapped)
    return block("div", *grids, class_="grids")


def _grid(
    what: Map,
    family: str,
    entry: Entry,
    values: Values,
    across: Sequence[float],
    down: Sequence[float],
) -> Markup:
    head = [element("th", f"{tick:g}", scope="col") for tick in across]
    rows = [element("tr", element("td", class_="corner"), *head)]
    for second in down:
        cells = (_cell(what, values.get((first, second))) for first in across)
        rows.append(element("tr", element("th", f"{second:g}", scope="row"), *cells))
    caption = element("caption", label(entry.place.row))
    source = _source(what, family, entry)
    return element("table", caption, lines(*rows), class_="heat", **source)


def _source(what: Map, family: str, entry: Entry) -> dict[str, str]:
    """The key and the field that a map shows."""
    return {"data_key": entry.place.cell.group, "data_field": f"{what.field} {family}"}


def _cell(what: Map, value: float | None) -> Markup:
    if value is None:
        return element("td", class_="none")
    error = value if what.bad else 100 - value
    return element("td", whole(value), class_=f"h{min(SHADES, round(SHADES * error / FULL))}")
