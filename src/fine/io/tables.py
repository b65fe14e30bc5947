"""Tables in CSV files, such as learning curves, which may come from anyone.

rows = read_table(Path("runs/rotation/metrics.csv"))     # [{"epoch": "1", "loss": "0.5", …}, …]
"""

import csv
import io
from pathlib import Path

from fine.io.untrusted import read_text

LARGEST_TABLE = 3_000_000
"""Bytes of a table; the learning curve of 40,000 epochs has fewer."""


def read_table(path: Path) -> list[dict[str, str]]:
    """The rows of a table, each by the names in its first row, with all values as texts."""
    return list(csv.DictReader(io.StringIO(read_table_text(path), newline="")))


def read_table_text(path: Path) -> str:
    """The text of a table."""
    return read_text(path, largest=LARGEST_TABLE, expected="a table")
