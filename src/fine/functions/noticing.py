"""Is this a rule I know? What a function leaves unexplained of the very hints it was composed from.

    misfit(model, x, y)                            # (b,): 0 explains all of y, 1 no more than a blank picture would
    auroc(misfits_of_strange_rules, misfits_of_known_ones)

A memory of slots cannot say every function. If even the best one it can say does not take x to y, then y was made by something
that the model has not learned.
"""

import math
from dataclasses import replace

import torch
from torch import Tensor

from fine.errors import unknown
from fine.functions.function import Hints, compose
from fine.functions.maps import compose_map
from fine.models.backbones import LinearBackbone
from fine.models.fine import FINE
from fine.models.memory import FunctionalMemory
from fine.rules import FAMILIES
from fine.tasks import Task

RANDOM_PAIRS, NO_RIGHT_CHOICE = "random pairs", "no right choice"


@torch.no_grad()
def misfit(model: FINE, x: Hints, y: Hints) -> Tensor:  # (b,)
    """What is left unexplained of y, as a share of it, over all hints together."""
    function = compose(model, x, y)
    pairs = zip(function.goes_in, function.comes_out, strict=True)
    codes = [model.encode(torch.stack(pair, dim=1)).unbind(1) for pair in pairs]
    before, after = (torch.cat(columns, dim=2) for columns in zip(*codes, strict=True))
    return unexplained(model, before, after)


def unexplained(model: FINE, x: Tensor, y: Tensor) -> Tensor:  # codes (b, rows, columns) twice -> (b,)
    """The same on codes. A fit to the values of the memory says itself how much of y it has found; else the function does."""
    memory = model.backbone.memories[0] if isinstance(model.backbone, LinearBackbone) else None
    if isinstance(memory, FunctionalMemory) and memory.slots and memory.analogy == "fit":
        made = memory.found(x, y)
    else:
        made = compose_map(model, [x], [y])(x)
    return (made - y).square().sum((1, 2)) / y.square().sum((1, 2)).clamp(min=1e-8)


def strange_puzzles(task: Task, what: str) -> Tensor:  # (n, 3 + k, channels, size, size)
    """Test puzzles with a family that is not the task's; or whose y belongs to another puzzle; or without the right choice."""
    if what not in (RANDOM_PAIRS, NO_RIGHT_CHOICE):
        if what not in FAMILIES:
            raise unknown("strange thing", what, (*FAMILIES, RANDOM_PAIRS, NO_RIGHT_CHOICE))
        puzzles = replace(task, rules=what, test_rules="").test_puzzles()
        return puzzles.render(range(len(puzzles))).pictures
    puzzles = task.test_puzzles()
    batch = puzzles.render(range(len(puzzles)))
    pictures = batch.pictures.clone()
    if what == RANDOM_PAIRS:
        pictures[:, 1] = batch.pictures[:, 1].roll(1, dims=0)
        return pictures
    kept = torch.arange(pictures.shape[1] - 3) != batch.answers[:, None]  # (n, k)
    choices = pictures[:, 3:][kept].unflatten(0, (len(pictures), -1))
    return torch.cat((pictures[:, :3], choices), dim=1)


def auroc(high: Tensor, low: Tensor) -> float:
    """The probability that one of ``high`` is above one of ``low``."""
    above = high[:, None] - low
    return float((above > 0).double().mean() + (above == 0).double().mean() / 2)


def auroc_interval(area: float, high: int, low: int) -> tuple[float, float]:
    """Its 95 % interval for so many of each (Hanley and McNeil, 1982)."""
    one, two = area / (2 - area), 2 * area * area / (1 + area)
    variance = area * (1 - area) + (high - 1) * (one - area * area) + (low - 1) * (two - area * area)
    half = 1.959964 * math.sqrt(max(variance, 0.0) / (high * low))
    return max(0.0, area - half), min(1.0, area + half)
