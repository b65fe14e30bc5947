import numpy as np
import pytest
import torch
from torch import Tensor

from fine.images.augmentation.filters import KNOTS, smooth_fields
from fine.randomness import random_bits, random_uniform


@pytest.fixture(scope="session")
def bits() -> np.ndarray:
    """Random bits of 240 images."""
    return random_bits(3, np.arange(240))


@pytest.fixture(scope="session")
def photographs(bits) -> Tensor:
    """As many grey images without any black, smooth as photographs are."""
    noise = 2 * random_uniform(bits[:, None], np.arange(KNOTS**2)) - 1
    fields = smooth_fields(torch.from_numpy(noise).float(), 32)
    return (0.5 + 0.15 * fields).clamp(0.05, 0.95)
