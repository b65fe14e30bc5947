"""Rules applied to images: a batch under any mixture of rules, or one image at its own resolution.

warp = Warp(rule_set("rotation"), size=32)
y = warp(x, torch.tensor([3]))           # x (1, channels, 32, 32) under the fourth rule, 45°
apply_rules(photo, [rule, other])        # (channels, side, side) under one rule, then another
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from fine.geometry.warp import pixel_points, sampling_grid, warp
from fine.rules.families import Rule, RuleSet


def source_points(rule: Rule, size: int) -> Tensor:
    """Where each pixel of the result is read from under ``rule``: (size, size, 2)."""
    return rule.family.source(pixel_points(size), *rule.parameters)


def negative_mask(rule: Rule, size: int) -> Tensor:
    """The pixels of the result whose brightness the rule inverts: bool (size, size)."""
    if rule.family.negative is None:
        return torch.zeros(size, size, dtype=torch.bool)
    return rule.family.negative(pixel_points(size), *rule.parameters)


class Warp:
    """Applies the rules of a set to a batch of images, any mixture of rules at once."""

    def __init__(self, rules: RuleSet, *, size: int, device: torch.device | str = "cpu"):
        points = torch.stack([source_points(rule, size) for rule in rules.rules])
        negatives = torch.stack([negative_mask(rule, size) for rule in rules.rules])
        self.grids = sampling_grid(points).to(device)  # (r, h, w, 2)
        self.negatives = negatives[:, None].to(device) if negatives.any() else None  # (r, 1, h, w)

    def __call__(self, images: Tensor, rules: Tensor) -> Tensor:
        """Images (b, channels, h, w) in 0..1 and a rule number each (b,) -> transformed images."""
        result = warp(images, self.grids.index_select(0, rules))
        if self.negatives is None:
            return result
        return torch.where(self.negatives.index_select(0, rules), 1 - result, result)


def apply_rules(
    image: Tensor, rules: Sequence[Rule], *, background: Tensor | None = None
) -> Tensor:  # (channels, side, side), same
    """An image under rules, the first one first.

    It is read once, however many rules there are, so nothing is blurred twice. What a rule
    uncovers has the colour ``background`` (channels,), or is black.
    """
    points = pixel_points(image.shape[-1])
    negative = torch.zeros(points.shape[:2], dtype=torch.bool)
    for rule in reversed(rules):  # a rule reads from the result of the rule before it
        if rule.family.negative is not None:
            negative ^= rule.family.negative(points, *rule.parameters)
        points = rule.family.source(points, *rule.parameters)
    ground = torch.zeros(len(image)) if background is None else background
    ground = ground[:, None, None]
    read = warp((image - ground)[None], sampling_grid(points)[None])[0] + ground
    return torch.where(negative, 1 - read, read)
