"""What one has to know of an experiment's runs before believing its numbers, and the means over seeds that plots show."""

import statistics
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from fine.experiments.comparison import Comparison, Entry
from fine.puzzles import KINDS
from fine.report.numbers import minutes, span

MISTAKES = KINDS[1:]
NOT_RUN = "·"


@dataclass(frozen=True)
class Facts:
    """How the runs of an experiment were made."""

    comparison: Comparison

    @property
    def filled(self) -> int:
        """Places of the table with a result."""
        return sum(1 for entry in self.comparison.entries if entry.records)

    @property
    def places(self) -> int:
        return len(self.comparison.entries)

    @property
    def minutes(self) -> float:
        """Minutes of training, all runs together."""
        return sum(record.minutes for record in self.comparison.records)

    @cached_property
    def named(self) -> dict[str, str]:
        """The facts by name, as they are shown; without runs only how much is there."""
        records = self.comparison.records
        shown = {"filled": f"{self.filled} of {self.places}"}
        if records:
            epochs: dict[str, set[int]] = {}
            for record in records:
                epochs.setdefault(record.protocol, set()).add(record.epochs)
            shown |= {
                "protocol": "; ".join(f"{name}, {span(sorted(numbers))} epochs" for name, numbers in sorted(epochs.items())),
                "seeds": span(sorted({len(entry.records) for entry in self.comparison.entries if entry.records})),
                "training puzzles": span(sorted({record.train_puzzles for record in records})),
                "test puzzles": span(sorted({record.test_puzzles for record in records})),
                "minutes": minutes(self.minutes),
                "commit": ", ".join(sorted({record.commit for record in records})),
                "machine": "; ".join(sorted({record.machine for record in records})),
            }
        return shown

    @property
    def failures(self) -> list[tuple[Entry, str]]:
        """Places that were tried and have no result, and why."""
        return [(entry, entry.failure.error) for entry in self.comparison.entries if entry.failure and not entry.records]


def reading(comparison: Comparison) -> list[str]:
    """How to read a table, in sentences."""
    sentences = [
        f"{comparison.experiment.measured}, ± the standard deviation over seeds, or with one seed half its 95 % interval."
    ]
    if comparison.has_paper:
        sentences.append("Difference: here less the paper's.")
    best = "" if comparison.experiment.probed else "Bold: the best of a column here. "
    sentences.append(f"{best}{NOT_RUN} has not been run.")
    return sentences


def mistakes(entry: Entry) -> dict[str, float]:
    """Share of each kind of wrong answer in %, the mean over seeds."""
    return {kind: 100 * statistics.mean(record.mistakes.get(kind, 0.0) for record in entry.records) for kind in MISTAKES}


def curve(entry: Entry) -> list[float]:
    """Accuracy on the training puzzles in %, epoch by epoch, the mean over seeds."""
    epochs = zip(*(record.curve for record in entry.records), strict=True)
    return [100 * statistics.mean(point.accuracy for point in points) for points in epochs]


def cost(entry: Entry) -> float:
    """Minutes of training of one run, the mean over seeds."""
    return statistics.mean(record.minutes for record in entry.records)


def by_rule(entry: Entry) -> dict[str, float]:
    """Share of right answers in % for every hidden rule, the mean over seeds."""
    return _means([{row["rule"]: row[KINDS[0]] for row in record.by_rule} for record in entry.records])


def confusions(entry: Entry, family: str) -> dict[tuple[float, ...], float]:
    """Share of answers under a wrong rule in %, by how far it is from the hidden one, the mean over seeds that have it."""
    rows = [[row for row in record.confusions if row["family"] == family] for record in entry.records]
    return _means([{tuple(row["apart"]): row[KINDS[1]] for row in some} for some in rows if some])


def _means(tables: list[dict[Any, float]]) -> dict[Any, float]:
    names = dict.fromkeys(name for table in tables for name in table)
    return {name: 100 * statistics.mean(table[name] for table in tables if name in table) for name in names}
