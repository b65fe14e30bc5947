"""Out-of-distribution puzzles: how to recognise them, and how to make some to test that on.

    residual_share(model, x, y)          # embeddings -> (b,): 0 explains all of y, 1 nothing of it
    images = ood_puzzles(task, RANDOM_PAIRS)
    auroc(scores_of_unknown_rules, scores_of_known_rules)

The slots of a memory span some functions and no others. If even the best of these does not take x
to y, then y was made by a rule that the model has not learned.
"""

import math
from dataclasses import replace

import torch
from torch import Tensor

from fine.errors import unknown
from fine.models.backbones import LinearBackbone
from fine.models.embedding_functions import compose_function
from fine.models.memory import FunctionalMemory
from fine.models.paper import FINE
from fine.puzzles.task import Task
from fine.rules import tested_families

RANDOM_PAIRS, NO_RIGHT_CHOICE = "random pairs", "no right choice"


def residual_share(model: FINE, x: Tensor, y: Tensor) -> Tensor:  # (b, rows, columns) twice -> (b,)
    """The share of y that the model cannot explain from x; of embeddings.

    A memory read by least squares says itself how much of y it has found in its values. With any
    other memory the composed function is applied to x.
    """
    made = _reconstruct(model, x, y)
    if made is None:
        made = compose_function(model, [x], [y])(x)
    return (made - y).square().sum((1, 2)) / y.square().sum((1, 2)).clamp(min=1e-8)


def _reconstruct(model: FINE, x: Tensor, y: Tensor) -> Tensor | None:  # (b, rows, columns)
    """What a memory read by least squares has found of y; None if the model has no such memory."""
    if not isinstance(model.backbone, LinearBackbone):
        return None
    memory = model.backbone.memories[0]
    if not isinstance(memory, FunctionalMemory) or not memory.slots:
        return None
    return memory.reconstruct(x, y) if memory.analogy == "least-squares" else None


def ood_puzzles(task: Task, kind: str) -> Tensor:  # (n, 3 + k, channels, size, size)
    """Images of test puzzles that are out of distribution for a task in one way.

    ``kind`` is a family that the task does not have; or `random pairs`, where y is taken from
    another puzzle; or `no right choice`, where the right choice is left out.
    """
    if kind not in (RANDOM_PAIRS, NO_RIGHT_CHOICE):
        families = tested_families()
        if kind not in families:
            kinds = (*families, RANDOM_PAIRS, NO_RIGHT_CHOICE)
            raise unknown("kind of out-of-distribution puzzle", kind, kinds)
        puzzles = replace(task, rules=kind, test_rules="").test_puzzles()
        return puzzles.render(range(len(puzzles))).images
    puzzles = task.test_puzzles()
    batch = puzzles.render(range(len(puzzles)))
    images = batch.images.clone()
    if kind == RANDOM_PAIRS:
        images[:, 1] = batch.images[:, 1].roll(1, dims=0)
        return images
    wrong = torch.arange(images.shape[1] - 3) != batch.answers[:, None]  # (n, k)
    choices = images[:, 3:][wrong].unflatten(0, (len(images), -1))
    return torch.cat((images[:, :3], choices), dim=1)


def auroc(high: Tensor, low: Tensor) -> float:  # (n,), (m,)
    """The probability that one of ``high`` is above one of ``low``; ties count half."""
    above = high[:, None] - low
    return float((above > 0).double().mean() + (above == 0).double().mean() / 2)


def auroc_interval(area: float, high: int, low: int) -> tuple[float, float]:
    """The 95 % interval of an AUROC from ``high`` and ``low`` samples (Hanley and McNeil, 1982)."""
    one, two = area / (2 - area), 2 * area * area / (1 + area)
    square = area * area
    variance = area * (1 - area) + (high - 1) * (one - square) + (low - 1) * (two - square)
    half = 1.959964 * math.sqrt(max(variance, 0.0) / (high * low))
    return max(0.0, area - half), min(1.0, area + half)
