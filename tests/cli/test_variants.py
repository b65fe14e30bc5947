"""Commands about variants: every one is drawn, shown and evaluated, or refused in one line."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from fine.puzzles import Variant

ORACLE = ("evaluate", "oracle", "--rules", "rotation", "--test-count", 20)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "hints"), [("odd-one-out", 5), ("hints", 3), ("backwards", 1), ("chain", 2)]
)
def test_a_variant_is_shown_and_drawn(fine, name, hints):
    options = ("--rules", "rotation", "--count", 2, "--variant", name, "--hints", hints)
    done = fine("puzzles", *options, "--answers", "--out", "sheet.png")
    assert done.code == 0
    assert str(Variant(name, hints)).partition(", by")[0] in done.out
    # a terminal marks what is right once a puzzle, and the sheet is not blank
    assert done.out.count("✓") + done.out.count(" v") >= 2
    assert np.asarray(Image.open("sheet.png").convert("L")).std() > 10


def test_backwards_is_evaluated(fine):
    done = fine(*ORACLE, "--variant", "backwards", "--by-rule")
    assert done.code == 0 and "variant: backwards, by swapped" in done.out


def test_the_odd_one_out_is_evaluated_against_its_own_chance(fine):
    done = fine(*ORACLE, "--variant", "odd-one-out")
    assert done.code == 0
    assert "the odd one out of 4" in done.out and "a guess among four" in done.out
    assert "right object" not in done.out


@pytest.mark.slow
def test_an_evaluated_variant_is_drawn(fine):
    done = fine(*ORACLE[:2], "--test-count", 5, "--variant", "chain", "--sheet", "sheet.png")
    assert done.code == 0 and Path("sheet.png").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("evaluate", "pixels", "--test-count", 5, "--variant", "chain"), "composes no function"),
        (("puzzles", "--variant", "odd-one-out", "--hints", 2), "give 3 to 10"),
        (("puzzles", "--variant", "sideways"), "sideways"),
    ],
)
def test_an_impossible_variant_is_refused(refused, arguments, message):
    assert message in refused(*arguments)
