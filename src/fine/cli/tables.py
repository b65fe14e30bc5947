"""Tables of numbers that are wider than the terminal: in pieces, so that no word is cut."""

from collections.abc import Iterable, Mapping, Sequence

from rich.measure import Measurement
from rich.table import Table

from fine.cli.terminal import console

_FRAME = 3  # characters around a column, with one more at the end of all


def print_in_pieces(of: str, columns: Mapping[str, Sequence[str]], rows: Sequence[str]) -> None:
    """Print a table, in several pieces if it is wider than the terminal, so that no word is cut.

    ``rows`` are names of what the rows are ``of``; a column has a text for each of them.
    """
    room = console.width - 1 - _FRAME - _longest_word([of, *rows])
    pieces: list[list[str]] = []
    used = 0
    for name, texts in columns.items():
        width = _FRAME + _longest_word([name, *texts])
        if not pieces or used + width > room:
            pieces.append([])
            used = 0
        pieces[-1].append(name)
        used += width
    for names in pieces:
        console.print(_piece(of, {name: columns[name] for name in names}, rows))


def _piece(of: str, columns: Mapping[str, Sequence[str]], rows: Sequence[str]) -> Table:
    table = Table(of)
    for name in columns:
        table.add_column(name, justify="right")
    for row, cells in zip(rows, zip(*columns.values(), strict=True), strict=True):
        table.add_row(row, *cells)
    anywhere = console.options.update_width(10_000)
    if Measurement.get(console, anywhere, table).maximum > console.width:
        # Rich would shorten the widest columns, and cut words in them.
        names, *others = table.columns
        left = console.width - 1 - _FRAME
        for column, (name, texts) in zip(others, columns.items(), strict=True):
            column.width = _longest_word([name, *texts])
            left -= column.width + _FRAME
        names.width = max(_longest_word([of, *rows]), min(left, max(map(len, rows))))
    return table


def _longest_word(texts: Iterable[str]) -> int:
    return max(len(word) for text in texts for word in text.split())
