"""A table with the paper's numbers and ours side by side, from the ledger; gaps are visible.

comparison = compare(make_experiment("table1"), Ledger(Path("results/ledger")))
print(markdown(comparison))
"""

import statistics
from dataclasses import dataclass

from fine.experiments.durations import show_minutes
from fine.experiments.experiment import Experiment, Place, label
from fine.experiments.ledger import Ledger
from fine.experiments.paper import OPEN_QUESTIONS, OTHER_TASKS, Quoted
from fine.experiments.records import Failure, Record
from fine.experiments.text_tables import markdown_rows, span

MISSING = "·"
"""Stands where a cell has not been run."""


@dataclass(frozen=True)
class Entry:
    """A place of a table, filled in as far as it has been run. Numbers are in %.

    Examples:
        >>> from pathlib import Path
        >>> from fine.experiments import Ledger, compare, make_experiment
        >>> comparison = compare(make_experiment("table1"), Ledger(Path("an-empty-ledger")))
        >>> entry = comparison.entry("esbn", "rotation")
        >>> print(entry.paper, "/", entry)  # nothing has been run yet
        58.6 ± 1.0 / ·
    """

    place: Place
    """Row, column, cell and the paper's number."""
    records: tuple[Record, ...]
    """Results, one for each seed."""
    failure: Failure | None = None
    """Why there is no result, if it was tried (with seed 0)."""

    @property
    def paper(self) -> Quoted | None:
        """The paper's number, if it has one."""
        return self.place.paper

    @property
    def here(self) -> float | None:
        """Mean over seeds."""
        if not self.records:
            return None
        return 100 * statistics.mean(record.value for record in self.records)

    @property
    def spread(self) -> float | None:
        """Standard deviation over seeds; with one seed, half the width of its 95 % interval."""
        if not self.records:
            return None
        if len(self.records) > 1:
            return 100 * statistics.stdev(record.value for record in self.records)
        low, high = self.records[0].interval
        return 50 * (high - low)

    @property
    def difference(self) -> float | None:
        """Ours minus the paper's."""
        return None if self.here is None or self.paper is None else self.here - self.paper.mean

    def __str__(self) -> str:
        """ "97.1 ± 0.2", "·" for what is missing, "failed"."""
        if self.here is None:
            return "failed" if self.failure else MISSING
        return f"{self.here:.1f} ± {self.spread:.1f}"


@dataclass(frozen=True)
class Comparison:
    """An experiment and what the ledger has of it.

    Examples:
        >>> from pathlib import Path
        >>> from fine.experiments import Ledger, compare, make_experiment
        >>> comparison = compare(make_experiment("table1"), Ledger(Path("an-empty-ledger")))
        >>> len(comparison.row("esbn")), len(comparison.records)
        (10, 0)
    """

    experiment: Experiment
    """The table or figure."""
    entries: tuple[Entry, ...]
    """One for each of its places."""

    def entry(self, row: str, column: str) -> Entry:
        """The entry of a place."""
        place = (row, column)
        return next(
            entry for entry in self.entries if (entry.place.row, entry.place.column) == place
        )

    def row(self, row: str) -> tuple[Entry, ...]:
        """The entries of a row, in the order of the columns."""
        return tuple(self.entry(row, column) for column in self.experiment.columns)

    def column(self, column: str) -> tuple[Entry, ...]:
        """The entries of a column, in the order of the rows."""
        return tuple(entry for entry in self.entries if entry.place.column == column)

    @property
    def records(self) -> tuple[Record, ...]:
        """All results, place by place."""
        return tuple(record for entry in self.entries for record in entry.records)

    @property
    def has_paper(self) -> bool:
        """Whether the paper has any of these numbers."""
        return any(entry.paper for entry in self.entries)


def compare(experiment: Experiment, ledger: Ledger) -> Comparison:
    """Fill in an experiment from a ledger, with all seeds that are there.

    Args:
        experiment: A table or figure.
        ledger: The results.

    Examples:
        >>> from pathlib import Path
        >>> from fine.experiments import Ledger, compare, make_experiment
        >>> comparison = compare(make_experiment("table1"), Ledger(Path("an-empty-ledger")))
        >>> len(comparison.entries)
        90
    """
    entries = []
    for place in experiment.places:
        found = ledger.group(place.cell)
        records = tuple(entry for entry in found if isinstance(entry, Record))
        failures = [entry for entry in found if isinstance(entry, Failure) and not entry.seed]
        entries.append(Entry(place, records, failures[0] if failures else None))
    return Comparison(experiment, tuple(entries))


def markdown(comparison: Comparison) -> str:
    """The table as a page of Markdown.

    Args:
        comparison: An experiment and what the ledger has of it.

    Examples:
        >>> from pathlib import Path
        >>> from fine.experiments import Ledger, compare, make_experiment, markdown
        >>> comparison = compare(make_experiment("table1"), Ledger(Path("an-empty-ledger")))
        >>> print(markdown(comparison).splitlines()[0])  # doctest: +ELLIPSIS
        # table1: ...
    """
    experiment = comparison.experiment
    head = [experiment.row_title, *map(label, experiment.columns)]
    rows = [
        [label(row), *(_shown(entry, comparison.has_paper) for entry in comparison.row(row))]
        for row in experiment.rows
    ]
    title = f"# {experiment.name}: {experiment.title}"
    return "\n".join([title, "", *markdown_rows(head, rows), "", *caption(comparison)]) + "\n"


def caption(comparison: Comparison) -> list[str]:
    """How to read the table: units, sizes, how it was trained and how much of it is there."""
    filled = [entry for entry in comparison.entries if entry.records]
    what = "paper / here, " if comparison.has_paper else ""
    count = len(comparison.entries)
    lines = [
        f"{comparison.experiment.measured}, {what}± the standard deviation over seeds, or the "
        "95 % interval where there is one seed.",
        f"{len(filled)} of {count} places are filled; {MISSING} has not been run.",
    ]
    if comparison.has_paper:
        lines += _reservations(comparison.experiment)
    records = comparison.records
    if records:
        protocols = sorted({f"{record.protocol}, {record.epochs} epochs" for record in records})
        trained = span(record.train_puzzles for record in records)
        tested = span(record.test_puzzles for record in records)
        seeds = span(len(entry.records) for entry in filled)
        minutes = show_minutes(sum(record.minutes for record in records))
        commits = ", ".join(sorted({record.commit for record in records}))
        lines += [
            f"Protocol: {'; '.join(protocols)}. {trained} training and {tested} test puzzles. "
            f"Seeds: {seeds}.",
            f"Training took {minutes} minutes in all, on one thread for each run. "
            f"Commits: {commits}.",
        ]
    for entry in comparison.entries:
        if entry.failure:
            place = f"{label(entry.place.row)}, {label(entry.place.column)}"
            lines.append(f"{place} failed: {entry.failure.error}")
    return lines


def _reservations(experiment: Experiment) -> list[str]:
    """Where the paper's task may be another one."""
    reasons = [
        f"{label(column)} ({OTHER_TASKS[column]})"
        for column in experiment.columns
        if column in OTHER_TASKS
    ]
    lines = [f"May be other tasks than the paper's: {'; '.join(reasons)}."] if reasons else []
    if experiment.name in OPEN_QUESTIONS:
        lines.append(OPEN_QUESTIONS[experiment.name])
    return lines


def _shown(entry: Entry, with_paper: bool) -> str:
    return f"{entry.paper or '–'} / {entry}" if with_paper else str(entry)
