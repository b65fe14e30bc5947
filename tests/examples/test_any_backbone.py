"""examples/any_backbone.py learns to do what one example shows, in a fraction of its steps."""

import runpy
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples/any_backbone.py"


@pytest.mark.slow
def test_the_composed_network_learns_what_a_shared_one_cannot(capsys):
    left = runpy.run_path(str(EXAMPLE))["main"](60)
    assert left["composed"] < 0.7 < 0.95 < left["the same weights for all"]
    assert capsys.readouterr().out.count("left unexplained") == 2
