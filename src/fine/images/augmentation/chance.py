"""Random numbers of the images of a batch: each has its own, whatever else is in the batch."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fine.randomness import random_uniform

Integers = NDArray[np.int64]
Bits = NDArray[np.uint64]

# Addresses of random numbers. None is ever given to another use: runs can be made again.
_USES = {
    **{"drawing": 0, "edges": 1, "bright": 2, "dark": 3, "strokes": 4},
    **{"invert": 5, "thick": 6, "mask": 7, "frame": 8, "contrast": 9},
    **{"colours": 10},
}
_NUMBERS = 4  # of each use: one that decides, and up to three parameters
_DECIDES = 0


class Chance:
    """Random numbers for one use, of some images."""

    def __init__(self, use: str, bits: Bits, numbers: NDArray[np.float64], device: torch.device):
        self.use, self.bits, self.numbers, self.device = use, bits, numbers, device

    def __getitem__(self, rows: Integers) -> "Chance":
        """Those of fewer images."""
        return Chance(self.use, self.bits[rows], self.numbers[rows], self.device)

    def choice(self, count: int) -> Integers:
        """A number from 0 to count − 1 for each image."""
        return (self.numbers[:, _DECIDES] * count).astype(np.int64)

    def happens(self, share: float) -> NDArray[np.bool_]:
        """Whether something happens to each image, as it does to this share of all."""
        return self.numbers[:, _DECIDES] < share

    def uniform(self, low: float, high: float, parameter: int = 1) -> NDArray[np.float64]:
        """A number from low to high for each image (n,)."""
        return low + (high - low) * self.numbers[:, parameter]

    def noise(self, count: int) -> Tensor:
        """Numbers from −1 to 1 for each image: (n, count)."""
        further = np.arange(_NUMBERS, _NUMBERS + count)
        return self.tensor(2 * random_uniform(self.bits[:, None], _USES[self.use], further) - 1)

    def each(self, numbers: NDArray[np.floating | np.bool_]) -> Tensor:
        """A number for each image (n,), ready to be combined with the images: (n, 1, 1, 1)."""
        return self.tensor(numbers[:, None, None, None])

    def tensor(self, numbers: NDArray[np.floating | np.bool_]) -> Tensor:
        """Numbers where the images are."""
        return torch.from_numpy(numbers.astype(np.float32)).to(self.device)


def chances(bits: Bits, device: torch.device) -> dict[str, Chance]:
    """Random numbers for every use, made from 64 random bits of each image (n,)."""
    uses = np.array(list(_USES.values()))[:, None]
    # All at once: a call for every use would take longer than what is made of the numbers.
    numbers = random_uniform(bits[:, None, None], uses, np.arange(_NUMBERS))
    return {use: Chance(use, bits, numbers[:, at], device) for use, at in _USES.items()}
