"""How a row of a table looks in every plot: a letter and a kind of line.

Ours has the accent colour; all others are shades of ink.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from string import ascii_lowercase

from fine.experiments.comparison import Comparison, Entry
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
    "fine-pyramid": "Y",
    "corel-net": "C",
    "abstractor": "A",
    "inlay": "I",
    "dual-attention": "D",
    "vit": "V",
}
_KINDS = {
    "fine": "ours",
    "fine-pyramid": "ours dashed",
    "fine-nice": "theirs solid",
    "fine-mlp": "theirs dashed",
}
_OTHERS = ("solid", "dashed", "dotted", "dash-dot", "long")


@dataclass(frozen=True)
class Style:
    """A row of a table in a plot."""

    row: str
    letter: str
    kind: str
    """Classes of the style sheet."""

    @property
    def name(self) -> str:
        return label(self.row)


def row_styles(comparison: Comparison) -> dict[str, Style]:
    """The styles of an experiment's rows."""
    rows = comparison.experiment.rows
    others = [row for row in rows if row not in _KINDS]
    kinds = dict(_KINDS)
    for number, row in enumerate(others):
        kinds[row] = f"other {_OTHERS[number % len(_OTHERS)]}"
    letters = _letters(others) | LETTERS
    return {row: Style(row, letters[row], kinds[row]) for row in rows}


def _letters(rows: list[str]) -> dict[str, str]:
    """Short names in which all rows differ: two letters, first and last (rank-8), or a to zz."""
    alphabet = [*ascii_lowercase, *map("".join, product(ascii_lowercase, repeat=2))]
    schemes = ([row[:2] for row in rows], [row[0] + row[-1] for row in rows], alphabet)
    letters = next(scheme for scheme in schemes if len(set(scheme)) == len(scheme))
    return dict(zip(rows, letters, strict=False))


def column_name(comparison: Comparison, column: str) -> str:
    """A column where it stands alone: a number with what it counts."""
    name = label(column)
    return f"{name} {comparison.experiment.column_title}" if column.isdigit() else name


def legend(comparison: Comparison, shown: Iterable[Entry]) -> Markup:
    """The letters and lines of the rows that these entries are in, with their names."""
    rows = {entry.place.row for entry in shown}
    row_title = comparison.experiment.row_title
    items = [
        _item(style, row_title) for row, style in row_styles(comparison).items() if row in rows
    ]
    return element("ul", join(items), class_="legend")


def _item(style: Style, row_title: str) -> Markup:
    line = element("line", x1=0, y1=5, x2=22, y2=5, class_=f"line {style.kind}")
    return element(
        "li",
        element("svg", line, viewBox="0 0 22 10", aria_hidden="true"),
        element("b", style.letter, class_=style.kind),
        element("span", style.name if style.name != style.letter else row_title),
    )
