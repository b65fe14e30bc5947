"""The experiments by name.

experiment = make_experiment("table1")                   # as in the paper, with the quick protocol
experiment = make_experiment("table1", images="glyphs")  # other images: no numbers of the paper
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from fine.errors import unknown
from fine.experiments import extensions, paper_tables, same_budget
from fine.experiments.experiment import Experiment
from fine.experiments.paper import FAMILIES, SIZES
from fine.experiments.probe_tables import PROBE_TABLES
from fine.experiments.readings import (
    OTHER_COLUMNS,
    OTHER_MODELS,
    PAPER_COLUMNS,
    PAPER_MODELS,
    readings,
)
from fine.training.protocols import PROTOCOLS, Training

Make = Callable[[Training, str], Experiment]

EXPERIMENTS: dict[str, tuple[str, Make]] = {
    "table1": (
        "Omniglot: nine families, and five together",
        partial(paper_tables.by_family, "table1", "omniglot", (*FAMILIES, "affine")),
    ),
    "table4": ("rules never seen, and images of another kind", paper_tables.extreme),
    "table2": (
        "CIFAR-100: nine families",
        partial(paper_tables.by_family, "table2", "cifar100", FAMILIES),
    ),
    "table3": ("CIFAR-100, five families together: three encoders", paper_tables.by_encoder),
    "figure-memories": ("slots of a memory × NICE layers", paper_tables.memories),
    "figure-training-size": (
        "100 to 100,000 training puzzles",
        partial(
            paper_tables.by_size,
            "figure-training-size",
            ("transformer", "esbn", "fine-nice", "fine"),
            SIZES,
        ),
    ),
    "scaling": (
        "10,000 to 1,000,000 training puzzles",
        partial(
            paper_tables.by_size,
            "scaling",
            ("fine-nice", "fine-mlp", "fine"),
            ("10000", "100000", "1000000"),
        ),
    ),
    "fresh": ("ours on Omniglot, with new puzzles in every epoch", paper_tables.fresh),
    "distractors": (
        "table 4, by where the wrong rules come from",
        paper_tables.distractors,
    ),
    "readings": (
        "the paper's FINE, by two readings of its protocol",
        partial(readings, "readings", PAPER_MODELS, PAPER_COLUMNS),
    ),
    "readings-others": (
        "models it compares with, by the same two readings",
        partial(readings, "readings-others", OTHER_MODELS, OTHER_COLUMNS),
    ),
    "longer": ("ours for more epochs, where it had most left to learn", paper_tables.longer),
    **{name: (table.what, partial(table.make, name)) for name, table in PROBE_TABLES.items()},
    "strings": (
        "letter strings: new ones, longer ones, new letters, another alphabet",
        extensions.strings,
    ),
    "continual": ("nine families, one after another", extensions.continual),
    "memory": ("slots with fewer numbers", extensions.small_memories),
    "same-budget": (
        "table 1 with one training for all models, those since 2021 too",
        partial(same_budget.new_classes, "same-budget", "omniglot", (*FAMILIES, "affine")),
    ),
    "same-budget-cifar100": (
        "table 2 with one training for all models, those since 2021 too",
        partial(same_budget.new_classes, "same-budget-cifar100", "cifar100", FAMILIES),
    ),
    "same-budget-unseen": (
        "table 4 with one training for all models, those since 2021 too",
        partial(same_budget.new_rules, "same-budget-unseen"),
    ),
}
"""What each is and how it is made, in the order in which `all` runs them.

Examples:
    >>> from fine.experiments import EXPERIMENTS
    >>> EXPERIMENTS["table1"][0]
    'Omniglot: nine families, and five together'
"""


def make_experiment(
    name: str, *, training: Training = PROTOCOLS["quick"], images: str = ""
) -> Experiment:
    """An experiment by name.

    Args:
        name: One of `EXPERIMENTS`.
        training: How its models are trained; the seed is left to the cells.
        images: Another image source in the place of the paper's, without the paper's numbers.

    Examples:
        >>> from fine.experiments import make_experiment
        >>> make_experiment("table1").place("esbn", "rotation").paper
        Quoted(mean=58.6, spread=1.0, about=False)
    """
    if name not in EXPERIMENTS:
        raise unknown("experiment", name, EXPERIMENTS)
    made = EXPERIMENTS[name][1](replace(training, seed=0), images)
    if images:
        return replace(made, places=tuple(replace(place, paper=None) for place in made.places))
    return made
