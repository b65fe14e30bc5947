"""What can be reached without learning: the oracle solves everything, and pixels are the paper's query alone."""

import numpy as np
import pytest
import torch

from fine.evaluation import evaluate
from fine.images import load_images
from fine.models.limits import Oracle, Pixels
from fine.puzzles import draw_puzzles
from fine.rules import FAMILIES, rule_set


@pytest.mark.parametrize("family", list(FAMILIES))
def test_the_oracle_solves_every_family(family):
    puzzles = draw_puzzles(load_images("glyphs"), rule_set(family), 200, seed=1)
    assert evaluate(Oracle(puzzles.rules, size=32), puzzles).accuracy == 1


def test_an_oracle_with_the_wrong_rules_does_not():
    puzzles = draw_puzzles(load_images("glyphs"), rule_set("rotation"), 200, seed=1)
    assert evaluate(Oracle(rule_set("swap"), size=32), puzzles).accuracy < 0.9


@pytest.mark.parametrize("channels", [1, 3])
def test_pixels_apply_the_least_squares_map(channels):
    torch.manual_seed(0)
    pictures = torch.rand(2, 7, channels, 6, 6).double()
    logits = Pixels(ridge=0.0)(pictures)
    for b in range(2):
        x, y, new, *choices = (picture.flatten(1).T for picture in pictures[b])
        guess = y @ torch.linalg.pinv(x) @ new
        np.testing.assert_allclose(logits[b], [-((choice - guess) ** 2).sum() for choice in choices], rtol=1e-6)
