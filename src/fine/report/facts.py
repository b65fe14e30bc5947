"""How the runs of an experiment were made, and the means over seeds that plots show."""

import re
import statistics
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from fine.experiments.comparison import MISSING, Comparison, Entry
from fine.experiments.durations import show_minutes
from fine.experiments.records import Record
from fine.experiments.text_tables import span
from fine.puzzles import KINDS

MISTAKES = KINDS[1:]


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

    @cached_property
    def named(self) -> dict[str, str]:
        """The facts by name, as they are shown; without runs only how much is there."""
        records = self.comparison.records
        shown = {"filled": f"{self.filled} of {self.places}"}
        if not records:
            return shown
        epochs: dict[str, set[int]] = {}
        for record in records:
            epochs.setdefault(record.protocol, set()).add(record.epochs)
        protocols = (f"{name}, {span(counts)} epochs" for name, counts in sorted(epochs.items()))
        seeds = [len(entry.records) for entry in self.comparison.entries if entry.records]
        return shown | {
            "protocol": "; ".join(protocols),
            "seeds": span(seeds),
            "training puzzles": span(record.train_puzzles for record in records),
            "test puzzles": span(record.test_puzzles for record in records),
            "minutes": show_minutes(sum(record.minutes for record in records)),
            "commit": ", ".join(sorted({record.commit for record in records})),
            "machine": "; ".join(sorted({_machine(record) for record in records})),
        }

    @property
    def failures(self) -> list[tuple[Entry, str]]:
        """Places that were tried and have no result, and why."""
        entries = self.comparison.entries
        return [(e, e.failure.error) for e in entries if e.failure and not e.records]


def _machine(record: Record) -> str:
    """The machine of a record; those of earlier versions have "1 threads"."""
    return re.sub(r"\b1 threads$", "1 thread", record.machine)


def how_to_read(comparison: Comparison) -> str:
    """How to read a table, in sentences."""
    experiment = comparison.experiment
    sentences = [
        f"{capitalised(experiment.title)}.",
        f"{experiment.measured}, ± the standard deviation over seeds, or with one seed half its "
        "95 % interval.",
    ]
    if comparison.has_paper:
        sentences.append("Difference: ours minus the paper's.")
    if not experiment.probed:
        sentences.append("Bold: the best of a column here.")
    sentences.append(f"{MISSING} has not been run.")
    return " ".join(sentences)


def capitalised(text: str) -> str:
    """A title with a capital, the rest of it as it is."""
    return text[:1].upper() + text[1:]


def mistakes(entry: Entry) -> dict[str, float]:
    """Share of each kind of wrong answer in %, the mean over seeds."""
    return {
        kind: 100 * statistics.mean(record.mistakes.get(kind, 0.0) for record in entry.records)
        for kind in MISTAKES
    }


def curve(entry: Entry) -> list[float]:
    """Accuracy on the training puzzles in %, epoch by epoch, the mean over the seeds that have it.

    The curves of a cell have one length, unless files were edited.
    """
    curves = [record.curve for record in entry.records]
    epochs = range(max(map(len, curves), default=0))
    return [
        100 * statistics.mean(points[epoch].accuracy for points in curves if epoch < len(points))
        for epoch in epochs
    ]


def cost(entry: Entry) -> float:
    """Minutes of training of one run, the mean over seeds."""
    return statistics.mean(record.minutes for record in entry.records)


def by_rule(entry: Entry) -> dict[str, float]:
    """Share of right answers in % for every hidden rule, the mean over seeds."""
    tables = [record.by_rule for record in entry.records]
    return _means([{row["rule"]: row[KINDS[0]] for row in rows} for rows in tables])


def confusions(entry: Entry, family: str) -> dict[tuple[float, ...], float]:
    """Share of answers under a wrong rule in %, by its distance from the hidden one.

    The mean over the seeds that have it.
    """
    shares = []
    for record in entry.records:
        own = [row for row in record.confusions if row["family"] == family]
        if own:
            shares.append({tuple(row["apart"]): row[KINDS[1]] for row in own})
    return _means(shares)


def _means(tables: list[dict[Any, float]]) -> dict[Any, float]:
    names = dict.fromkeys(name for table in tables for name in table)
    return {
        name: 100 * statistics.mean(table[name] for table in tables if name in table)
        for name in names
    }
