"""The tables and figures of the paper, and two of what else can be had of ours: with new puzzles, and with more time.

What differs between places of a table is the model, its settings and the task; how long and how fast they are trained is the
same for all, and so are the puzzles, but for `OURS_THROUGH`.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from fine.experiments.experiment import Experiment, arranged
from fine.experiments.paper import ENCODERS, EXTREME, FAMILIES
from fine.protocols import Training
from fine.runs import RunConfig
from fine.tasks import PRESETS, Task

COMPARED = ("relation-net", "predi-net", "hyper-net", "transformer", "esbn")
"""Models the paper compares FINE with, in its order."""

OURS: dict[str, dict[str, Any]] = {
    "wave": {"code": 1024, "slots": 4},
    "shear": {"backbone": "residual", "keys": "shared"},
    "unseen rotation": {"symmetry": "apart", "slots": 1},
    "unseen shear": {"thorough": True},
    "cifar100 translation": {"standardise": "pair"},
    "cifar100 shear": {"standardise": "pair"},
}
"""Settings of `fine` by rules, and by the pictures of the test, where others than its own did better on classes and rules of
training that were held back (docs/log.md)."""

OURS_THROUGH = {"unseen shear": 0.5}
"""Share of the puzzles that `fine` is shown through a rule of the training, where that did better in the same trials."""

UNFINISHED = ("omniglot-shear", "omniglot-wave", "cifar100-wave", "omniglot-mnist-shear")
LONGER = 3
"""Columns of `longer`, and how many times as long they are trained."""

TURNED = "turned"
OURS_TURNED: dict[str, tuple[int, dict[str, Any]]] = {"wave": (2, {"columns": 4})}
"""The last row of `longer`; how many times as long it is trained, and with which further settings, where not as the others."""

SAME, NEW = "the same", "new ones"
"""Rows of `fresh`: the puzzles of an epoch, of which there are as many either way."""

SLOTS = (0, 4, 8, 16, 32, 48, 64)
LAYERS = (0, 2, 4, 6)
"""The grid of figure-memories; the paper draws 0 to 64 slots and 0 to 6 layers, and does not name the steps."""


def by_family(name: str, source: str, columns: Sequence[str], training: Training, images: str) -> Experiment:
    """Tables 1 and 2: models × rules."""

    def configure(model: str, rules: str) -> RunConfig:
        return _config(model, Task.preset(images or source, rules=rules), training)

    title = f"{images or source}: classes never seen in training"
    return arranged(name, title, (*COMPARED, "fine-mlp", "fine-nice", "fine"), columns, configure, of=("model", "rules"))


def by_encoder(training: Training, images: str) -> Experiment:
    """Table 3: models × encoders."""

    def configure(model: str, encoder: str) -> RunConfig:
        config = _config(model, Task.preset(images or "cifar100", rules="affine"), training)
        return replace(config, settings={**config.settings, "encoder": encoder})

    rows = (*(model for model in COMPARED if model != "hyper-net"), "fine-mlp", "fine-nice", "fine")
    title = f"{images or 'cifar100'}, multi-affine: three encoders"
    return arranged("table3", title, rows, ENCODERS, configure, of=("model", "encoder"))


def extreme(training: Training, images: str) -> Experiment:
    """Table 4: models × (pictures, rules), tested on rules never seen and, in six columns, on pictures of another kind."""

    def configure(model: str, column: str) -> RunConfig:
        pictures, _, rules = column.rpartition("-")
        task = _unseen_rules(images, rules) if images else Task.preset(f"extreme-{pictures}", rules=rules)
        return _config(model, task, training)

    columns = tuple(f"{images}-{rules}" for rules in ("translation", "rotation", "shear")) if images else EXTREME
    title = "rules never seen in training, and pictures from elsewhere"
    return arranged("table4", title, (*COMPARED, "fine-nice", "fine"), columns, configure, of=("model", "pictures-rules"))


def _unseen_rules(images: str, rules: str) -> Task:
    """The extreme task over other pictures."""
    task = Task.preset(images, rules=f"{rules}:seen")
    return replace(task, test_rules=f"{rules}:unseen", train_count=PRESETS["extreme-cifar100"].train_count)


def longer(training: Training, images: str) -> Experiment:
    """Epochs × those columns of tables 1, 2 and 4 where ours is below what was hoped for it; not in the paper.

    The last row has the pictures of every puzzle turned each time they are shown, which is what makes more epochs worth it,
    and for waves a grid of 16 × 16 places, on which an epoch takes longer, so there are fewer of them.
    """

    def configure(row: str, column: str) -> RunConfig:
        pictures, _, rules = column.rpartition("-")
        preset = pictures if images or pictures in PRESETS else f"extreme-{pictures}"  # table 4 has two kinds of pictures
        task = Task.preset(preset, rules=rules)
        if row != TURNED:
            return _config("fine", task, replace(training, epochs=int(row)))
        times, settings = OURS_TURNED.get(rules, (LONGER, {}))
        config = _config("fine", task, replace(training, epochs=times * training.epochs, turned=True))
        return replace(config, settings={**config.settings, **settings})

    rows = (str(training.epochs), str(LONGER * training.epochs), TURNED)
    columns = tuple(f"{images}-{rules}" for rules in ("shear", "wave")) if images else UNFINISHED
    title = "ours, trained for longer where it had the most left to learn"
    return arranged("longer", title, rows, columns, configure, of=("epochs", "pictures-rules"))


def fresh(training: Training, images: str) -> Experiment:
    """Which puzzles an epoch shows × the columns of table 1; not in the paper."""

    def configure(puzzles: str, rules: str) -> RunConfig:
        return _config("fine", Task.preset(images or "omniglot", rules=rules), replace(training, fresh=puzzles == NEW))

    title = f"{images or 'omniglot'}: ours, shown the same puzzles in every epoch or new ones"
    return arranged("fresh", title, (SAME, NEW), (*FAMILIES, "affine"), configure, of=("puzzles", "rules"))


def memories(training: Training, images: str) -> Experiment:
    """NICE layers × slots of a memory."""

    def configure(layers: str, slots: str) -> RunConfig:
        task, settings = Task.preset(images or "cifar100", rules="affine"), {"slots": int(slots), "layers": int(layers)}
        return RunConfig(model="fine-nice", task=task, training=training, settings=settings)

    title = f"{images or 'cifar100'}, multi-affine: slots of a memory and layers of NICE"
    rows, columns = tuple(map(str, LAYERS)), tuple(map(str, SLOTS))
    return arranged("figure-memories", title, rows, columns, configure, of=("NICE layers", "slots"))


def by_size(name: str, rows: Sequence[str], sizes: Sequence[str], training: Training, images: str) -> Experiment:
    """Models × numbers of training puzzles."""

    def configure(model: str, size: str) -> RunConfig:
        task = replace(Task.preset(images or "cifar100", rules="affine"), train_count=int(size))
        return _config(model, task, for_size(training, int(size)))

    title = f"{images or 'cifar100'}, multi-affine: training puzzles"
    return arranged(name, title, rows, sizes, configure, of=("model", "training puzzles"))


def for_size(training: Training, size: int) -> Training:
    """How to train on more or fewer puzzles than 10,000.

    With a constant rate, for as many epochs, as the paper does. With one-cycle, whose length is chosen in puzzles shown: fewer
    than 10,000 are shown as often as 10,000 would be altogether, and more than 100,000 no more often than 100,000.
    """
    if training.schedule == "constant":
        return training
    shown = training.epochs * min(max(size, 10_000), 100_000)
    return replace(training, epochs=max(1, round(shown / size)))


def _config(model: str, task: Task, training: Training) -> RunConfig:
    """A run with those settings of a model for a task that are not its own defaults."""
    names = _names(model, task)
    settings = {key: value for name in names for key, value in OURS.get(name, {}).items()}
    through = max(training.through, *(OURS_THROUGH.get(name, 0) for name in names), 0)
    return RunConfig(model=model, task=task, training=replace(training, through=through), settings=settings)


def _names(model: str, task: Task) -> tuple[str, ...]:
    """What `OURS` may call a task, if the model is ours."""
    rules, pictures = task.rules.removesuffix(":seen"), task.test_images or task.images
    return (rules, f"unseen {rules}" if task.test_rules else "", f"{pictures} {rules}") if model == "fine" else ()
