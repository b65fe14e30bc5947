"""The paper's models, trained in the two ways in which its protocol can be read.

The paper trains on 10,000 puzzles for 200 epochs or more. It does not say whether an epoch shows
the same puzzles again (`paper`) or new ones over the same images (`paper-fresh`). The columns are
those of its tables 1 and 2 where that matters most.
"""

from collections.abc import Sequence

from fine.experiments.cells import Cell
from fine.experiments.experiment import Experiment, Place
from fine.experiments.paper import QUOTED
from fine.puzzles.task import Task
from fine.training.protocols import PROTOCOLS, Training
from fine.training.run import RunConfig

READINGS = {"the same puzzles": "paper", "new puzzles": "paper-fresh"}
"""What a row calls a reading -> its protocol."""
TABLES = {"omniglot": "table1", "cifar100": "table2"}
PAPER_MODELS = ("fine-nice", "fine-mlp")
PAPER_COLUMNS = (
    *("omniglot-rotation", "omniglot-reflection", "omniglot-shear", "omniglot-affine"),
    *("cifar100-rotation", "cifar100-reflection", "cifar100-black-white"),
)
OTHER_MODELS = ("esbn", "transformer", "hyper-net")
OTHER_COLUMNS = (
    *("omniglot-translation", "omniglot-rotation", "omniglot-reflection", "omniglot-affine"),
)


def readings(
    name: str, models: Sequence[str], columns: Sequence[str], _training: Training, images: str
) -> Experiment:
    """Models and readings × images and rules. How they are trained is for the rows to say."""
    if images:
        columns = tuple(dict.fromkeys(f"{images}-{column.partition('-')[2]}" for column in columns))
    rows = [f"{model}, {reading}" for model in models for reading in READINGS]
    places = tuple(_place(row, column) for column in columns for row in rows)
    title = "the paper's protocol, in two readings"
    return Experiment(name, title, "model", "images-rules", tuple(rows), tuple(columns), places)


def _place(row: str, column: str) -> Place:
    model, _, reading = row.partition(", ")
    source, _, rules = column.partition("-")
    task = Task.preset(source, rules=rules)
    config = RunConfig(model=model, task=task, training=PROTOCOLS[READINGS[reading]])
    quoted = QUOTED[TABLES[source]][model].get(rules) if source in TABLES else None
    return Place(row, column, Cell(config), quoted)
