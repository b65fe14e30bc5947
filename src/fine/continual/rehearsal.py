"""Rehearsal: a few puzzles of every old family among those of a new one, against forgetting.

    task = Task.preset("omniglot", rules="rotation+shear+swap")
    puzzles = rehearsed(task)            # swap, and 200 puzzles each of rotation and shear

A puzzle is drawn from its seed and its number, so nothing is stored: old ones are drawn again.
"""

from dataclasses import replace

import numpy as np

from fine.puzzles import RIGHT, WRONG, Puzzles
from fine.puzzles.task import Task
from fine.rules import rule_set

KEPT = 200
"""Puzzles of an old family that are shown again."""


def rehearsed(task: Task, *, seed: int = 0) -> Puzzles:
    """The training puzzles of the last family of a task, and the first few of each other family."""
    rules = rule_set(task.rules)
    *old, new = rules.families
    counts = dict.fromkeys(old, min(KEPT, task.train_count)) | {new: task.train_count}
    parts = []
    for name, count in counts.items():
        puzzles = replace(task, rules=name, train_count=count).training_puzzles(seed=seed)
        specs = puzzles.specs.copy()
        specs[:, [RIGHT, WRONG]] += rules.families[name][0]  # rules are numbered within their set
        parts.append(replace(puzzles, rules=rules, specs=specs))
    return replace(
        parts[0],
        specs=np.concatenate([part.specs for part in parts]),
        attempts=np.concatenate([part.attempts for part in parts]),
    )
