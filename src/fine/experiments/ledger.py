"""The ledger: the result of every cell that was run, one small JSON file each, kept in git.

    ledger = Ledger(Path("results/ledger"))
    record = ledger.read("omniglot_rotation_esbn_10000x6_1a2b3c4d_seed0")

The file's name is the key of its cell, so a cell cannot be there twice, and two branches that ran
different cells merge without conflict. A file is written whole or not at all. To have a cell run
again, delete its file. records.py has what is in a file. Files of format 1 are upgraded when they
are read (upgrades.py).
"""

import functools
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from fine.errors import FineError
from fine.experiments.cells import Cell
from fine.experiments.probes import METRICS
from fine.experiments.records import Failure, Record
from fine.experiments.upgrades import upgrade_record
from fine.io.files import read_json, write_text
from fine.io.typed_json import read_as
from fine.puzzles import KINDS
from fine.rules import FAMILIES

FORMAT = 2
"""Version of the files in a ledger."""

_ROUNDING = 1e-6  # by which a share may leave 0..1

_OFTEN_EMPTY = (
    "strategy",
    "trained_encoder",
    "probe",
    "test_curve",
    "confusions",
    "details",
    "stages",
    "weights",
)  # then they are not written


@dataclass(frozen=True)
class Ledger:
    """A folder of records.

    Examples:
        >>> from pathlib import Path
        >>> from fine.experiments import Ledger, make_experiment
        >>> ledger = Ledger(Path("an-empty-ledger"))
        >>> ledger.has(make_experiment("table1").place("esbn", "rotation").cell)
        False
    """

    folder: Path = field(default=Path("results/ledger"))
    """Where the files are."""

    def path(self, key: str) -> Path:
        """The file of a cell."""
        return self.folder / f"{key}.json"

    def has(self, cell: Cell) -> bool:
        """Whether there is a result of this cell; a failure is none."""
        return isinstance(self.read(cell.key), Record)

    def read(self, key: str) -> Record | Failure | None:
        """The entry of a cell; None: it has not been run."""
        path = self.path(key)
        return _read(path) if path.exists() else None

    def group(self, cell: Cell) -> list[Record | Failure]:
        """The entries of this cell and of those that differ from it in the seed alone, by seed."""
        entries = [_read(path) for path in self.folder.glob(f"{cell.group}_seed*.json")]
        return sorted(entries, key=lambda entry: entry.seed)

    def seeds(self, cell: Cell) -> list[Record]:
        """The results among these."""
        return [entry for entry in self.group(cell) if isinstance(entry, Record)]

    def entries(self) -> list[Record | Failure]:
        """Everything in the ledger, by key."""
        return [_read(path) for path in sorted(self.folder.glob("*.json"))]

    def records(self) -> list[Record]:
        """All results, by key."""
        return [entry for entry in self.entries() if isinstance(entry, Record)]

    def failures(self) -> list[Failure]:
        """All cells that could not be finished, by key."""
        return [entry for entry in self.entries() if isinstance(entry, Failure)]

    def write(self, entry: Record | Failure) -> None:
        """Add an entry. A result replaces a failure; the first result of a cell stays."""
        if isinstance(self.read(entry.key), Record):
            return
        content = {
            name: value
            for name, value in asdict(entry).items()
            if value or name not in _OFTEN_EMPTY
        }
        write_text(self.path(entry.key), entry_text({"format": FORMAT, **content}))


def _read(path: Path) -> Record | Failure:
    """An entry; a file that is still the same is not read again."""
    state = path.stat()
    return _read_state(path, state.st_ino, state.st_size, state.st_mtime_ns)


@functools.lru_cache(maxsize=10_000)
def _read_state(path: Path, *state: int) -> Record | Failure:
    content = read_json(path)
    version = content.pop("format", None)
    if version == 1:
        content = upgrade_record(content)
    elif version != FORMAT:
        newer = isinstance(version, int) and version > FORMAT
        remedy = "install the version of fine that wrote it, or delete" if newer else "delete"
        raise FineError(
            f"{path} has format {version}, this version of fine reads format {FORMAT}: {remedy} it "
            "to run the cell again"
        )
    try:
        entry = _entry(content)
    except ValueError as problem:
        raise FineError(
            f"{path} is not a record of a cell ({problem}): delete it to run the cell again"
        ) from problem
    if entry.key != path.stem:
        raise FineError(f"{path} holds the record of {entry.key}: rename or delete it")
    return entry


def _entry(content: dict[str, Any]) -> Record | Failure:
    if "error" in content:
        return read_as(Failure, content)
    entry = read_as(Record, content)
    if entry.metric not in METRICS:
        raise ValueError(f"its metric is {entry.metric!r}, which is not known here")
    shares = dict.fromkeys(KINDS, float)
    rule = {"family": str, "rule": str, "puzzles": int, **shares}
    confusion = {"family": str, "apart": tuple[float, ...], "puzzles": int, KINDS[1]: float}
    _check_rows("by_rule", entry.by_rule, rule)
    _check_rows("confusions", entry.confusions, confusion)
    for row in entry.confusions:
        family = FAMILIES.get(row["family"])
        if family is not None and len(row["apart"]) != len(family.grid[0]):
            raise ValueError(f"a row of confusions has {len(row['apart'])} distances")
    _check_rows("stages", entry.stages, {"family": str, "accuracy": dict[str, float]})
    _check_shares(entry)
    return entry


def _check_shares(entry: Record) -> None:
    """All values, whatever their metric, and what is behind them are shares, from 0 to 1."""
    shares = {
        entry.metric: [entry.value],
        "interval": entry.interval,
        "mistakes": entry.mistakes.values(),
        "curve": [point.accuracy for point in entry.curve],
        "by_rule": [row[kind] for row in entry.by_rule for kind in KINDS],
        "confusions": [row[KINDS[1]] for row in entry.confusions],
        "stages": [share for row in entry.stages for share in row["accuracy"].values()],
    }
    for name, values in shares.items():
        for value in values:
            if not -_ROUNDING <= value <= 1 + _ROUNDING:
                raise ValueError(f"its {name} has {value:g} where 0 to 1 is expected")
    low, high = entry.interval
    if low > high:
        raise ValueError(f"its interval is from {low:g} to {high:g}")
    if entry.minutes < 0:
        raise ValueError(f"it took {entry.minutes:g} minutes")


def _check_rows(name: str, rows: tuple[dict[str, Any], ...], kinds: Mapping[str, Any]) -> None:
    for row in rows:
        for column, kind in kinds.items():
            if column not in row:
                raise ValueError(f"a row of {name} lacks {column!r}")
            read_as(kind, row[column], column)


def entry_text(content: dict[str, Any]) -> str:
    """JSON with one line for each field and each row of a list of rows, so that diffs are short."""
    lines = (f"  {json.dumps(name)}: {_value(value)}" for name, value in content.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _value(value: Any) -> str:
    rows = isinstance(value, list | tuple) and value and isinstance(value[0], dict | list | tuple)
    if not rows:
        return json.dumps(value, ensure_ascii=False)
    lines = (f"    {json.dumps(row, ensure_ascii=False)}" for row in value)
    return "[\n" + ",\n".join(lines) + "\n  ]"
