"""Turns specs into images, a batch at a time, on CPU or GPU."""

import copy
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fine.geometry.d4 import D4
from fine.images import Images
from fine.images.augmentation import ImageAugmentation
from fine.puzzles.spec import FIRST, ORDER, ORDERS, OTHER, RIGHT, SECOND, WRONG, Batch
from fine.randomness import random_bits
from fine.rules import RuleSet, Warp


class Renderer:
    """Renders the specs of one set of images and rules."""

    augmentation: tuple[ImageAugmentation, NDArray[np.uint64], NDArray[np.int64]] | None = None
    """How images are augmented before any rule, random bits of each puzzle of the batch, and the
    places in the batch of those that are augmented."""

    def __init__(self, images: Images, rules: RuleSet, *, device: torch.device | str = "cpu"):
        self.device = torch.device(device)
        self.pixels = images.pixels.to(self.device)
        self.warp = Warp(rules, size=images.pixels.shape[-1], device=self.device)
        self.kinds = torch.from_numpy(ORDERS).to(self.device)

    def augmented(
        self,
        augment: ImageAugmentation,
        bits: NDArray[np.uint64],
        places: NDArray[np.int64] | None = None,
    ) -> Self:
        """The same renderer for one batch of puzzles, with 64 random bits of each (b,).

        ``places`` are those of the puzzles in the batch that are augmented, by default all. An
        image that a puzzle shows several times, such as x' in its choices, is augmented the same
        way each time.
        """
        renderer = copy.copy(self)
        places = np.arange(len(bits)) if places is None else places
        renderer.augmentation = augment, bits, places
        return renderer

    def __call__(self, specs: NDArray[np.int32]) -> Batch:
        spec = torch.from_numpy(specs).to(self.device).long()
        kinds = self.kinds[spec[:, ORDER]]  # (b, 4)
        plain = self.plain(spec[:, [FIRST, SECOND, OTHER]])  # (b, 3, channels, h, w)
        # x and x' are shown as they are; y and the four choices go through one warp.
        right, wrong = spec[:, [RIGHT]], spec[:, [WRONG]]
        rules = torch.cat((right, torch.where(kinds % 2 == 0, right, wrong)), dim=1)  # (b, 5)
        objects = torch.cat((torch.zeros_like(right), 1 + kinds // 2), dim=1)  # 0 x, 1 x', 2 x''
        places = objects + 3 * torch.arange(len(spec), device=self.device)[:, None]
        before = plain.flatten(0, 1).index_select(0, places.flatten())
        warped = self.warp(before, rules.flatten()).unflatten(0, (-1, 5))
        images = torch.cat((plain[:, :1], warped[:, :1], plain[:, 1:2], warped[:, 1:]), dim=1)
        return Batch(images, (kinds == 0).int().argmax(dim=1))

    def plain(self, numbers: Tensor) -> Tensor:  # (b, n) -> (b, n, channels, h, w)
        """Images before any rule. Whole rounds of a number are a symmetry (`augment_images`)."""
        elements, numbers = numbers // len(self.pixels), numbers % len(self.pixels)
        images = self.pixels.index_select(0, numbers.flatten())  # much faster than an index
        images = D4.move_each(images, elements.flatten()).float().div_(255)
        images = images.unflatten(0, numbers.shape)
        if self.augmentation is None:
            return images
        augment, puzzles, places = self.augmentation
        where = torch.from_numpy(places).to(images.device)
        bits = random_bits(puzzles[places, None], numbers[where].cpu().numpy())
        changed = augment(images[where].flatten(0, 1), bits.flatten())
        return images.index_copy(0, where, changed.unflatten(0, bits.shape))

    def under(self, images: Tensor, rules: Tensor) -> Tensor:  # (b, n, channels, h, w), (b, n)
        """Images, each under its own rule."""
        return self.warp(images.flatten(0, 1), rules.flatten()).view_as(images)
