"""Which rules are taken for which: known answers of models that make known mistakes."""

from dataclasses import replace

import numpy as np
import pytest

from fine.evaluation import Evaluation
from fine.puzzles import RIGHT, WRONG, Puzzles
from fine.puzzles.task import Task


def answered(puzzles: Puzzles, kinds: np.ndarray) -> Evaluation:
    """An evaluation of a model that takes a choice of these kinds."""
    chosen = (puzzles.kinds == kinds[:, None]).argmax(axis=1)
    probabilities = np.full((len(puzzles), 4), 0.25, dtype=np.float32)
    return Evaluation(puzzles, chosen, probabilities)


def drawn(rules: str, count: int = 2_000) -> Puzzles:
    return replace(Task.preset("glyphs", rules=rules), test_count=count).test_puzzles()


def test_neighbouring_angles_are_taken_for_each_other():
    puzzles = drawn("rotation")
    steps = abs(puzzles.specs[:, RIGHT] - puzzles.specs[:, WRONG])
    near = np.isin(steps, (1, 23))  # 0° and 345° are neighbours too
    rows = answered(puzzles, near.astype(np.int64)).confusions()
    assert [row["apart"] for row in rows] == [[15.0 * step] for step in range(1, 13)]
    assert [row["wrong rule"] for row in rows] == [1.0] + [0.0] * 11
    assert sum(row["puzzles"] for row in rows) == len(puzzles)
    assert rows[0]["puzzles"] == near.sum()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rules", "distances"), [("translation", 7 * 7 - 1), ("shear", 9 * 9 - 1), ("swap", 0)]
)
def test_distances_of_a_family(rules, distances):
    # Each of the two parameters is 0 to 6 (or 8) steps apart, but not both 0; swaps have none.
    puzzles = drawn(rules, 20_000)
    rows = answered(puzzles, np.ones(len(puzzles), dtype=np.int64)).confusions()
    assert len(rows) == distances and all(row["wrong rule"] == 1 for row in rows)


def test_rules_of_two_families_have_no_distance():
    puzzles = drawn("rotation+reflection")
    rows = answered(puzzles, np.zeros(len(puzzles), dtype=np.int64)).confusions()
    rotations = (puzzles.specs[:, [RIGHT, WRONG]] < 24).all(axis=1).sum()
    assert 0 < sum(row["puzzles"] for row in rows) == rotations < len(puzzles)
