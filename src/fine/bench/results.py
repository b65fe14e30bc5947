"""A bench as tables of numbers, written as JSON and compared with an earlier one."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from fine.errors import FineError
from fine.io.files import read_json, write_json
from fine.io.typed_json import read_as
from fine.models.upgrades import SETTING_WORDS

FORMAT = 2
"""Version of the file's layout."""
NAMES = ("speed", "parts", "processor", "growth")
"""The tables, in their order; format 1 had no names for them."""


@dataclass(frozen=True)
class Measured:
    """A table: a number for every row and column."""

    name: str
    """speed, parts, processor or growth."""
    title: str
    of: str
    """What the rows are."""
    rows: dict[str, dict[str, float]]
    note: str = ""

    @property
    def columns(self) -> list[str]:
        return list(next(iter(self.rows.values()), {}))

    def against(self, old: "Measured") -> "Measured":
        """Each number divided by the old one; rows and columns without an old one are left out."""
        rows = {}
        for row, numbers in self.rows.items():
            then = old.rows.get(row, {})
            rows[row] = {
                column: number / then[column]
                for column, number in numbers.items()
                if then.get(column)  # nothing can be divided by 0
            }
        kept = {row: ratios for row, ratios in rows.items() if ratios}
        return Measured(self.name, f"{self.title}: now / then", self.of, kept)


@dataclass(frozen=True)
class Bench:
    """All tables of one bench, and what they were measured with."""

    made_by: dict[str, str]
    """Versions, commit, machine."""
    seconds: float
    """How long it took."""
    tables: tuple[Measured, ...]

    @property
    def names(self) -> list[str]:
        """The tables that were measured."""
        return [table.name for table in self.tables]

    def table(self, name: str) -> Measured:
        """The table of this name."""
        return next(table for table in self.tables if table.name == name)

    def save(self, path: Path) -> None:
        write_json(path, {"format": FORMAT, **asdict(self)})

    def against(self, old: "Bench") -> list[Measured]:
        """Ratios to an earlier bench, table by table."""
        then = {table.name: table for table in old.tables}
        return [table.against(then[table.name]) for table in self.tables if table.name in then]


def read_bench(path: Path) -> Bench:
    """A bench from a file, or one line that says why it cannot be read."""
    content = read_json(path)
    version = content.pop("format", None)
    if version not in (1, FORMAT):
        raise FineError(
            f"{path} is no bench of format {FORMAT}: give a file that `fine bench --out` wrote"
        )
    try:
        return read_as(Bench, _upgrade(content) if version == 1 else content)
    except ValueError as problem:
        raise FineError(
            f"{path} is no bench ({problem}): give a file that `fine bench --out` wrote"
        ) from problem


def _upgrade(content: dict[str, Any]) -> dict[str, Any]:
    """A bench of format 1: tables without names, and settings in older words."""
    tables = content.get("tables")
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        return content
    upgraded = []
    for name, table in zip(NAMES, tables, strict=False):
        rows = table.get("rows")
        if isinstance(rows, dict):
            table = {**table, "rows": {_row(row): numbers for row, numbers in rows.items()}}
        upgraded.append({"name": name, **table})
    return {**content, "tables": upgraded}


def _row(name: str) -> str:
    setting, space, value = name.partition(" ")
    return f"{SETTING_WORDS.get(setting, setting)}{space}{value}"
