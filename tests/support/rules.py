"""What tests of rules share."""

import torch
from torch import Tensor

from fine.rules import Warp, rule_set


def under(name: str, images: Tensor, *parameters: float) -> Tensor:
    """Images (1, channels, size, size) under one rule of a family."""
    rules = rule_set(name)
    wanted = tuple(map(float, parameters))
    number = [rule.parameters for rule in rules.rules].index(wanted)
    return Warp(rules, size=images.shape[-1])(images, torch.tensor([number]))
