"""Experiments the paper does not have: letter strings, rules that arrive one after another, slots of fewer numbers."""

from dataclasses import replace
from typing import Any

from fine.experiments.experiment import Experiment, arranged
from fine.protocols import PROTOCOLS, Training
from fine.runs import RunConfig
from fine.strings import SETTINGS as STRING_SETTINGS
from fine.tasks import Task

ARRIVING = ("joint", "anchor", "anchor after patchwork", "plain", "grow", "rehearsal")
"""Rows of `continual`: how nine families are learnt, all together first."""

SLOT_FORMS: dict[str, dict[str, Any]] = {
    "full": {},
    **{f"rank-{rank}": {"slot_form": f"rank-{rank}"} for rank in (8, 4, 2, 1)},
    "kronecker": {"slot_form": "kronecker"},
    "one for two layers": {"backbone": "residual", "keys": "shared"},
}
"""Rows of `memory`: how slots are stored."""

GRIDS: dict[str, dict[str, Any]] = {"16 rows": {}, "64 rows": {"code": 1024, "slots": 4}}
"""Columns of `memory`: places in a code, hence the size of a slot; with 64 rows a slot has 4,096 numbers."""


def strings(training: Training, images: str) -> Experiment:
    """Models × tests on strings; those over pictures have no place here, so ``images`` changes nothing."""

    quick = replace(training, epochs=PROTOCOLS["quick"].epochs) == PROTOCOLS["quick"]
    training = replace(PROTOCOLS["strings"], epochs=training.epochs) if quick else training

    def configure(model: str, column: str) -> RunConfig:
        settings = STRING_SETTINGS if model == "fine" else {}
        return RunConfig(model=model, task=Task.preset(column, rules="all"), training=training, settings=settings)

    columns = ("strings", "strings-longer", "strings-letters", "strings-permuted")
    title = "letter strings, eleven families together: four tests of what is new"
    return arranged("strings", title, ("transformer", "fine"), columns, configure, of=("model", "test"))


def continual(training: Training, images: str) -> Experiment:
    """How nine families are learnt × pictures."""

    def configure(row: str, pictures: str) -> RunConfig:
        arrival, _, first = row.partition(" after ")
        task = replace(Task.preset(pictures, rules="all"), train_count=20_000, test_count=4_500)
        if first:
            task = replace(task, rules=f"{first}+all", test_rules="all")
        # As many slots as a family needs by itself, for each of them; and as many as all of them need together.
        settings: dict[str, Any] = {"slots": 72, "groups": 9} if arrival in ("anchor", "grow") else {"slots": 16}
        if pictures == "cifar100":
            settings["standardise"] = "pair"  # what is best for photographs that are moved and sheared
        how = replace(training, arrival="" if arrival == "joint" else arrival)
        return RunConfig(model="fine", task=task, training=how, settings=settings)

    columns = (images,) if images else ("omniglot", "cifar100")
    title = "nine families, one after another, tested on all of them at the end"
    return arranged("continual", title, ARRIVING, columns, configure, of=("arrival", "pictures"))


def small_memories(training: Training, images: str) -> Experiment:
    """Forms of slots × their size."""

    def configure(form: str, grid: str) -> RunConfig:
        task = replace(Task.preset(images or "omniglot", rules="affine"), train_count=5_000, test_count=5_000)
        how = replace(training, epochs=max(1, training.epochs * 2 // 3))
        return RunConfig(model="fine", task=task, training=how, settings={**GRIDS[grid], **SLOT_FORMS[form]})

    title = f"{images or 'omniglot'}, multi-affine: slots of fewer numbers"
    return arranged("memory", title, tuple(SLOT_FORMS), tuple(GRIDS), configure, of=("slots", "code"))
