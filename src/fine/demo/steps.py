"""Rules as a visitor chooses them: sliders, steps that are checked, several rules in words."""

import math
from collections.abc import Sequence

from fine.demo.messages import Control, Step
from fine.demo.wording import PARAMETERS, in_words
from fine.errors import FineError, unknown
from fine.geometry.warp import pixel_points
from fine.inference import NamedRule
from fine.rules import Family, Rule, source_points, tested_families

FREE = {"translation": (-9, 9), "rotation": (0, 360), "shear": (-60, 60), "scale": (0.5, 1.25)}
"""Families whose parameters may have any value between two ends, also those never trained on."""


def rule_of(step: Step) -> Rule:
    """The rule that a step names."""
    families = tested_families()
    if step.family not in families:
        raise unknown("rule family", step.family, families)
    family = families[step.family]
    parameters = tuple(step.parameters)
    if len(parameters) != len(family.grid[0]):
        raise FineError(
            f"{family.name} has {len(family.grid[0])} parameters: got {len(parameters)}"
        )
    if family.name in FREE:
        low, high = FREE[family.name]
        for value in parameters:
            if not low <= value <= high:
                raise FineError(
                    f"{family.name} by {value:g} is not offered: give {low:g} to {high:g}"
                )
    elif parameters not in family.grid:
        raise FineError(
            f"{family.name} {list(parameters)} is not offered: give parameters of its grid, see "
            "docs/rules.md"
        )
    return Rule(family, parameters)


def controls_of(family: Family) -> list[Control]:
    """A slider for each parameter if every combination of values is a rule, otherwise none."""
    values = [sorted(set(column)) for column in zip(*family.grid, strict=True)]
    if math.prod(map(len, values)) != len(family.grid) or family.name not in PARAMETERS:
        return []
    return [
        Control(name=name, values=some, texts=[text.format(value) for value in some])
        for (name, text), some in zip(PARAMETERS[family.name], values, strict=True)
    ]


def in_one_sentence(rules: Sequence[Rule]) -> str:
    """Several rules in words, without those that do nothing; the first, if none does anything."""
    active = [rule for rule in rules if not _is_identity(rule)]
    return ", then ".join(in_words(rule) for rule in active or rules[:1])


def found_in_words(entry: NamedRule) -> str:
    """What a rule does that may have been found between those of a grid."""
    rounded = [
        Rule(rule.family, tuple(round(value, 2) for value in rule.parameters))
        for rule in entry.rules
    ]
    return in_one_sentence(rounded)


def _is_identity(rule: Rule) -> bool:
    if rule.family.negative is not None:
        return False
    moved = source_points(rule, 8) - pixel_points(8)
    return bool(moved.abs().max() <= 1e-6)
