"""Benchmarks in the ledger: a record for each model and concept, one small JSON file each.

    ledger = BenchmarkLedger(Path("results/ledger/benchmarks"))
    for record in ledger.records():
        print(record.benchmark, record.concept, record.model, f"{record.accuracy:.1%}")

The folder lies inside that of the cells. A file's name is its record's key, which has the digest of
the weights in it: another model has another key. The answers also depend on the program, so a
benchmark that is run again replaces its records, and git keeps those of before.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fine.benchmarks import BenchmarkRow
from fine.errors import FineError
from fine.experiments.ledger import entry_text
from fine.io.files import read_json, write_text
from fine.io.provenance import provenance
from fine.io.typed_json import read_as
from fine.training.run import Run

FORMAT = 1
"""Version of these files."""
FOLDER = "benchmarks"
"""Where they are, in the folder of the ledger."""
_ROUNDING = 1e-6


@dataclass(frozen=True, kw_only=True)
class BenchmarkRecord:
    """What a model reached on a concept of a benchmark."""

    key: str
    """The name of the file."""
    benchmark: str
    """kiva, folder or arc."""
    data: str
    """What the folder of its puzzles is called: KiVA, or KiVA-adults, which is harder."""
    concept: str
    """What the puzzles test; `all` if the benchmark does not say."""
    model: str
    """Name of the model."""
    weights: str
    """SHA-256 of its weights."""
    puzzles: int
    right: int
    """Puzzles answered right, by the network and with rules checked on the pixels."""
    right_alone: int
    """By the network alone."""
    verified: int
    """Puzzles in which a rule explained the hint and made exactly one choice."""
    chance: float
    """The share that a guess gets right."""
    interval: tuple[float, float]
    """The 95 % interval of the share answered right (Wilson)."""
    parameters: tuple[dict[str, Any], ...] = ()
    """The same counts for each parameter of the concept, if it has several."""
    run: dict[str, Any] = field(default_factory=dict)
    """How the model was trained, if it is that of a run folder: model, settings, task, training,
    minutes."""
    commit: str
    """The commit of this program."""
    machine: str
    versions: dict[str, str]
    date: str
    """When it ended, in UTC."""

    @property
    def accuracy(self) -> float:
        return self.right / self.puzzles

    @property
    def accuracy_alone(self) -> float:
        return self.right_alone / self.puzzles


@dataclass(frozen=True)
class BenchmarkLedger:
    """A folder of records."""

    folder: Path

    def path(self, key: str) -> Path:
        """The file of a record."""
        return self.folder / f"{key}.json"

    def records(self) -> list[BenchmarkRecord]:
        """All records, by key."""
        return [_read(path) for path in sorted(self.folder.glob("*.json"))]

    def write(self, record: BenchmarkRecord) -> None:
        """Add a record, in place of an earlier one with this key."""
        write_text(self.path(record.key), entry_text({"format": FORMAT, **asdict(record)}))


def benchmark_records(
    rows: Sequence[BenchmarkRow],
    *,
    benchmark: str,
    data: str,
    model: str,
    weights: str,
    run: Mapping[str, Any] | None = None,
) -> list[BenchmarkRecord]:
    """The records of a benchmark that was run, from its rows: one for each concept."""
    made = provenance()
    about = {"benchmark": benchmark, "data": data, "model": model, "weights": weights}
    common: dict[str, Any] = {
        **about,
        "run": dict(run or {}),
        "commit": made["commit"],
        "machine": made["machine"],
        "versions": {name: made[name] for name in ("fine", "torch", "python")},
        "date": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    concepts = {row.concept: row for row in rows if not row.parameter}
    if len(concepts) > 1:
        concepts.pop("all", None)  # the sum of the others
    return [
        BenchmarkRecord(
            **common,
            key=benchmark_key(concept=concept or "all", **about),
            concept=concept or "all",
            interval=row.interval,
            parameters=tuple(
                {"parameter": inner.parameter, **_counts(inner)}
                for inner in rows
                if inner.concept == concept and inner.parameter
            ),
            **_counts(row),
        )
        for concept, row in concepts.items()
    ]


def training_of(run: Run) -> dict[str, Any]:
    """How the model of a run folder was trained, without paths of this machine."""
    config = run.config()
    return {
        "model": config.model,
        "settings": dict(config.settings),
        "task": config.task.shared(),
        "training": asdict(config.training),
        "minutes": read_json(run.folder / "result.json")["minutes"],
    }


def benchmark_key(*, benchmark: str, data: str, concept: str, model: str, weights: str) -> str:
    """kiva_kiva_2drotation_universal_1a2b3c4d: all that a record is about, and its digest."""
    names = (benchmark, data, concept, model)
    digest = hashlib.sha256("\n".join((*names, weights)).encode()).hexdigest()[:8]
    words = (re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40] for name in names)
    return "_".join((*words, digest))


def _counts(row: BenchmarkRow) -> dict[str, Any]:
    names = ("puzzles", "right", "right_alone", "verified", "chance")
    return {name: getattr(row, name) for name in names}


def _read(path: Path) -> BenchmarkRecord:
    content = read_json(path)
    version = content.pop("format", None)
    try:
        if version != FORMAT:
            raise ValueError(f"its format is {version}, this version of fine reads {FORMAT}")
        record = read_as(BenchmarkRecord, content)
        _check(record)
    except ValueError as problem:
        raise FineError(
            f"{path} is not a record of a benchmark ({problem}): delete it, and run the benchmark "
            "again"
        ) from problem
    if record.key != path.stem:
        raise FineError(f"{path} holds the record of {record.key}: rename or delete it")
    return record


def _check(record: BenchmarkRecord) -> None:
    for name in ("right", "right_alone", "verified"):
        if not 0 <= getattr(record, name) <= record.puzzles:
            raise ValueError(f"{name} is {getattr(record, name)} of {record.puzzles} puzzles")
    if record.puzzles < 1:
        raise ValueError("it has no puzzles")
    low, high = record.interval
    if not low - _ROUNDING <= record.accuracy <= high + _ROUNDING:
        raise ValueError(f"its interval is from {low:g} to {high:g}")
    if not 0 <= record.chance <= 1:
        raise ValueError(f"its chance is {record.chance:g} where 0 to 1 is expected")
