"""The paper's models, models since, and ours, all trained alike; not in the paper.

All of them have the same tasks, epochs, new puzzles in each of them, and augmentation. What
differs is the model, and the learning rate that suits it.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from fine.experiments import paper_tables
from fine.experiments.augmented import OUR_RATE, augmented
from fine.experiments.experiment import Experiment, arranged
from fine.training.protocols import Training
from fine.training.run import RunConfig

OURS: dict[str, Any] = {
    "embedding_size": 1024,
    "encoder_depth": 1,
    "slots": 4,
    "standardise": "pair",
}
"""Settings of `fine`, the same in every column: a grid of 8 × 8 places. They were chosen on
training classes that were held back and on rules that no table has (dev/trial_configuration.py)."""
NO_SOFTMAX = "corel-net, no softmax"
"""CoRelNet as published hardly learns here, so there is a row of it as it did better on training
classes that were held back (docs/models/corel-net.md)."""
SINCE_2021 = ("corel-net", NO_SOFTMAX, "abstractor", "inlay", "dual-attention")
ROWS = (*paper_tables.COMPARED, "fine-mlp", "fine-nice", *SINCE_2021, "vit", *paper_tables.OUR_ROWS)
"""The paper's models, those since, a plain baseline, and ours."""
SETTINGS: dict[str, dict[str, Any]] = {NO_SOFTMAX: {"softmax": False}, "fine": OURS}
"""Settings of rows that are not a model's defaults."""


def new_classes(
    name: str, source: str, columns: Sequence[str], training: Training, images: str
) -> Experiment:
    """The columns of table 1 or 2: classes never seen in training."""
    return _alike(paper_tables.by_family(name, source, columns, training, images))


def new_rules(name: str, training: Training, images: str) -> Experiment:
    """The columns of table 4: rules never seen in training, and images of another kind."""
    return _alike(replace(paper_tables.extreme(training, images), name=name))


def _alike(table: Experiment) -> Experiment:
    """A table with other models, all trained alike, and without the paper's numbers."""

    def configure(row: str, column: str) -> RunConfig:
        plain = table.place("transformer", column).cell.config  # has no settings of its own
        model, _, _ = row.partition(", ")
        training, settings = augmented(plain.training), SETTINGS.get(row, {})
        if row in paper_tables.OUR_ROWS:
            training = replace(training, learning_rate=OUR_RATE * training.learning_rate)
        return replace(plain, model=model, training=training, settings=settings)

    title = f"{table.title}; one budget and augmentation for all models"
    of = (table.row_title, table.column_title)
    return arranged(table.name, title, ROWS, table.columns, configure, of=of)
