"""How a row of a table looks in every plot: a letter, and a kind of line. Ours has the accent; all others are shades of ink."""

from dataclasses import dataclass
from itertools import product
from string import ascii_lowercase

from fine.experiments.comparison import Comparison
from fine.experiments.experiment import label
from fine.report.markup import Markup, element, join

LETTERS = {
    "relation-net": "R",
    "predi-net": "P",
    "hyper-net": "H",
    "transformer": "T",
    "esbn": "E",
    "fine-mlp": "M",
    "fine-nice": "N",
    "fine": "F",
}
_KINDS = {"fine": "ours", "fine-nice": "theirs solid", "fine-mlp": "theirs dashed"}
_OTHERS = ("solid", "dashed", "dotted", "dash-dot", "long")


@dataclass(frozen=True)
class Look:
    """A row of a table in a plot."""

    row: str
    letter: str
    kind: str
    """Classes of the style sheet."""

    @property
    def name(self) -> str:
        return label(self.row)


def looks(comparison: Comparison) -> dict[str, Look]:
    """The looks of an experiment's rows."""
    others = [row for row in comparison.experiment.rows if row not in _KINDS]
    kinds = _KINDS | {row: f"other {_OTHERS[number % len(_OTHERS)]}" for number, row in enumerate(others)}
    short = _letters(others) | LETTERS
    return {row: Look(row, short[row], kinds[row]) for row in comparison.experiment.rows}


def _letters(rows: list[str]) -> dict[str, str]:
    """Short names: the first two letters, the first and the last (rank-8, rank-4), or a to zz: the first that all differ in."""
    alphabet = [*ascii_lowercase, *map("".join, product(ascii_lowercase, repeat=2))]
    ways = ([row[:2] for row in rows], [row[0] + row[-1] for row in rows], alphabet)
    return dict(zip(rows, next(way for way in ways if len(set(way)) == len(way)), strict=False))


def column_name(comparison: Comparison, column: str) -> str:
    """A column where it stands alone: a number with what it counts."""
    return f"{label(column)} {comparison.experiment.column_title}" if column.isdigit() else label(column)


def legend(shown: list[Look], row_title: str) -> Markup:
    """The letters and lines with their names."""
    items = [
        element(
            "li",
            element(
                "svg",
                element("line", x1=0, y1=5, x2=22, y2=5, class_=f"line {look.kind}"),
                viewBox="0 0 22 10",
                aria_hidden="true",
            ),
            element("b", look.letter, class_=look.kind),
            element("span", look.name if look.name != look.letter else row_title),
        )
        for look in shown
    ]
    return element("ul", join(items), class_="legend")
