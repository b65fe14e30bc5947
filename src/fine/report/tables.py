"""A table as data: for every row of an experiment a line with ours, one with the paper's and one with the difference."""

from dataclasses import dataclass

from fine.experiments.comparison import Comparison, Entry
from fine.experiments.experiment import Experiment, label
from fine.report.facts import NOT_RUN
from fine.report.numbers import signed, tenths


@dataclass(frozen=True)
class Number:
    """A place of a table as it is shown."""

    entry: Entry
    field: str
    """here, paper or difference."""
    text: str
    """Empty: there is nothing to show."""
    spread: str = ""
    """What follows ±."""
    best: bool = False

    @property
    def missing(self) -> bool:
        """Whether it is a result that is not there."""
        return self.field == "here" and self.entry.here is None

    def __str__(self) -> str:
        return f"{self.text} ± {self.spread}" if self.spread else self.text


@dataclass(frozen=True)
class Line:
    """A line of a table."""

    row: str
    field: str
    numbers: tuple[Number, ...]


def table_lines(comparison: Comparison) -> list[list[Line]]:
    """The lines of every row; those of the paper only where it has any number in that row."""
    best = {column: _best(comparison, column) for column in comparison.experiment.columns}
    groups = []
    for row in comparison.experiment.rows:
        entries = comparison.row(row)
        group = [Line(row, "here", tuple(_here(entry, best[entry.place.column]) for entry in entries))]
        if any(entry.paper for entry in entries):
            group.append(Line(row, "paper", tuple(map(_paper, entries))))
        if any(entry.difference is not None for entry in entries):
            group.append(Line(row, "difference", tuple(map(_difference, entries))))
        groups.append(group)
    return groups


def column_groups(experiment: Experiment) -> list[tuple[str, list[str]]]:
    """(heading, columns) where columns share pictures, as in table 4; one group without a heading otherwise."""
    if experiment.column_title != "pictures-rules":
        return [("", [label(column) for column in experiment.columns])]
    groups: dict[str, list[str]] = {}
    for column in experiment.columns:
        pictures, _, rules = column.rpartition("-")
        groups.setdefault(pictures.replace("-", " → "), []).append(rules)
    return list(groups.items())


def _here(entry: Entry, best: str) -> Number:
    if entry.here is None or entry.spread is None:
        return Number(entry, "here", "failed" if entry.failure else NOT_RUN)
    text = tenths(entry.here)
    return Number(entry, "here", text, tenths(entry.spread), best=text == best)


def _paper(entry: Entry) -> Number:
    if entry.paper is None:
        return Number(entry, "paper", "")
    text, _, spread = str(entry.paper).partition(" ± ")
    return Number(entry, "paper", text, spread)


def _difference(entry: Entry) -> Number:
    if entry.here is None or entry.paper is None:
        return Number(entry, "difference", "")
    return Number(entry, "difference", signed(round(entry.here, 1) - entry.paper.mean))  # of the two as they are shown


def _best(comparison: Comparison, column: str) -> str:
    """The best result of a column as it is shown; nothing is the best of one, or of what is measured in several ways."""
    if comparison.experiment.probed:
        return ""
    shown = [entry.here for entry in comparison.entries if entry.place.column == column and entry.here is not None]
    return tenths(max(shown)) if len(shown) > 1 else ""
