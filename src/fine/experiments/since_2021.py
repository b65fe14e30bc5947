"""Models since 2021 beside ours, under one budget; not in the paper.

All of them are trained on the same tasks, with as many epochs, new puzzles in each of them, and
augmented images, so that what differs is the model.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from fine.experiments import paper_tables
from fine.experiments.experiment import Experiment, arranged
from fine.experiments.paper import FAMILIES
from fine.training.protocols import Training
from fine.training.run import RunConfig

SINCE_2021 = ("corel-net", "abstractor", "inlay", "dual-attention")
NO_SOFTMAX = "corel-net, no softmax"
"""CoRelNet as published hardly learns here, so there is a row of it as it did better on training
classes that were held back (docs/models/corel-net.md)."""
MODELS_OF_TODAY = ("transformer", *SINCE_2021, NO_SOFTMAX, "vit", "fine")
"""Rows: an older model that is known from table 1, those since, a plain baseline, and ours."""
SETTINGS: dict[str, dict[str, Any]] = {NO_SOFTMAX: {"softmax": False}}
"""Settings of rows that are not a model's defaults."""


def new_classes(name: str, training: Training, images: str) -> Experiment:
    """The columns of table 1: classes never seen in training."""
    columns = (*FAMILIES, "affine")
    table = paper_tables.by_family(name, "omniglot", columns, augmented(training), images)
    return _with_other_rows(table, f"{table.title}; models since 2021", MODELS_OF_TODAY)


def new_rules(name: str, training: Training, images: str) -> Experiment:
    """The columns of table 4: rules never seen in training, and images of another kind."""
    table = replace(paper_tables.extreme(augmented(training), images), name=name)
    return _with_other_rows(table, f"{table.title}; models since 2021", MODELS_OF_TODAY)


def augmented(training: Training) -> Training:
    """The training of every row: new puzzles in every epoch, over images that are augmented."""
    return replace(training, resample_each_epoch=True, augment_images=True)


def _with_other_rows(table: Experiment, title: str, rows: Sequence[str]) -> Experiment:
    """A table of the paper with other models, and without the paper's numbers.

    Those are of models that were trained on the same images in every epoch.
    """

    def configure(row: str, column: str) -> RunConfig:
        # Only ours has settings of its own for a column.
        like = row if row in table.rows else "transformer"
        config = table.place(like, column).cell.config
        model, _, _ = row.partition(", ")
        return replace(config, model=model, settings={**config.settings, **SETTINGS.get(row, {})})

    of = (table.row_title, table.column_title)
    return arranged(table.name, title, rows, table.columns, configure, of=of)
