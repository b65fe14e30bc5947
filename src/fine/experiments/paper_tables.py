"""The tables and figures of the paper, and two of ours: with new puzzles, and with more epochs.

The places of a table differ in the model, its settings and the task. How they are trained is the
same for all, and so are the puzzles, except for `OURS_CONJUGATED` and the row `fine-pyramid`: one
configuration of ours for all columns, with a training of its own (augmented.py).
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from fine.experiments.augmented import ours
from fine.experiments.experiment import Experiment, arranged, label
from fine.experiments.paper import ENCODERS, EXTREME, FAMILIES
from fine.puzzles.task import PRESETS, Task
from fine.training.protocols import Training
from fine.training.run import RunConfig

COMPARED = ("relation-net", "predi-net", "hyper-net", "transformer", "esbn")
"""Models the paper compares FINE with, in its order."""
OUR_ROWS = ("fine", "fine-pyramid")
"""Ours: `fine` with settings by column, and one configuration for all columns."""

OURS: dict[str, dict[str, Any]] = {
    "wave": {"embedding_size": 1024, "slots": 4},
    "shear": {"backbone": "residual", "keys": "shared"},
    "unseen rotation": {"symmetry": "two-sided", "slots": 1},
    "unseen shear": {"score_all_directions": True},
    "cifar100 translation": {"standardise": "pair"},
    "cifar100 shear": {"standardise": "pair"},
}
"""Settings of `fine` by rules, or by test images and rules, where they did better than its defaults
on training classes and rules that were held back (dev/log.md)."""

OURS_CONJUGATED = {"unseen shear": 0.5}
"""Share of the puzzles that `fine` is shown under a training rule, where that did better there."""

UNFINISHED = ("omniglot-shear", "omniglot-wave", "cifar100-wave", "omniglot-mnist-shear")
"""Columns of `longer`."""
LONGER = 3
"""How many times as long they are trained."""
AUGMENTED = "turned"
"""The last row of `longer`, with augmented images."""
OURS_AUGMENTED: dict[str, tuple[int, dict[str, Any]]] = {"wave": (2, {"columns": 4})}
"""Rules for which that row is trained another number of times as long, with further settings."""

DISTRACTED = ("esbn", "hyper-net", "fine-nice", "fine-pyramid")
SEEN_WRONG, UNSEEN_WRONG = "seen wrong rules", "unseen wrong rules"
"""Models of `distractors`, and its rows of each."""

SAME, NEW = "the same", "new ones"
"""Rows of `fresh`: the puzzles of an epoch, as many of them in both rows."""

SLOTS = (0, 4, 8, 16, 32, 48, 64)
LAYERS = (0, 2, 4, 6)
"""The grid of figure-memories. The paper draws 0 to 64 slots and 0 to 6 layers, without steps."""


def by_family(
    name: str, source: str, columns: Sequence[str], training: Training, images: str
) -> Experiment:
    """Tables 1 and 2: models × rules."""
    source = images or source

    def configure(model: str, rules: str) -> RunConfig:
        return _config(model, Task.preset(source, rules=rules), training)

    rows = (*COMPARED, "fine-mlp", "fine-nice", *OUR_ROWS)
    title = f"{label(source)}: classes never seen in training"
    return arranged(name, title, rows, columns, configure, of=("model", "rules"))


def by_encoder(training: Training, images: str) -> Experiment:
    """Table 3: models × encoders."""
    source = images or "cifar100"

    def configure(model: str, encoder: str) -> RunConfig:
        config = _config(model, Task.preset(source, rules="affine"), training)
        return replace(config, settings={**config.settings, "encoder": encoder})

    compared = (model for model in COMPARED if model != "hyper-net")
    rows = (*compared, "fine-mlp", "fine-nice", "fine")
    title = f"{label(source)}, multi-affine: three encoders"
    return arranged("table3", title, rows, ENCODERS, configure, of=("model", "encoder"))


def extreme(training: Training, images: str) -> Experiment:
    """Table 4: models × (images, rules), tested on unseen rules and, in places, other images."""

    def configure(model: str, column: str) -> RunConfig:
        source, _, rules = column.rpartition("-")
        if images:
            task = _unseen_rules(images, rules)
        else:
            task = Task.preset(f"extreme-{source}", rules=rules)
        return _config(model, task, training)

    rows = (*COMPARED, "fine-nice", *OUR_ROWS)
    columns = EXTREME
    if images:
        columns = tuple(f"{images}-{rules}" for rules in ("translation", "rotation", "shear"))
    title = "rules never seen in training, and images of another kind"
    return arranged("table4", title, rows, columns, configure, of=("model", "images-rules"))


def distractors(training: Training, images: str) -> Experiment:
    """Table 4 with wrong rules that were seen in training, and that were not; not in the paper.

    The paper does not say which it has. The rows with unseen ones are those of table 4.
    """
    table4 = extreme(training, images)

    def configure(row: str, column: str) -> RunConfig:
        model, _, split = row.partition(", ")
        config = table4.place(model, column).cell.config
        if split == UNSEEN_WRONG:
            return config
        return replace(config, task=replace(config.task, test_distractors="seen"))

    rows = [f"{model}, {split}" for model in DISTRACTED for split in (SEEN_WRONG, UNSEEN_WRONG)]
    title = "table 4, by where the wrong rules of the choices come from"
    of = ("model", "images-rules")
    return arranged("distractors", title, rows, table4.columns, configure, of=of)


def _unseen_rules(images: str, rules: str) -> Task:
    """The extreme task over other images."""
    task = Task.preset(images, rules=f"{rules}:seen")
    count = PRESETS["extreme-cifar100"].train_count
    return replace(task, test_rules=f"{rules}:unseen", train_count=count)


def longer(training: Training, images: str) -> Experiment:
    """Epochs × columns of tables 1, 2 and 4 where ours has most left to learn; not in the paper.

    The last row augments images, which makes more epochs worth it. For waves it also has a grid of
    16 × 16 places, on which an epoch takes longer, so there are fewer epochs.
    """

    def configure(row: str, column: str) -> RunConfig:
        source, _, rules = column.rpartition("-")
        # Columns of table 4 name two kinds of images.
        preset = source if images or source in PRESETS else f"extreme-{source}"
        task = Task.preset(preset, rules=rules)
        if row != AUGMENTED:
            return _config("fine", task, replace(training, epochs=int(row)))
        times, settings = OURS_AUGMENTED.get(rules, (LONGER, {}))
        augmented = replace(training, epochs=times * training.epochs, augment_images=True)
        config = _config("fine", task, augmented)
        return replace(config, settings={**config.settings, **settings})

    rows = (str(training.epochs), str(LONGER * training.epochs), AUGMENTED)
    columns = tuple(f"{images}-{rules}" for rules in ("shear", "wave")) if images else UNFINISHED
    title = "ours, trained for longer where it had the most left to learn"
    return arranged("longer", title, rows, columns, configure, of=("epochs", "images-rules"))


def fresh(training: Training, images: str) -> Experiment:
    """Which puzzles an epoch shows × the columns of table 1; not in the paper."""
    source = images or "omniglot"

    def configure(puzzles: str, rules: str) -> RunConfig:
        resampled = replace(training, resample_each_epoch=puzzles == NEW)
        return _config("fine", Task.preset(source, rules=rules), resampled)

    columns = (*FAMILIES, "affine")
    title = f"{label(source)}: ours, shown the same puzzles in every epoch or new ones"
    return arranged("fresh", title, (SAME, NEW), columns, configure, of=("puzzles", "rules"))


def memories(training: Training, images: str) -> Experiment:
    """NICE layers × slots of a memory."""
    source = images or "cifar100"

    def configure(layers: str, slots: str) -> RunConfig:
        task = Task.preset(source, rules="affine")
        settings = {"slots": int(slots), "layers": int(layers)}
        return RunConfig(model="fine-nice", task=task, training=training, settings=settings)

    title = f"{label(source)}, multi-affine: slots of a memory and layers of NICE"
    rows, columns = tuple(map(str, LAYERS)), tuple(map(str, SLOTS))
    of = ("NICE layers", "slots")
    return arranged("figure-memories", title, rows, columns, configure, of=of)


def by_size(
    name: str, rows: Sequence[str], sizes: Sequence[str], training: Training, images: str
) -> Experiment:
    """Models × numbers of training puzzles."""
    source = images or "cifar100"

    def configure(model: str, size: str) -> RunConfig:
        task = replace(Task.preset(source, rules="affine"), train_count=int(size))
        return _config(model, task, for_size(training, int(size)))

    title = f"{label(source)}, multi-affine: training puzzles"
    return arranged(name, title, rows, sizes, configure, of=("model", "training puzzles"))


def for_size(training: Training, size: int) -> Training:
    """How to train on more or fewer puzzles than 10,000.

    With a constant learning rate: for as many epochs, as the paper does. With one-cycle, whose
    length is chosen in puzzles shown: fewer than 10,000 are shown as often as 10,000 would be
    altogether, and more than 100,000 no more often than 100,000.
    """
    if training.schedule == "constant":
        return training
    shown = training.epochs * min(max(size, 10_000), 100_000)
    return replace(training, epochs=max(1, round(shown / size)))


def _config(model: str, task: Task, training: Training) -> RunConfig:
    """A run with the settings that `OURS` has for a task, or that of `fine-pyramid`."""
    if model == "fine-pyramid":
        return RunConfig(model=model, task=task, training=ours(training, task))
    names = _names(model, task)
    settings = {key: value for name in names for key, value in OURS.get(name, {}).items()}
    shares = (OURS_CONJUGATED.get(name, 0) for name in names)
    training = replace(training, conjugate=max(training.conjugate, *shares, 0))
    return RunConfig(model=model, task=task, training=training, settings=settings)


def _names(model: str, task: Task) -> tuple[str, ...]:
    """What `OURS` may call a task, if the model is ours."""
    if model != "fine":
        return ()
    rules, source = task.rules.removesuffix(":seen"), task.test_images or task.images
    return rules, f"unseen {rules}" if task.test_rules else "", f"{source} {rules}"
