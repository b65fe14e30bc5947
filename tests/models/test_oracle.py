"""Limits: the oracle solves everything, and pixels are the paper's query alone."""

from dataclasses import replace

import pytest
import torch

from fine.evaluation import evaluate
from fine.images import load_images
from fine.models.oracle import LIMITS, LeastSquaresPixels, Oracle, StringOracle
from fine.puzzles import draw_puzzles
from fine.puzzles.task import Task
from fine.rules import rule_set, tested_families

PATCHWORK = pytest.param("patchwork", marks=pytest.mark.slow)  # 1,024 rules to try


@pytest.mark.slow
@pytest.mark.parametrize("family", [*tested_families(), PATCHWORK])
def test_the_oracle_solves_every_family(family):
    puzzles = draw_puzzles(load_images("glyphs"), rule_set(family), 200, seed=1, classes=range(40))
    assert evaluate(Oracle(puzzles.rules, size=32), puzzles).accuracy == 1


@pytest.mark.slow
def test_an_oracle_with_the_wrong_rules_does_not():
    rules = rule_set("rotation")
    puzzles = draw_puzzles(load_images("glyphs"), rules, 200, seed=1, classes=range(40))
    assert evaluate(Oracle(rule_set("swap"), size=32), puzzles).accuracy < 0.9


STRINGS = ["strings", "strings-longer", "strings-letters", "strings-permuted"]


@pytest.mark.slow
@pytest.mark.parametrize("name", STRINGS)
def test_the_oracle_of_strings_solves_them(name):
    puzzles = replace(Task.preset(name, rules="all"), test_count=1_000).test_puzzles()
    # Where a third rule explains the example as well, it may guess.
    assert evaluate(StringOracle(puzzles.rules), puzzles).accuracy > 0.99


@pytest.mark.parametrize("channels", [1, 3])
def test_pixels_apply_the_least_squares_map(channels):
    torch.manual_seed(0)
    images = torch.rand(2, 7, channels, 6, 6).double()
    logits = LeastSquaresPixels(ridge=0.0)(images)
    for b in range(2):
        x, y, new, *choices = (image.flatten(1).T for image in images[b])
        guess = y @ torch.linalg.pinv(x) @ new
        expected = torch.stack([-((choice - guess) ** 2).sum() for choice in choices])
        torch.testing.assert_close(logits[b], expected, rtol=1e-6, atol=0)


def test_limits_are_made_by_name():
    strings = Task.preset("strings", rules="all").test_puzzles().rules
    assert isinstance(LIMITS["oracle"](rule_set("swap"), 32), Oracle)
    assert isinstance(LIMITS["oracle"](strings, 32), StringOracle)
    assert isinstance(LIMITS["pixels"](rule_set("swap"), 32), LeastSquaresPixels)
