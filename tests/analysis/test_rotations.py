"""Laws of rotations made of others: errors are steps of the grid, and few are large."""

from dataclasses import replace

import pytest
import torch

from fine import FineError, load
from fine.analysis.rotations import STEP, TARGETS, rotation_errors
from fine.models import make_model


@pytest.fixture(scope="module")
def puzzles(task):
    return replace(task, rules="rotation", test_count=20).test_puzzles()


@pytest.mark.slow
def test_errors_are_steps_of_the_grid(puzzles):
    errors = rotation_errors(load("all-glyphs"), puzzles)
    assert set(errors) == set(TARGETS)
    for found in errors.values():
        assert found.shape == (20,)
        assert (found % STEP == 0).all() and (found >= -165).all() and (found <= 180).all()
    # What is shown is found: by chance it would be one of 24.
    assert (errors["90°, shown"] == 0).float().mean() > 0.5
    assert torch.cat(list(errors.values())).abs().float().median() <= 2 * STEP


def test_a_model_without_roots_says_so(puzzles):
    with pytest.raises(FineError, match="whole number"):
        rotation_errors(make_model("fine-nice", channels=1, size=32), puzzles)
