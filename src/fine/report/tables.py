"""A table as data: for every row a line of ours, one of the paper's and one of differences."""

from dataclasses import dataclass

from fine.experiments.comparison import MISSING, Comparison, Entry
from fine.experiments.experiment import Experiment, label
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
    """The lines of every row; those of the paper only where it has a number in that row."""
    best = {column: _best(comparison, column) for column in comparison.experiment.columns}
    groups = []
    for row in comparison.experiment.rows:
        entries = comparison.row(row)
        here = tuple(_here(entry, best[entry.place.column]) for entry in entries)
        group = [Line(row, "here", here)]
        if any(entry.paper for entry in entries):
            group.append(Line(row, "paper", tuple(map(_paper, entries))))
        if any(entry.difference is not None for entry in entries):
            group.append(Line(row, "difference", tuple(map(_difference, entries))))
        groups.append(group)
    return groups


def column_groups(experiment: Experiment) -> list[tuple[str, list[str]]]:
    """(heading, columns) where columns share images, as in table 4; else one without a heading."""
    if experiment.column_title != "images-rules":
        return [("", [label(column) for column in experiment.columns])]
    groups: dict[str, list[str]] = {}
    for column in experiment.columns:
        hyphenated = column.endswith("-black-white")
        rules = "black-white" if hyphenated else column.rpartition("-")[2]
        images = column.removesuffix(f"-{rules}")
        heading = " → ".join(map(label, images.split("-")))
        groups.setdefault(heading, []).append(rules)
    return list(groups.items())


def _here(entry: Entry, best: str) -> Number:
    if entry.here is None or entry.spread is None:
        return Number(entry, "here", "failed" if entry.failure else MISSING)
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
    shown = round(entry.here, 1) - entry.paper.mean  # of the two numbers as they are shown
    return Number(entry, "difference", signed(shown))


def _best(comparison: Comparison, column: str) -> str:
    """The best result of a column as it is shown; none of a single one, or of probes."""
    if comparison.experiment.probed:
        return ""
    shown = [entry.here for entry in comparison.column(column) if entry.here is not None]
    return tenths(max(shown)) if len(shown) > 1 else ""
