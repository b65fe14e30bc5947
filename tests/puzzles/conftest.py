import pytest
import torch

from fine.images import Images
from fine.puzzles import Puzzles, draw_puzzles
from fine.rules import rule_set


@pytest.fixture(scope="session")
def images() -> Images:
    """Twelve classes of five noisy images, made of integers, so the same on every machine."""
    numbers = torch.arange(60 * 32 * 32, dtype=torch.int64)
    pixels = ((numbers * 2654435761) % 4294967296 >> 24).to(torch.uint8).view(60, 1, 32, 32)
    return Images("noise", pixels, torch.arange(60) // 5, tuple("abcdefghijkl"))


@pytest.fixture(scope="session")
def puzzles(images: Images) -> Puzzles:
    return draw_puzzles(images, rule_set("all"), 2000, seed=5)
