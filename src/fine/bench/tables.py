"""A bench as tables of numbers, kept as JSON and set beside an earlier one."""

from dataclasses import asdict, dataclass
from pathlib import Path

from fine.errors import FineError
from fine.storage import read_json, write_json
from fine.typed_json import read_as

FORMAT = 1
"""Version of the file's layout."""


@dataclass(frozen=True)
class Measured:
    """A table: a number for every row and column."""

    title: str
    of: str
    """What the rows are."""
    rows: dict[str, dict[str, float]]
    note: str = ""

    @property
    def columns(self) -> list[str]:
        return list(next(iter(self.rows.values()), {}))

    def against(self, old: "Measured") -> "Measured":
        """Each number in units of what it was; rows and columns that were not measured then are left out."""
        return Measured(
            title=f"{self.title}: now / then",
            of=self.of,
            rows={
                row: {
                    column: number / old.rows[row][column]
                    for column, number in numbers.items()
                    if old.rows[row].get(column)  # a ratio to nothing says nothing
                }
                for row, numbers in self.rows.items()
                if row in old.rows
            },
        )


@dataclass(frozen=True)
class Bench:
    """All tables of one bench, and what they were measured with."""

    made_by: dict[str, str]
    """Versions, commit, machine."""
    seconds: float
    """How long it took."""
    tables: tuple[Measured, ...]

    def save(self, path: Path) -> None:
        write_json(path, {"format": FORMAT, **asdict(self)})

    def against(self, old: "Bench") -> list[Measured]:
        """Ratios to an earlier bench, table by table."""
        then = {table.title: table for table in old.tables}
        return [table.against(then[table.title]) for table in self.tables if table.title in then]


def read_bench(path: Path) -> Bench:
    """A bench that was kept, or one line that says why it cannot be read."""
    content = read_json(path)
    if content.pop("format", None) != FORMAT:
        raise FineError(f"{path} is no bench of format {FORMAT}: give a file that `fine bench --out` wrote")
    try:
        return read_as(Bench, content)
    except ValueError as problem:
        raise FineError(f"{path} is no bench ({problem}): give a file that `fine bench --out` wrote") from problem
