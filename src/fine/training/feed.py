"""The training puzzles of an epoch as a model sees them: rendered, and augmented at random.

feed = Feed(puzzles, training, epoch=3, device=torch.device("cpu"))
batch = feed(numbers)                # the puzzles with these numbers, as epoch 3 shows them
"""

import numpy as np
import torch
from numpy.typing import NDArray

from fine.images.augmentation import TURNS, ImageAugmentation
from fine.puzzles import Batch, Puzzles
from fine.puzzles.augmentation import DRAWN, augment_images, augment_puzzles, conjugate
from fine.randomness import random_below, random_bits, random_uniform
from fine.training.protocols import Training

# Addresses of random numbers. Those of splits and puzzles are in puzzles/task.py.
_PUZZLE_SYMMETRY, _CONJUGATED, _CONJUGATING_RULE, _IMAGE_SYMMETRY = 5, 7, 8, 9
_IMAGE_PARTS, _AUGMENTED = 10, 11

Integers = NDArray[np.int64]


class Feed:
    """Numbers of puzzles -> batches, the same for the same seed and epoch."""

    def __init__(self, puzzles: Puzzles, training: Training, epoch: int, device: torch.device):
        self.puzzles, self.training, self.epoch = puzzles, training, epoch
        self.render = puzzles.renderer(device)
        self.augment = ImageAugmentation(training.image_parts)

    def __call__(self, numbers: Integers) -> Batch:
        augmented = self._augmented(numbers)
        render = self.render
        if self.augment:
            bits = random_bits(*self._address(_IMAGE_PARTS), numbers)
            render = render.augmented(self.augment, bits, np.flatnonzero(augmented))
        batch = render(self._specs(numbers, augmented))
        if self.training.augment_puzzles > 1:
            count = self.training.augment_puzzles
            symmetries = random_below(count, *self._address(_PUZZLE_SYMMETRY), numbers)
            batch = augment_puzzles(batch, symmetries)
        if self.training.conjugate:
            count = len(self.puzzles.rules)
            draws = random_uniform(*self._address(_CONJUGATED), numbers)
            rules = random_below(count, *self._address(_CONJUGATING_RULE), numbers)
            rules = np.where(draws < self.training.conjugate, rules, -1)
            batch = conjugate(batch, self.render.warp, rules)
        return batch

    def _augmented(self, numbers: Integers) -> NDArray[np.bool_]:
        """Which of these puzzles have their images augmented."""
        draws = random_uniform(*self._address(_AUGMENTED), numbers)
        return draws >= self.training.unaugmented

    def _specs(self, numbers: Integers, augmented: NDArray[np.bool_]) -> NDArray[np.int32]:
        """The specs of these puzzles; with `turns`, augmented images are rotated or mirrored."""
        if TURNS not in self.training.image_parts:
            return self.puzzles.specs[numbers]
        images = np.arange(3)  # x, x' and x''
        address = self._address(_IMAGE_SYMMETRY)
        symmetries = random_below(len(DRAWN), *address, numbers[:, None], images)
        symmetries[~augmented] = DRAWN.tolist().index(0)  # as they are
        return augment_images(self.puzzles, numbers, symmetries)

    def _address(self, use: int) -> tuple[int, int, int]:
        return self.training.seed, use, self.epoch
