"""A few puzzles of every old family among those of a new one: how a model is kept from forgetting by showing it again.

    puzzles = rehearsed(Task.preset("omniglot", rules="rotation+shear+swap"))     # swap, and 200 each of rotation and shear

A puzzle is drawn from its seed and its number, so nothing has to be stored: the old ones are drawn again as they were.
"""

from dataclasses import replace

import numpy as np

from fine.puzzles import RIGHT, WRONG, Puzzles
from fine.rules import rule_set
from fine.tasks import Task

KEPT = 200
"""Puzzles of an old family that are shown again."""


def rehearsed(task: Task, *, seed: int = 0) -> Puzzles:
    """The training puzzles of the last family of a task, and the first few of each of the others."""
    rules = rule_set(task.rules)
    *old, new = rules.families
    counts = dict.fromkeys(old, min(KEPT, task.train_count)) | {new: task.train_count}
    parts = []
    for name, count in counts.items():
        puzzles = replace(task, rules=name, train_count=count).training_puzzles(seed=seed)
        specs = puzzles.specs.copy()
        specs[:, [RIGHT, WRONG]] += rules.families[name][0]  # rules are numbered within their set
        parts.append(replace(puzzles, rules=rules, specs=specs))
    whole = [np.concatenate([getattr(part, name) for part in parts]) for name in ("specs", "attempts")]
    return replace(parts[0], specs=whole[0], attempts=whole[1])
