"""The images of a puzzle as they are compared, and how different two images are.

    views = Views.of(puzzle)
    differences(y, made, views.counted(inside))        # 0: the same; about 1: nothing in common

Comparing needs no network: it is done pixel by pixel, on grey images of at most 64 × 64.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from fine.inference.ground import as_ink, evenly_lit, find_ground
from fine.inference.puzzle_images import ReadPuzzle
from fine.inference.reading import luminance, resized

SIDE = 64
"""Pixels a side at which images are compared, if they have so many."""
_FEW = 1e-4  # variance of an image with nothing in it


@dataclass(frozen=True, eq=False)
class Views:
    """The images of a puzzle as they are compared: grey, bright on black where there is paper."""

    pairs: tuple[tuple[Tensor, Tensor], ...]
    """x and y of every hint, (side, side) each."""
    new: Tensor | None
    choices: Tensor
    """(k, side, side)"""
    paper: bool
    """Whether there is paper, so that what a rule uncovers is known to be 0."""

    @staticmethod
    def of(puzzle: ReadPuzzle, *, paper: bool = True) -> "Views":
        """The views of a puzzle that was read; without ``paper`` as if it had none."""
        squares = puzzle.padded()
        side = min(SIDE, max(image.shape[-1] for image in squares))
        grey = [luminance(resized(image[None], side)) for image in squares]
        images = torch.cat(grey)[None, :, None]  # (1, n, 1, side, side)
        even = evenly_lit(images)
        ground = find_ground(even[:, puzzle.plain])
        on_paper = paper and bool(ground.there)
        seen = (as_ink(even, ground) if on_paper else images)[0, :, 0]
        hints = 2 * puzzle.hints
        pairs = tuple((seen[n], seen[n + 1]) for n in range(0, hints, 2))
        new = seen[hints] if len(seen) > hints else None
        return Views(pairs, new, seen[hints + 1 :], on_paper)

    def counted(self, inside: Tensor) -> Tensor:
        """Pixels that count: all of them on paper, else those that come from within the image."""
        return torch.ones_like(inside) if self.paper else inside


def differences(one: Tensor, others: Tensor, shown: Tensor, *, smooth: bool = False) -> Tensor:
    """How different images are from one, (n,), over the pixels that are shown; 1 if few are."""
    first, targets = one[None], others
    if not smooth:
        first, targets = smoothed(first), smoothed(targets)
    weight = shown.float().expand_as(targets)
    count = weight.sum((1, 2)).clamp(min=1)
    spread = _variance(first.expand_as(targets), weight, count) + _variance(targets, weight, count)
    errors = ((first - targets).square() * weight).sum((1, 2)) / count
    enough = count >= 0.1 * one.numel()
    return torch.where(enough, errors / (spread + _FEW), 1.0).clamp(max=2.0)


def _variance(images: Tensor, weight: Tensor, count: Tensor) -> Tensor:  # (n,)
    mean = (images * weight).sum((1, 2)) / count
    return (images.square() * weight).sum((1, 2)) / count - mean.square()


def smoothed(images: Tensor) -> Tensor:  # (n, side, side)
    """Over a pixel: how another program interpolates does not count."""
    line = torch.tensor([0.25, 0.5, 0.25])
    kernel = (line[:, None] * line)[None, None]
    return F.conv2d(F.pad(images[:, None], (1, 1, 1, 1), mode="replicate"), kernel)[:, 0]
