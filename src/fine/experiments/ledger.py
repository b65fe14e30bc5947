"""The ledger: the result of every cell that was run, one small JSON file each, kept in git.

    ledger = Ledger(Path("results/ledger"))
    record = ledger.read("omniglot_rotation_esbn_10000x6_1a2b3c4d_seed0")

The file's name is the key of its cell, so a cell cannot be there twice, and two branches that ran
different cells merge without conflict. A file is written whole or not at all. To have a cell run
again, delete its file. Files of format 1 are upgraded when they are read (upgrades.py).
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from fine.continual import ContinualConfig
from fine.errors import FineError
from fine.experiments.cells import Cell
from fine.experiments.probes import METRICS
from fine.experiments.upgrades import upgrade_record
from fine.io.files import read_json, write_text
from fine.io.provenance import provenance
from fine.io.typed_json import read_as
from fine.puzzles import KINDS
from fine.puzzles.task import Task
from fine.rules import FAMILIES
from fine.training.protocols import PROTOCOLS, Training

FORMAT = 2
"""Version of the files in a ledger."""

_ROUNDING = 1e-6  # by which a share may leave 0..1

_NOT_OF_A_PROTOCOL = (
    "epochs",
    "resample_each_epoch",
    "augment_images",
    "augment_puzzles",
    "conjugate",
    "test_epochs",
    "seed",
)


class Epoch(NamedTuple):
    """A point of a learning curve: the mean over an epoch of training."""

    loss: float
    accuracy: float


class Test(NamedTuple):
    """A point of a curve: the accuracy on the test puzzles after an epoch."""

    epoch: int
    accuracy: float


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """A cell that was run: what it was, where and when."""

    key: str
    """The key of the cell, which is also the name of the file."""
    model: str
    """Name of the model."""
    settings: dict[str, Any]
    """Settings of the model that differ from its defaults."""
    task: Task
    """What it was trained and tested on."""
    training: Training
    """How it was trained."""
    protocol: str
    """The named protocol with this batch, learning rate, schedule and clipping, or `custom`."""
    commit: str
    """The commit of this program."""
    machine: str
    """Processor and operating system."""
    versions: dict[str, str]
    """Versions of fine, torch and Python."""
    date: str
    """When it ended, in UTC, such as 2026-01-31T12:00:00Z."""
    strategy: str = ""
    """The continual learning strategy; empty: all families were learned together."""
    probe: dict[str, Any] = field(default_factory=dict)
    """What was measured of the run: name, count, options; empty: accuracy on its test puzzles."""

    @property
    def seed(self) -> int:
        """The seed of the run."""
        return self.training.seed

    @property
    def epochs(self) -> int:
        """Epochs of training."""
        return self.training.epochs

    @property
    def train_puzzles(self) -> int:
        """Training puzzles (of an epoch, if every epoch has new ones)."""
        return self.task.train_count

    @property
    def test_puzzles(self) -> int:
        """Test puzzles."""
        return self.task.test_count


@dataclass(frozen=True, kw_only=True)
class Record(Attempt):
    """The result of a cell.

    Examples:
        >>> from pathlib import Path
        >>> from fine.experiments import Ledger
        >>> for record in Ledger(Path("results/ledger")).records():
        ...     print(record.key, f"{record.value:.1%}", record.minutes)  # doctest: +SKIP
    """

    value: float
    """The result, from 0 to 1."""
    metric: str
    """What the value is, one of `METRICS`; of a run, the accuracy on its test puzzles."""
    interval: tuple[float, float]
    """The 95 % interval of the value."""
    mistakes: dict[str, float]
    """Share of the test puzzles answered with each wrong kind of choice: wrong rule, wrong object,
    both wrong."""
    by_rule: tuple[dict[str, Any], ...]
    """For every rule: family, rule, puzzles, and the share of each kind of answer."""
    curve: tuple[Epoch, ...]
    """Loss and accuracy on the training puzzles, one entry for each epoch."""
    test_curve: tuple[Test, ...] = ()
    """Accuracy on the test puzzles along the way, after `Training.test_epochs`."""
    minutes: float
    """Minutes of training, without testing."""
    confusions: tuple[dict[str, Any], ...] = ()
    """How often a wrong rule was taken, by its distance from the hidden one; older records have
    none."""
    details: tuple[dict[str, Any], ...] = ()
    """Rows of numbers behind the value of a probe, such as the points of a map."""
    stages: tuple[dict[str, Any], ...] = ()
    """In continual learning: each family, and the accuracy on every family after it was learned."""
    weights: str = ""
    """SHA-256 of the file of weights that was tested again for a submission; otherwise empty."""


@dataclass(frozen=True, kw_only=True)
class Failure(Attempt):
    """A cell that could not be finished.

    Examples:
        >>> from pathlib import Path
        >>> from fine.experiments import Ledger
        >>> [failure.error for failure in Ledger(Path("an-empty-ledger")).failures()]
        []
    """

    error: str
    """Why, in one line."""


_OFTEN_EMPTY = (
    "strategy",
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


def record(
    cell: Cell,
    result: Mapping[str, Any],
    curve: tuple[Epoch, ...],
    test_curve: tuple[Test, ...] = (),
    *,
    weights: str = "",
) -> Record:
    """The record of a cell: of a run from its result.json, of a probe from what it measured."""
    common = _common(cell, result)
    if cell.probe is not None:
        common["task"] = replace(common["task"], test_count=result["puzzles"])
    return Record(
        **common,
        value=result["accuracy" if cell.probe is None else "value"],
        metric=cell.metric,
        interval=tuple(result["interval"]),
        mistakes=result["mistakes"],
        by_rule=tuple(result["by_rule"]),
        curve=curve,
        test_curve=test_curve,
        minutes=result["minutes"],
        confusions=tuple(result.get("confusions", ())),
        details=tuple(result.get("details", ())),
        stages=tuple(result.get("stages", ())),
        weights=weights,
    )


def failure(cell: Cell, error: str) -> Failure:
    """The record of a cell that could not be finished."""
    return Failure(**_common(cell, provenance()), error=" ".join(error.split()))


def protocol_name(training: Training) -> str:
    """The protocol of a training, whatever its length and augmentation; `custom` if it has none.

    Of several, the one that draws new puzzles as this training does.
    """
    names = [name for name, named in PROTOCOLS.items() if _is_of_protocol(training, named)]
    fresh = training.resample_each_epoch
    same = [name for name in names if PROTOCOLS[name].resample_each_epoch == fresh]
    return next(iter(same + names), "custom")


def _is_of_protocol(training: Training, named: Training) -> bool:
    free = {
        field.name: getattr(named, field.name)
        for field in fields(named)
        if field.name in _NOT_OF_A_PROTOCOL
    }
    return named == replace(training, **free)


def _common(cell: Cell, made: Mapping[str, str]) -> dict[str, Any]:
    config = cell.config
    return {
        "key": cell.key,
        "model": config.model,
        "settings": cell.settings,
        "task": replace(config.task, data_root=""),
        "training": config.training,
        "protocol": protocol_name(config.training),
        "commit": made["commit"],
        "machine": made["machine"],
        "versions": {name: made[name] for name in ("fine", "torch", "python")},
        "date": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "strategy": config.strategy if isinstance(config, ContinualConfig) else "",
        "probe": {} if cell.probe is None else asdict(cell.probe),
    }


def _read(path: Path) -> Record | Failure:
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
