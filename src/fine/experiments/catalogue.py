"""The experiments by name.

experiment = make_experiment("table1")                         # as the paper has it, trained with the quick protocol
experiment = make_experiment("table1", images="glyphs")        # over generated pictures: other tasks, so no paper numbers
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from fine.errors import unknown
from fine.experiments import beyond, tables
from fine.experiments.experiment import Experiment
from fine.experiments.functions import FUNCTIONS, TABLES
from fine.experiments.paper import FAMILIES, SIZES
from fine.protocols import PROTOCOLS, Training

Make = Callable[[Training, str], Experiment]

EXPERIMENTS: dict[str, tuple[str, Make]] = {
    "table1": (
        "Omniglot: nine families, and five together",
        partial(tables.by_family, "table1", "omniglot", (*FAMILIES, "affine")),
    ),
    "table4": ("rules never seen, and pictures of another kind", tables.extreme),
    "table2": ("CIFAR-100: nine families", partial(tables.by_family, "table2", "cifar100", FAMILIES)),
    "table3": ("CIFAR-100, five families together: three encoders", tables.by_encoder),
    "figure-memories": ("slots of a memory × NICE layers", tables.memories),
    "figure-training-size": (
        "100 to 100,000 training puzzles",
        partial(tables.by_size, "figure-training-size", ("transformer", "esbn", "fine-nice", "fine"), SIZES),
    ),
    "scaling": (
        "10,000 to 1,000,000 training puzzles",
        partial(tables.by_size, "scaling", ("fine-nice", "fine-mlp", "fine"), ("10000", "100000", "1000000")),
    ),
    "fresh": ("ours on Omniglot, with new puzzles in every epoch", tables.fresh),
    "longer": ("ours for more epochs, where it had most left to learn", tables.longer),
    **{name: (title, partial(TABLES[name], name)) for name, title in FUNCTIONS.items()},
    "strings": ("letter strings: new ones, longer ones, new letters, another alphabet", beyond.strings),
    "continual": ("nine families, one after another", beyond.continual),
    "memory": ("slots of fewer numbers", beyond.small_memories),
}
"""What each is and how it is made, in the order in which `all` runs them."""


def make_experiment(name: str, *, training: Training = PROTOCOLS["quick"], images: str = "") -> Experiment:
    """The experiment called ``name``, trained this way; ``images`` puts another image source in the place of the paper's."""
    if name not in EXPERIMENTS:
        raise unknown("experiment", name, EXPERIMENTS)
    made = EXPERIMENTS[name][1](replace(training, seed=0), images)
    if images:
        return replace(made, places=tuple(replace(place, paper=None) for place in made.places))
    return made
