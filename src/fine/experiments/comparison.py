"""A table with the paper's numbers and ours side by side, from the ledger; what has not been run is visibly missing.

comparison = compare(make_experiment("table1"), Ledger(Path("results/ledger")))
print(markdown(comparison))
"""

import statistics
from dataclasses import dataclass

from fine.experiments.experiment import Experiment, Place, label
from fine.experiments.ledger import Failure, Ledger, Record
from fine.experiments.paper import Quoted

MISSING = "·"


@dataclass(frozen=True)
class Entry:
    """A place of a table, filled in as far as it has been run. Numbers are in %."""

    place: Place
    records: tuple[Record, ...]
    """Results, one a seed."""
    failure: Failure | None = None
    """Why there is no result, if it was tried (with seed 0)."""

    @property
    def paper(self) -> Quoted | None:
        return self.place.paper

    @property
    def here(self) -> float | None:
        """Mean accuracy over seeds."""
        return 100 * statistics.mean(record.accuracy for record in self.records) if self.records else None

    @property
    def spread(self) -> float | None:
        """Standard deviation over seeds; with one seed, half the width of its 95 % interval."""
        if len(self.records) > 1:
            return 100 * statistics.stdev(record.accuracy for record in self.records)
        return 50 * (self.records[0].interval[1] - self.records[0].interval[0]) if self.records else None

    @property
    def difference(self) -> float | None:
        """Ours less the paper's."""
        return None if self.here is None or self.paper is None else self.here - self.paper.mean

    def __str__(self) -> str:
        """ "97.1 ± 0.2", "·" for what is missing, "failed"."""
        if self.here is None:
            return "failed" if self.failure else MISSING
        return f"{self.here:.1f} ± {self.spread:.1f}"


@dataclass(frozen=True)
class Comparison:
    """An experiment and what the ledger has of it."""

    experiment: Experiment
    entries: tuple[Entry, ...]

    def entry(self, row: str, column: str) -> Entry:
        return next(entry for entry in self.entries if (entry.place.row, entry.place.column) == (row, column))

    def row(self, row: str) -> tuple[Entry, ...]:
        """The entries of a row, in the order of the columns."""
        return tuple(self.entry(row, column) for column in self.experiment.columns)

    @property
    def records(self) -> tuple[Record, ...]:
        return tuple(record for entry in self.entries for record in entry.records)

    @property
    def has_paper(self) -> bool:
        """Whether the paper has any of these numbers."""
        return any(entry.paper for entry in self.entries)


def compare(experiment: Experiment, ledger: Ledger) -> Comparison:
    """Fill in an experiment from a ledger, with all seeds that are there."""
    entries = []
    for place in experiment.places:
        found = ledger.read(place.cell.key)
        records = tuple(ledger.seeds(place.cell))
        entries.append(Entry(place, records, found if isinstance(found, Failure) else None))
    return Comparison(experiment, tuple(entries))


def markdown(comparison: Comparison) -> str:
    """The table as a page of Markdown."""
    experiment = comparison.experiment
    head = [experiment.row_title, *map(label, experiment.columns)]
    lines = [f"# {experiment.name}: {experiment.title}", "", _line(head), "|" + "---|" * len(head)]
    for row in experiment.rows:
        lines.append(_line([label(row), *(_shown(entry, comparison.has_paper) for entry in comparison.row(row))]))
    return "\n".join([*lines, "", *caption(comparison)]) + "\n"


def caption(comparison: Comparison) -> list[str]:
    """What one has to know to read the table: units, sizes, how it was trained and how much of it is there."""
    done = sum(1 for entry in comparison.entries if entry.records)
    what = "paper / here, " if comparison.has_paper else ""
    lines = [
        f"{comparison.experiment.measured}, {what}± the standard deviation over seeds, or the 95 % interval where there is "
        "one seed.",
        f"{done} of {len(comparison.entries)} places are filled; {MISSING} has not been run.",
    ]
    records = comparison.records
    if records:
        ways = sorted({f"{record.protocol}, {record.epochs} epochs" for record in records})
        trained = sorted({record.train_puzzles for record in records})
        tested = sorted({record.test_puzzles for record in records})
        puzzles = f"{_range(trained)} training and {_range(tested)} test puzzles"
        seeds = sorted({len(entry.records) for entry in comparison.entries if entry.records})
        lines += [
            f"Protocol: {'; '.join(ways)}. {puzzles}. Seeds: {_range(seeds)}.",
            f"Training took {sum(record.minutes for record in records):,.1f} minutes in all, on one thread a run. "
            f"Commits: {', '.join(sorted({record.commit for record in records}))}.",
        ]
    for entry in comparison.entries:
        if entry.failure:
            lines.append(f"{label(entry.place.row)}, {label(entry.place.column)} failed: {entry.failure.error}")
    return lines


def _range(numbers: list[int]) -> str:
    return f"{numbers[0]:,}" if len(numbers) == 1 else f"{numbers[0]:,} to {numbers[-1]:,}"


def _shown(entry: Entry, with_paper: bool) -> str:
    return f"{entry.paper or '–'} / {entry}" if with_paper else str(entry)


def _line(texts: list[str]) -> str:
    return f"| {' | '.join(texts)} |"
