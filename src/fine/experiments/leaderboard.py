"""The leaderboard: every model that was run on a table's tasks, here or by others.

    boards = leaderboard(Ledger(Path("results/ledger")).records())
    boards[0].lines[0].mean          # the best complete line of table 1, in %

A table of an experiment has the rows that its authors planned. Here every record of the ledger
counts that was trained and tested on the task of a column, with any model, settings and training,
so that a record from elsewhere (`fine submit`) appears by itself. A line has one model, trained in
one way. Settings that the table itself chose for a column are that line's own; any others make a
line of their own, so that nobody is given the best of many trials on the test.
"""

import functools
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import torch

from fine.errors import FineError
from fine.experiments.catalogue import make_experiment
from fine.experiments.experiment import Experiment, label
from fine.experiments.keys import changed_settings
from fine.experiments.records import Record
from fine.images.augmentation import PARTS
from fine.models import make_model, model_config
from fine.puzzles.task import Task
from fine.training.protocols import Training

TABLES = ("table1", "table2", "table3", "table4")
"""Experiments whose tasks have a board."""
CHANNELS = {"omniglot": 1, "mnist": 1, "glyphs": 1, "cifar100": 3}
"""Of the images of a source; of others it is not known without their files."""


@dataclass(frozen=True)
class Line:
    """One model, trained in one way, on the tasks of a table."""

    model: str
    settings: str
    """Settings that are not those of the table, such as `slots=4`; empty: none."""
    training: str
    """How it was trained, in words."""
    columns: Mapping[str, tuple[Record, ...]]
    """Column -> its records, one for each seed; without those that have none."""
    places: int
    """Columns of the board."""

    @property
    def complete(self) -> bool:
        """Whether every column has a result; other lines have no rank."""
        return len(self.columns) == self.places

    @cached_property
    def accuracy(self) -> dict[str, float]:
        """Column -> accuracy in %, the mean over seeds."""
        return {
            column: 100 * statistics.mean(record.value for record in records)
            for column, records in self.columns.items()
        }

    @property
    def mean(self) -> float:
        """Mean over the columns that there are, in %."""
        return statistics.mean(self.accuracy.values())

    @property
    def seeds(self) -> tuple[int, ...]:
        """Number of seeds in each column."""
        return tuple(len(records) for records in self.columns.values())

    @property
    def minutes(self) -> float:
        """Minutes of training of one run, the mean over all."""
        records = [record for records in self.columns.values() for record in records]
        return statistics.mean(record.minutes for record in records)

    @cached_property
    def parameters(self) -> tuple[int, ...]:
        """Trainable parameters of the models of each column, where they can be counted here."""
        counts = (_parameters(records[0]) for records in self.columns.values())
        return tuple(count for count in counts if count is not None)


@dataclass(frozen=True)
class Board:
    """All lines for the tasks of a table, the best complete one first."""

    name: str
    title: str
    columns: tuple[str, ...]
    lines: tuple[Line, ...]


def leaderboard(records: Iterable[Record], names: Sequence[str] = TABLES) -> list[Board]:
    """A board for each of these tables."""
    plain = [record for record in records if not record.probe and not record.strategy]
    return [_board(make_experiment(name), plain) for name in names]


def _board(experiment: Experiment, records: Sequence[Record]) -> Board:
    by_encoder = experiment.column_title == "encoder"
    column_of: dict[tuple[Task, str], str] = {}
    own: dict[tuple[str, str], _Own] = {}
    for place in experiment.places:
        config = place.cell.config
        own[config.model, place.column] = _Own(changed_settings(config), config.training.conjugate)
        column_of[_signature(config.task, place.column if by_encoder else "")] = place.column
    found: dict[tuple[str, str, str], dict[str, list[Record]]] = {}
    for record in records:
        encoder = _encoder(record) if by_encoder else ""
        column = column_of.get(_signature(record.task, encoder))
        if column is None:
            continue
        usual = own.get((record.model, column), _Own({"encoder": encoder} if encoder else {}, 0.0))
        settings = "" if record.settings in (usual.settings, {}) else _words(record.settings)
        training = training_words(record, conjugate=usual.conjugate)
        line = found.setdefault((record.model, settings, training), {})
        chosen = line.setdefault(column, [])
        # Where a table has settings of its own, the defaults stand for the line only without them.
        if chosen and chosen[0].settings != record.settings:
            if record.settings != usual.settings:
                continue
            chosen.clear()
        chosen.append(record)
    lines = [
        Line(model, settings, training, _in_order(experiment, columns), len(experiment.columns))
        for (model, settings, training), columns in found.items()
    ]
    lines.sort(key=lambda line: (not line.complete, -len(line.columns), -line.mean, line.model))
    return Board(experiment.name, experiment.title, experiment.columns, tuple(lines))


class _Own(NamedTuple):
    """What a table chose for a model and a column."""

    settings: dict[str, Any]
    conjugate: float


def _in_order(
    experiment: Experiment, columns: Mapping[str, Sequence[Record]]
) -> dict[str, tuple[Record, ...]]:
    named = ((column, columns[column]) for column in experiment.columns if column in columns)
    return {
        column: tuple(sorted(records, key=lambda record: record.seed)) for column, records in named
    }


def _signature(task: Task, encoder: str) -> tuple[Task, str]:
    """What makes two runs runs of one column."""
    return replace(task, data_root=""), encoder


def _encoder(record: Record) -> str:
    """The encoder of a record's model; empty if it has none.

    A model that is not known here, such as a plug-in, has p4-cnn where it names none.
    """
    try:
        return str(getattr(model_config(record.model, record.settings), "encoder", ""))
    except FineError:
        return str(record.settings.get("encoder", "p4-cnn"))


def training_words(record: Record, *, conjugate: float = 0.0) -> str:
    """How a record was trained, without the seed and the ``conjugate`` that its table chose."""
    training = record.training
    words = [record.protocol, f"{training.epochs} epochs"]
    if record.trained_encoder:
        words.append("from the encoder of another run")
    if record.protocol == "custom":
        words.append(f"batch {training.batch}, learning rate {training.learning_rate:g}")
    if training.resample_each_epoch:
        words.append("new puzzles in each")
    if training.augment_images:
        everything = training.image_parts == PARTS
        words.append(
            f"images augmented by {'all parts' if everything else training.augment_images}"
        )
        if training.unaugmented:
            words.append(f"{training.unaugmented:g} of the puzzles left as they are")
    if training.augment_puzzles != Training.augment_puzzles:
        words.append(f"puzzles augmented by {training.augment_puzzles} symmetries")
    if training.conjugate != conjugate:
        words.append(f"{training.conjugate:g} of the puzzles conjugated")
    return ", ".join(words)


def _words(settings: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in sorted(settings.items()))


def _parameters(record: Record) -> int | None:
    """Trainable parameters of a record's model; None if it cannot be made here."""
    task = record.task
    channels = task.channels or CHANNELS.get(task.images)
    if channels is None:
        return None
    settings = tuple(sorted(record.settings.items()))
    return _count(record.model, channels, task.size, settings)


@functools.lru_cache(maxsize=256)
def _count(
    model: str, channels: int, size: int, settings: tuple[tuple[str, Any], ...]
) -> int | None:
    try:
        with torch.device("meta"):  # shapes without numbers
            made = make_model(model, channels=channels, size=size, settings=dict(settings))
    except (FineError, RuntimeError, TypeError):  # a plug-in that is not installed, or needs values
        return None
    return sum(weight.numel() for weight in made.parameters() if weight.requires_grad)


def line_name(line: Line) -> str:
    """The model of a line as tables show it."""
    return label(line.model)
