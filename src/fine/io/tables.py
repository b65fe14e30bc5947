"""Tables in CSV files, such as learning curves, which may come from anyone.

rows = read_table(Path("runs/rotation/metrics.csv"))     # [{"epoch": "1", "loss": "0.5", …}, …]
"""

import csv
import io
from pathlib import Path

from fine.io.untrusted import read_text

LARGEST_TABLE = 3_000_000
"""Bytes of a table; the learning curve of 40,000 epochs has fewer."""


MOST_ROWS, MOST_CELLS = 250_000, 3_000_000
"""Of any table: a short row has a cell for each column, and a short text may name many columns."""


def read_table(path: Path) -> list[dict[str, str]]:
    """The rows of a table, each by the names in its first row, with all values as texts."""
    return parse_table(read_table_text(path))


def parse_table(text: str) -> list[dict[str, str]]:
    """The rows of a text of CSV; a ValueError if it is none, or too long."""
    text = text.removeprefix("\ufeff")  # which spreadsheets write before UTF-8
    reader = csv.DictReader(io.StringIO(text, newline=""))
    rows: list[dict[str, str]] = []
    try:
        most = min(MOST_ROWS, MOST_CELLS // max(1, len(reader.fieldnames or ())))
        for row in reader:
            if len(rows) == most:
                raise ValueError(f"it has more than {most:,} rows of {len(row)} cells")
            rows.append(row)
    except csv.Error as problem:  # which is no ValueError
        raise ValueError(str(problem)) from problem
    return rows


def read_table_text(path: Path) -> str:
    """The text of a table."""
    return read_text(path, largest=LARGEST_TABLE, expected="a table")
