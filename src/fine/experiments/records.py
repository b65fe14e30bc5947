"""What the ledger has of a cell: the record of its result, or of its failure.

record(cell, read_json(run.folder / "result.json"), curve)
failure(cell, "there is not enough memory for this")
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import UTC, datetime
from typing import Any, NamedTuple

from fine.continual import ContinualConfig
from fine.experiments.cells import Cell
from fine.io.provenance import provenance
from fine.puzzles.task import Task
from fine.training.protocols import PROTOCOLS, Training

_NOT_OF_A_PROTOCOL = (
    "epochs",
    "resample_each_epoch",
    "augment_images",
    "unaugmented",
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
    trained_encoder: bool = False
    """Whether it started from the encoder of another run."""
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
        "trained_encoder": bool(config.encoder_from),
        "probe": {} if cell.probe is None else asdict(cell.probe),
    }
