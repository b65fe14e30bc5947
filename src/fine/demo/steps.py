"""Rules as a visitor gives them: checked, and applied one after the other in a single warp."""

import itertools
import math
from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from fine.demo.messages import Control, Step
from fine.demo.wording import PARAMETERS, in_words
from fine.errors import FineError, unknown
from fine.rules import FAMILIES, HALF, Family, Rule, pixel_points

FREE = {"translation": (-9, 9), "rotation": (0, 360), "shear": (-60, 60), "scale": (0.5, 1.25)}
"""Families whose parameters may lie anywhere between two ends: most such rules no model has seen in training."""


def rule_of(step: Step) -> Rule:
    """The rule that a step asks for."""
    if step.family not in FAMILIES:
        raise unknown("rule family", step.family, FAMILIES)
    family, parameters = FAMILIES[step.family], tuple(step.parameters)
    if len(parameters) != len(family.grid[0]):
        raise FineError(f"{family.name} has {len(family.grid[0])} parameters: got {len(parameters)}")
    if family.name in FREE:
        low, high = FREE[family.name]
        for value in parameters:
            if not low <= value <= high:
                raise FineError(f"{family.name} by {value:g} is not offered: give {low:g} to {high:g}")
    elif parameters not in family.grid:
        raise FineError(f"{family.name} {list(parameters)} is not offered: give parameters of its grid, see docs/rules.md")
    return Rule(family, parameters)


def controls_of(family: Family) -> list[Control]:
    """A slider for each parameter if every combination of their values is a rule, otherwise none."""
    values = [sorted(set(column)) for column in zip(*family.grid, strict=True)]
    if math.prod(map(len, values)) != len(family.grid) or family.name not in PARAMETERS:
        return []
    return [
        Control(name=name, values=some, texts=[text.format(value) for value in some])
        for (name, text), some in zip(PARAMETERS[family.name], values, strict=True)
    ]


def apply_rules(picture: Tensor, rules: Sequence[Rule]) -> Tensor:  # (channels, size, size), the same out
    """A picture under rules, the first one first. It is read once, however many they are, so nothing blurs twice."""
    points = pixel_points(picture.shape[-1])
    negative = torch.zeros(points.shape[:2], dtype=torch.bool)
    for rule in reversed(rules):  # a rule says where its result is read from: from the result of the rule before it
        if rule.family.negative is not None:
            negative ^= rule.family.negative(points, *rule.parameters)
        points = rule.family.source(points, *rule.parameters)
    grid = (points / HALF).to(picture.dtype)
    read = F.grid_sample(picture[None], grid[None], mode="bilinear", padding_mode="zeros", align_corners=False)[0]
    return torch.where(negative, 1 - read, read)


def in_one_sentence(rules: Sequence[Rule]) -> str:
    """What several rules do, leaving out those that do nothing."""
    told = [in_words(rule) for rule in rules if not _idle(rule)] or [in_words(rule) for rule in itertools.islice(rules, 1)]
    return ", then ".join(told)


def _idle(rule: Rule) -> bool:
    points = pixel_points(8)
    moved = (rule.family.source(points, *rule.parameters) - points).abs().max() > 1e-6
    return rule.family.negative is None and not moved
