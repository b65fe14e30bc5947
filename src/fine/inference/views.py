"""The images of a puzzle as they are compared, and how different two images are.

    views = Views.of(puzzle)
    differences(y, made, views.counted(inside))        # 0: the same; about 1: nothing in common

Comparing needs no network: it is done pixel by pixel, on images of at most 64 × 64. A view has one
plane, its brightness, and in colour two more, its tints: rules are looked for in the brightness,
and a rule that is found must explain the tints as well.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from fine.inference.ground import as_ink, evenly_lit, find_ground
from fine.inference.puzzle_images import ReadPuzzle
from fine.inference.reading import border, luminance, resized

SIDE = 64
"""Pixels a side at which images are compared, if they have so many."""
_FEW = 1e-4  # variance of an image with nothing in it


@dataclass(frozen=True, eq=False)
class Views:
    """The images of a puzzle as they are compared: bright on black where there is paper."""

    pairs: tuple[tuple[Tensor, Tensor], ...]
    """x and y of every hint, (planes, side, side) each."""
    new: Tensor | None
    """(planes, side, side)"""
    choices: Tensor
    """(k, planes, side, side)"""
    paper: bool
    """Whether there is paper, so that what a rule uncovers is known to be 0."""

    @staticmethod
    def of(puzzle: ReadPuzzle, *, paper: bool = True) -> "Views":
        """The views of a puzzle that was read; without ``paper`` as if it had none."""
        squares = puzzle.padded()
        side = min(SIDE, max(image.shape[-1] for image in squares))
        small = [resized(image[None], side) for image in squares]
        images = torch.cat([luminance(image) for image in small])[None, :, None]
        even = evenly_lit(images)
        ground = find_ground(even[:, puzzle.plain])
        on_paper = paper and bool(ground.there)
        seen = (as_ink(even, ground) if on_paper else images)[0]  # (n, 1, side, side)
        if any(image.shape[1] == 3 for image in small):
            seen = torch.cat((seen, _tints(small, puzzle.plain)), dim=1)
        hints = 2 * puzzle.hints
        pairs = tuple((seen[n], seen[n + 1]) for n in range(0, hints, 2))
        new = seen[hints] if len(seen) > hints else None
        return Views(pairs, new, seen[hints + 1 :], on_paper)

    def counted(self, inside: Tensor) -> Tensor:
        """Pixels that count: all of them on paper, else those that come from within the image."""
        return torch.ones_like(inside) if self.paper else inside


def _tints(images: list[Tensor], plain: list[int]) -> Tensor:  # (n, 2, side, side)
    """How much redder than green and bluer than both every pixel is, beyond the paper's tint.

    The paper is seen at the borders of images to which no rule has been applied.
    """
    red, green, blue = torch.cat([image.expand(-1, 3, -1, -1) for image in images]).unbind(1)
    tints = torch.stack((red - green, blue - (red + green) / 2))  # (2, n, side, side)
    paper = border(tints[:, plain]).flatten(1).median(dim=1).values
    return (tints - paper[:, None, None, None]).transpose(0, 1)


def differences(one: Tensor, others: Tensor, shown: Tensor, *, smooth: bool = False) -> Tensor:
    """How different images (n, planes, h, w) are from one (planes, h, w), in all planes: (n,).

    Only pixels that are ``shown``, (h, w) or (n, h, w), count; the difference is 1 if they are few.
    """
    first, targets = one[None], others
    if not smooth:
        first, targets = smoothed(first), smoothed(targets)
    weight = shown.float().expand(len(targets), *one.shape[1:])[:, None]
    count = weight.sum((2, 3)).clamp(min=1)  # (n, 1)
    spread = _variance(first, weight, count) + _variance(targets, weight, count)
    errors = ((first - targets).square() * weight).sum((2, 3)) / count
    enough = count[:, 0] >= 0.1 * one[0].numel()
    return torch.where(enough, errors.sum(1) / (spread.sum(1) + _FEW), 1.0).clamp(max=2.0)


def _variance(images: Tensor, weight: Tensor, count: Tensor) -> Tensor:  # (n, planes)
    mean = (images * weight).sum((2, 3)) / count
    return (images.square() * weight).sum((2, 3)) / count - mean.square()


def smoothed(images: Tensor) -> Tensor:  # (n, planes, side, side)
    """Over a pixel: how another program interpolates does not count."""
    line = torch.tensor([0.25, 0.5, 0.25])
    kernel = (line[:, None] * line)[None, None]
    planes = F.pad(images.flatten(0, 1)[:, None], (1, 1, 1, 1), mode="replicate")
    return F.conv2d(planes, kernel).view(images.shape)
