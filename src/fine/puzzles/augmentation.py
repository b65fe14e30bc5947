"""Augmentation of training puzzles: single images moved, or a whole puzzle moved or warped.

A puzzle stays a puzzle. An image moved by a symmetry of the square is an image. And if y = f(x),
then moving or warping all seven images by g gives a puzzle about the conjugated rule g f g⁻¹.
"""

import numpy as np
import torch
from numpy.typing import NDArray

from fine.geometry.d4 import D4
from fine.puzzles.puzzles import Puzzles
from fine.puzzles.spec import FIRST, OTHER, SECOND, Batch
from fine.rules import Warp

DRAWN = np.array([0, 1, 2, 3, 4, 7, 6, 5])
"""The element of D4 that each drawn number stands for. The order keeps results of earlier runs
reproducible: they were drawn when mirrors came after rotations."""


def augment_images(
    puzzles: Puzzles, numbers: NDArray[np.int64], draws: NDArray[np.int64]
) -> NDArray[np.int32]:
    """Specs of the puzzles ``numbers``, with x, x' and x'' each moved by its own symmetry.

    ``draws`` (b, 3) are numbers from 0 to 7. A spec stores the element in the image number, as
    whole rounds through all images.
    """
    specs = puzzles.specs[numbers]
    rounds = len(puzzles.images.pixels) * DRAWN[draws]
    specs[:, [FIRST, SECOND, OTHER]] += rounds.astype(np.int32)
    return specs


def augment_puzzles(batch: Batch, draws: NDArray[np.int64]) -> Batch:
    """Puzzles moved by a symmetry of the square each, all seven images of a puzzle by the same."""
    elements = torch.from_numpy(DRAWN[draws]).to(batch.images.device)
    return batch._replace(images=D4.move_each(batch.images, elements))


def conjugate(batch: Batch, warp: Warp, rules: NDArray[np.int64]) -> Batch:
    """Puzzles under a rule each, all seven images of a puzzle under the same; −1 changes nothing.

    Where rules commute, the conjugated rule g f g⁻¹ is f itself.
    """
    some = torch.from_numpy(np.flatnonzero(rules >= 0)).to(batch.images.device)
    each = torch.from_numpy(rules).to(some.device)[some].repeat_interleave(batch.images.shape[1])
    images = batch.images.clone()
    warped = warp(images[some].flatten(0, 1), each)
    images[some] = warped.unflatten(0, (-1, batch.images.shape[1]))
    return batch._replace(images=images)
