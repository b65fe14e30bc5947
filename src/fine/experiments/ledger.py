"""The ledger: what came of every cell that was run, one small JSON file a cell, kept in git.

    ledger = Ledger(Path("results/ledger"))
    record = ledger.read("omniglot_rotation_esbn_10000x6_1a2b3c4d_seed0")

The file's name is the key of its cell, so a cell cannot be there twice, and two branches that ran different cells merge without
conflict. A file is written whole or not at all. To have a cell run again, delete its file.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from fine.errors import FineError
from fine.experiments.cells import Cell
from fine.protocols import PROTOCOLS, Training
from fine.puzzles import KINDS
from fine.runs import provenance
from fine.storage import read_json, write_text
from fine.tasks import Task
from fine.typed_json import read_as

FORMAT = 1
"""Version of the files in a ledger."""


_NOT_OF_A_PROTOCOL = ("epochs", "fresh", "turned", "views", "through", "seed", "arrival")


class Epoch(NamedTuple):
    """A point of a learning curve: the mean over an epoch of training."""

    loss: float
    accuracy: float


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """A cell that was run: what it was, where and when."""

    key: str
    model: str
    settings: dict[str, Any]
    """Settings of the model that differ from its defaults."""
    task: Task
    training: Training
    protocol: str
    """The named protocol whose batch, rate, schedule and clipping these are, or `custom`."""
    commit: str
    machine: str
    versions: dict[str, str]
    date: str
    """When it ended, in UTC, such as 2026-01-31T12:00:00Z."""
    probe: dict[str, Any] = field(default_factory=dict)
    """What was measured of the run, if not how well it does on its own test puzzles: name, count, options."""

    @property
    def rules(self) -> str:
        return self.task.rules

    @property
    def seed(self) -> int:
        return self.training.seed

    @property
    def epochs(self) -> int:
        return self.training.epochs

    @property
    def train_puzzles(self) -> int:
        """Training puzzles (of an epoch, if every epoch has new ones)."""
        return self.task.train_count

    @property
    def test_puzzles(self) -> int:
        return self.task.test_count

    @property
    def group(self) -> str:
        """The key without the seed."""
        return self.key.rpartition("_seed")[0]


@dataclass(frozen=True, kw_only=True)
class Record(Attempt):
    """The result of a cell."""

    accuracy: float
    """Share of the test puzzles answered right; of a probe, whatever it measures."""
    interval: tuple[float, float]
    """Its 95 % interval (Wilson)."""
    mistakes: dict[str, float]
    """Share of the test puzzles answered with each wrong kind of choice: wrong rule, wrong object, both wrong."""
    by_rule: tuple[dict[str, Any], ...]
    """For every rule: family, rule, puzzles, and the share of each kind of answer."""
    curve: tuple[Epoch, ...]
    """Loss and accuracy on the training puzzles, an entry an epoch."""
    minutes: float
    """Minutes of training, without testing."""
    confusions: tuple[dict[str, Any], ...] = ()
    """How often a wrong rule was taken, by how far it was from the hidden one; older records have none."""
    details: tuple[dict[str, Any], ...] = ()
    """Rows of numbers behind the one a probe measures, such as the points of a map."""
    stages: tuple[dict[str, Any], ...] = ()
    """Where families came one after another: each of them, and the accuracy on every family after it was learnt."""


@dataclass(frozen=True, kw_only=True)
class Failure(Attempt):
    """A cell that could not be finished."""

    error: str
    """Why, in one line."""


@dataclass(frozen=True)
class Ledger:
    """A folder of records."""

    folder: Path = field(default=Path("results/ledger"))

    def path(self, key: str) -> Path:
        return self.folder / f"{key}.json"

    def has(self, cell: Cell) -> bool:
        """Whether there is a result of this cell; a failure is none."""
        return isinstance(self.read(cell.key), Record)

    def read(self, key: str) -> Record | Failure | None:
        """What is known of a cell; None: nothing."""
        path = self.path(key)
        return _read(path) if path.exists() else None

    def seeds(self, cell: Cell) -> list[Record]:
        """The results of this cell and of those that differ from it in the seed only, by seed."""
        paths = self.folder.glob(f"{cell.group}_seed*.json")
        return sorted((entry for path in paths if isinstance(entry := _read(path), Record)), key=lambda record: record.seed)

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
        """Add what came of a cell. A result takes the place of a failure; the first result of a cell stays."""
        if not isinstance(self.read(entry.key), Record):
            content = {name: value for name, value in asdict(entry).items() if value or name not in ("probe", "details")}
            write_text(self.path(entry.key), _text({"format": FORMAT, **content}))


def record(cell: Cell, result: Mapping[str, Any], curve: tuple[Epoch, ...]) -> Record:
    """The record of a cell whose run folder has this result.json."""
    common = _common(cell, result)
    if cell.probe is not None:
        common["task"] = replace(common["task"], test_count=result["puzzles"])
    return Record(
        **common,
        accuracy=result["accuracy"],
        interval=tuple(result["interval"]),
        mistakes=result["mistakes"],
        by_rule=tuple(result["by_rule"]),
        curve=curve,
        minutes=result["minutes"],
        confusions=tuple(result.get("confusions", ())),
        details=tuple(result.get("details", ())),
        stages=tuple(result.get("stages", ())),
    )


def failure(cell: Cell, error: str) -> Failure:
    """The record of a cell that could not be finished."""
    return Failure(**_common(cell, provenance()), error=" ".join(error.split()))


def protocol_name(training: Training) -> str:
    """The protocol a training follows but for its length, its views and its puzzles; `custom` if it is none of them."""
    for name, named in PROTOCOLS.items():
        own = {field.name: getattr(named, field.name) for field in fields(named) if field.name in _NOT_OF_A_PROTOCOL}
        if named == replace(training, **own):
            return name
    return "custom"


def _common(cell: Cell, made: Mapping[str, str]) -> dict[str, Any]:
    return {
        "key": cell.key,
        "model": cell.config.model,
        "settings": cell.settings,
        "task": replace(cell.config.task, data_root=""),
        "training": cell.config.training,
        "protocol": protocol_name(cell.config.training),
        "commit": made["commit"],
        "machine": made["machine"],
        "versions": {name: made[name] for name in ("fine", "torch", "python")},
        "date": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "probe": {} if cell.probe is None else asdict(cell.probe),
    }


def _read(path: Path) -> Record | Failure:
    content = read_json(path)
    version = content.pop("format", None)
    if version != FORMAT:
        newer = isinstance(version, int) and version > FORMAT
        remedy = "install the version of fine that wrote it, or delete" if newer else "delete"
        raise FineError(
            f"{path} has format {version}, this version of fine reads format {FORMAT}: {remedy} it to run the cell again"
        )
    try:
        entry: Record | Failure = read_as(Failure, content) if "error" in content else read_as(Record, content)
        if isinstance(entry, Record):
            _check_rows("by_rule", entry.by_rule, {"family": str, "rule": str, "puzzles": int, **dict.fromkeys(KINDS, float)})
            confused = {"family": str, "apart": tuple[float, ...], "puzzles": int, KINDS[1]: float}
            _check_rows("confusions", entry.confusions, confused)
            _check_rows("stages", entry.stages, {"family": str, "accuracy": dict[str, float]})
    except ValueError as problem:
        raise FineError(f"{path} is not a record of a cell ({problem}): delete it to run the cell again") from problem
    if entry.key != path.stem:
        raise FineError(f"{path} holds the record of {entry.key}: rename or delete it")
    return entry


def _check_rows(name: str, rows: tuple[dict[str, Any], ...], kinds: Mapping[str, Any]) -> None:
    for row in rows:
        for column, kind in kinds.items():
            if column not in row:
                raise ValueError(f"a row of {name} lacks {column!r}")
            read_as(kind, row[column], column)


def _text(content: dict[str, Any]) -> str:
    """JSON with a line a field, and a line for every row of a list of rows: short, and a change shows as one line."""
    return "{\n" + ",\n".join(f"  {json.dumps(name)}: {_value(value)}" for name, value in content.items()) + "\n}\n"


def _value(value: Any) -> str:
    rows = isinstance(value, list | tuple) and value and isinstance(value[0], dict | list | tuple)
    if not rows:
        return json.dumps(value, ensure_ascii=False)
    return "[\n" + ",\n".join(f"    {json.dumps(row, ensure_ascii=False)}" for row in value) + "\n  ]"
