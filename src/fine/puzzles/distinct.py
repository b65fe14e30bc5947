"""Whether the choices of a puzzle look different: on rendered images, or by a fast, exact glance.

Both compare images in grey at half resolution: on average, brightness has to differ by VISIBLE.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from fine.geometry.warp import HALF
from fine.images import Images
from fine.puzzles.spec import FIRST, OTHER, RIGHT, SECOND, WRONG
from fine.rules import RuleSet, negative_mask, source_points

VISIBLE = 0.01
"""Two images look different if their brightness (0..1) differs by this much on average."""

_CHUNK = 1024  # puzzles looked at together: small enough to stay in the cache


def all_distinct(images: Tensor) -> Tensor:  # (b, n, channels, h, w) -> bool (b,)
    """Whether no two of n rendered images look alike."""
    grey = F.avg_pool2d(images.mean(2), 2)  # (b, n, h / 2, w / 2)
    views = grey.flatten(2).unbind(1)
    pairs = itertools.combinations(views, 2)
    return _all_reach(VISIBLE, [(one - two).abs().mean(1) for one, two in pairs])


def _all_reach(threshold: float, differences: Sequence[Tensor]) -> Tensor:
    return torch.stack([difference >= threshold for difference in differences]).all(0)


class Glance:
    """Compares the choices of many puzzles by their specs, without rendering them.

    The images that occur are doubled and softened once. A glance then reads one nearest point per
    pixel, so a million puzzles take seconds. All numbers are integers or exact fractions of
    integers, so every machine draws the same puzzles.
    """

    def __init__(self, images: Images, rules: RuleSet):
        size = images.pixels.shape[-1]
        self.images = images
        points = [source_points(rule, size // 2) for rule in rules.rules]
        self.sources = torch.stack([self._nearest(some, 2 * size + 1) for some in points])
        negatives = torch.stack([negative_mask(rule, size // 2).flatten() for rule in rules.rules])
        self.negatives = negatives if negatives.any() else None
        self.threshold = math.ceil(VISIBLE * 255 * (size // 2) ** 2)

    @staticmethod
    def _soften(grey: Tensor) -> Tensor:
        """Images (n, 1, size, size) -> mean brightness around each corner of their doubled pixels.

        One more value, a 0, stands for everything outside.
        """
        doubled = F.interpolate(grey.float(), scale_factor=2, mode="bilinear", align_corners=False)
        around = F.avg_pool2d(F.pad(doubled, (2, 2, 2, 2)), 4, stride=1)  # 2·size + 1 a side
        return F.pad(around.flatten(1).floor().to(torch.uint8), (0, 1))

    @staticmethod
    def _nearest(points: Tensor, side: int) -> Tensor:
        """Source points (h, w, 2) as corner numbers (h · w,)."""
        inside = (points.abs() < HALF).all(-1)
        nudge = 1e-6  # keeps a point halfway between two corners from going either way by rounding
        corners = ((points + HALF) * ((side - 1) / (2 * HALF)) + 0.5 + nudge).floor().long()
        column, row = corners.unbind(-1)
        return torch.where(inside, row * side + column, side * side).flatten()

    def distinct(self, specs: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Whether the choices of each puzzle differ, f is not g and x'' is not x: bool (n,)."""
        shown, places = np.unique(specs[:, [SECOND, OTHER]], return_inverse=True)
        brightness = self._brightness(torch.from_numpy(shown))
        small = brightness.numel() < 2**31  # int32 is faster where it can number all corners
        sources = self.sources.int() if small else self.sources
        choices = np.concatenate((places.reshape(-1, 2), specs[:, [RIGHT, WRONG]]), axis=1)
        apart = [
            self._choices_differ(chunk, brightness, sources)
            for chunk in torch.from_numpy(choices).split(_CHUNK)
        ]
        other_image = specs[:, FIRST] != specs[:, OTHER]
        other_rule = specs[:, RIGHT] != specs[:, WRONG]
        return torch.cat(apart).numpy() & other_image & other_rule

    def _brightness(self, numbers: Tensor) -> Tensor:
        """Images of these numbers, softened, in grey."""
        parts = [
            replace(self.images, pixels=self.images.pixels[part]).with_channels(1).pixels
            for part in numbers.split(_CHUNK)
        ]
        return torch.cat([self._soften(part) for part in parts])

    def _choices_differ(self, choices: Tensor, brightness: Tensor, sources: Tensor) -> Tensor:
        images, rules = choices[:, :2].unbind(1), choices[:, 2:].unbind(1)
        views = [
            self._view(image, rule, brightness, sources) for image in images for rule in rules
        ]  # four of (b, pixels)
        pairs = itertools.combinations(views, 2)
        differences = [(one - two).abs_().sum(dim=1, dtype=torch.int32) for one, two in pairs]
        return _all_reach(self.threshold, differences)

    def _view(
        self, images: Tensor, rules: Tensor, brightness: Tensor, sources: Tensor
    ) -> Tensor:  # (b,), (b,) -> int16 (b, pixels)
        """What images show under rules, at half resolution."""
        first = images * brightness.shape[1]
        corners = first[:, None].to(sources.dtype) + sources[rules]
        read = brightness.view(-1).index_select(0, corners.flatten())
        view = read.view(len(images), -1).short()
        if self.negatives is None:
            return view
        return torch.where(self.negatives[rules], 255 - view, view)
