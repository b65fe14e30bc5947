"""Experiments the paper does not have: strings, continual learning, smaller memories."""

from dataclasses import replace
from typing import Any

from fine.continual import ContinualConfig
from fine.continual.config import GROWING
from fine.experiments.experiment import Experiment, arranged, label
from fine.models.string_encoder import STRING_SETTINGS
from fine.puzzles.task import Task
from fine.training.protocols import PROTOCOLS, Training
from fine.training.run import RunConfig

JOINT = "joint"
SCHEMES = (JOINT, "anchor", "anchor after patchwork", "plain", "grow", "rehearsal")
"""Rows of `continual`: all nine families together, or one after another by a strategy."""

SLOT_FORMS: dict[str, dict[str, Any]] = {
    "full": {},
    **{f"rank-{rank}": {"slot_form": f"rank-{rank}"} for rank in (8, 4, 2, 1)},
    "kronecker": {"slot_form": "kronecker"},
    "one for two layers": {"backbone": "residual", "keys": "shared"},
}
"""Rows of `memory`: how slots are stored."""

GRIDS: dict[str, dict[str, Any]] = {
    "16 rows": {},
    "64 rows": {"embedding_size": 1024, "slots": 4},
}
"""Columns of `memory`: rows of an embedding. A slot has as many numbers as their square."""


def strings(training: Training, images: str) -> Experiment:
    """Models × tests on strings; there are no images in it for ``images`` to replace."""
    quick = replace(training, epochs=PROTOCOLS["quick"].epochs) == PROTOCOLS["quick"]
    training = replace(PROTOCOLS["strings"], epochs=training.epochs) if quick else training

    def configure(model: str, column: str) -> RunConfig:
        task = Task.preset(column, rules="all")
        settings = STRING_SETTINGS if model == "fine" else {}
        return RunConfig(model=model, task=task, training=training, settings=settings)

    rows = ("transformer", "fine")
    columns = ("strings", "strings-longer", "strings-letters", "strings-permuted")
    title = "letter strings, eleven families together: four tests of what is new"
    return arranged("strings", title, rows, columns, configure, of=("model", "test"))


def continual(training: Training, images: str) -> Experiment:
    """How nine families are learned × images."""

    def configure(row: str, source: str) -> RunConfig:
        strategy, _, pretraining = row.partition(" after ")
        preset = Task.preset(source, rules="all")
        task = replace(preset, train_count=20_000, test_count=4_500)
        if pretraining:
            task = replace(task, rules=f"{pretraining}+all", test_rules="all")
        # Photographs that are moved and sheared are best standardised by pair.
        standardise = {"standardise": "pair"} if source == "cifar100" else {}
        # Sixteen slots are what all families need together, eight what each needs alone.
        settings = {"slots": 16, **standardise}
        if strategy == JOINT:
            return RunConfig(task=task, training=training, settings=settings)
        model = "fine"
        if strategy in GROWING:
            model, settings = "fine-grouped", {"slots": 72, "groups": 9, **standardise}
        return ContinualConfig(
            model=model, task=task, training=training, settings=settings, strategy=strategy
        )

    columns = (images,) if images else ("omniglot", "cifar100")
    title = "nine families, one after another, tested on all of them at the end"
    return arranged("continual", title, SCHEMES, columns, configure, of=("strategy", "images"))


def small_memories(training: Training, images: str) -> Experiment:
    """Forms of slots × their size."""
    source = images or "omniglot"
    shorter = replace(training, epochs=max(1, training.epochs * 2 // 3))

    def configure(form: str, grid: str) -> RunConfig:
        preset = Task.preset(source, rules="affine")
        task = replace(preset, train_count=5_000, test_count=5_000)
        settings = {**GRIDS[grid], **SLOT_FORMS[form]}
        return RunConfig(task=task, training=shorter, settings=settings)

    rows, columns = tuple(SLOT_FORMS), tuple(GRIDS)
    title = f"{label(source)}, multi-affine: slots with fewer numbers"
    return arranged("memory", title, rows, columns, configure, of=("slots", "embedding"))
