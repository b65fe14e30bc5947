"""Turns specs into images, a batch at a time, on CPU or GPU."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fine.geometry.d4 import D4
from fine.images import Images
from fine.puzzles.spec import FIRST, ORDER, ORDERS, OTHER, RIGHT, SECOND, WRONG, Batch
from fine.rules import RuleSet, Warp


class Renderer:
    """Renders the specs of one set of images and rules."""

    def __init__(self, images: Images, rules: RuleSet, *, device: torch.device | str = "cpu"):
        self.device = torch.device(device)
        self.pixels = images.pixels.to(self.device)
        self.warp = Warp(rules, size=images.pixels.shape[-1], device=self.device)
        self.kinds = torch.from_numpy(ORDERS).to(self.device)

    def __call__(self, specs: NDArray[np.int32]) -> Batch:
        spec = torch.from_numpy(specs).to(self.device).long()
        kinds = self.kinds[spec[:, ORDER]]  # (b, 4)
        objects = torch.where(kinds < 2, spec[:, SECOND, None], spec[:, OTHER, None])
        rules = torch.where(kinds % 2 == 0, spec[:, RIGHT, None], spec[:, WRONG, None])
        # x and x' are shown as they are; y and the four choices go through one warp.
        objects = torch.cat((spec[:, [FIRST, SECOND]], spec[:, [FIRST]], objects), dim=1)  # (b, 7)
        rules = torch.cat((spec[:, [RIGHT]], rules), dim=1)  # (b, 5)
        plain = self.plain(objects)  # (b, 7, channels, h, w)
        warped = self.under(plain[:, 2:], rules)
        images = torch.cat((plain[:, :1], warped[:, :1], plain[:, 1:2], warped[:, 1:]), dim=1)
        return Batch(images, (kinds == 0).int().argmax(dim=1))

    def plain(self, numbers: Tensor) -> Tensor:  # (b, n) -> (b, n, channels, h, w)
        """Images before any rule. Whole rounds of a number are a symmetry (`augment_images`)."""
        elements = numbers // len(self.pixels)
        images = self.pixels[numbers % len(self.pixels)]
        return D4.move_each(images, elements).float().div_(255)

    def under(self, images: Tensor, rules: Tensor) -> Tensor:  # (b, n, channels, h, w), (b, n)
        """Images, each under a rule of its own."""
        return self.warp(images.flatten(0, 1), rules.flatten()).view_as(images)
