"""Puzzles to draw, and what a model may have chosen."""

import numpy as np
import pytest
import torch

from fine.images import Images
from fine.puzzles import Puzzles, draw_puzzles
from fine.rules import rule_set

COUNT = 12


@pytest.fixture(scope="package", params=[1, 3], ids=["grey", "colour"])
def puzzles(request: pytest.FixtureRequest) -> Puzzles:
    """A dozen puzzles over four classes of coarse noise, in which every swap of quarters shows."""
    draw = torch.Generator().manual_seed(0)
    coarse = torch.randint(0, 256, (8, request.param, 8, 8), generator=draw)
    pixels = coarse.repeat_interleave(4, 2).repeat_interleave(4, 3).byte()
    images = Images("noise", pixels, torch.arange(8) // 2, ("a", "b", "c", "d"))
    return draw_puzzles(images, rule_set("swap"), COUNT, seed=0)


@pytest.fixture(scope="package")
def chosen(puzzles: Puzzles) -> np.ndarray:
    """Even puzzles are solved; odd ones are answered by the place after the right one."""
    return (puzzles.answers + np.arange(COUNT) % 2) % 4
