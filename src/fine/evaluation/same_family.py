"""The harder score of a model: on puzzles whose wrong rule is of the same family as the right one.

scores = same_family_scores(model, task)       # for the card of the model
scores["accuracy"], scores["by_rule"]
"""

from dataclasses import replace
from typing import Any

from torch import nn

from fine.evaluation.metrics import evaluate
from fine.puzzles.task import Task


def same_family_scores(model: nn.Module, task: Task, *, count: int | None = None) -> dict[str, Any]:
    """The summary of a test on the task's test puzzles, with wrong rules of the same family."""
    tested = replace(task, test_distractors="family", test_count=count or task.test_count)
    return evaluate(model, tested.test_puzzles()).summary()
