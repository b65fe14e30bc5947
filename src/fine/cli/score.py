"""`fine score`"""

from pathlib import Path
from typing import Annotated

import tyro
from rich.table import Column, Table
from rich.text import Text

from fine.cli.arguments import options
from fine.cli.scores import print_comparison
from fine.cli.terminal import console, say
from fine.evaluation import paired_test
from fine.exchange import Predictions, evaluate_predictions
from fine.exchange.predictions import ALL_KINDS
from fine.io.files import write_json


@options()
class Score:
    """Score the answers of any program to puzzles that `fine puzzles --export` has written."""

    answers: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="ANSWERS")]
    """A CSV file with the columns number and answer, which is a letter."""
    puzzles: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="PUZZLES")]
    """The exported puzzles: NAME.npz, NAME.parquet or a folder."""
    against: Path | None = None
    """The answers of another program to the same puzzles, to compare with by McNemar's test."""
    by_rule: bool = False
    """Also show a row for every rule."""
    json: Path | None = None
    """Also write the numbers to this file."""

    def run(self) -> None:
        predictions = evaluate_predictions(self.answers, self.puzzles)
        say("", f"{len(predictions.key):,} puzzles of {self.puzzles}, answered by {self.answers}")
        console.print(_levels(predictions))
        if self.against is not None:
            other = evaluate_predictions(self.against, self.puzzles)
            print_comparison(str(self.against), other, paired_test(predictions, other))
        if self.by_rule:
            console.print(_rules(predictions))
        if self.json is not None:
            write_json(self.json, predictions.summary())


def _levels(predictions: Predictions) -> Table:
    """The accuracy beside chance and controls, and what kinds the mistakes are."""
    low, high = predictions.interval
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_row(
        Text("accuracy", style="bold"),
        Text(f"{predictions.accuracy:.1%}", style="bold green"),
        f"95 % interval {low:.1%} – {high:.1%}",
    )
    mistakes = predictions.mistakes.items()
    kinds = ", ".join(f"{share:.1%} {name.removesuffix(' wrong')}" for name, share in mistakes)
    table.add_row("mistakes", f"{1 - predictions.accuracy:.1%}", kinds)
    for level in predictions.levels():
        table.add_row(level.name, f"{level.share:.1%}", level.meaning)
    return table


def _rules(predictions: Predictions) -> Table:
    """A row for every hidden rule."""
    table = Table(Column("rule", no_wrap=True), "puzzles", *ALL_KINDS)
    for row in predictions.by_rule():
        shares = (f"{row[kind]:.1%}" for kind in ALL_KINDS)
        table.add_row(row["rule"], str(row["puzzles"]), *shares)
    return table
