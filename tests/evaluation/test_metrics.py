"""Laws of accuracy: intervals stay between 0 and 1, and shares by rule and family add up."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from fine.evaluation import Evaluation, by_family, evaluate, wilson
from fine.models.oracle import Oracle
from fine.puzzles import KINDS, Puzzles, Task


@pytest.fixture(scope="module")
def puzzles() -> Puzzles:
    task = Task.preset("glyphs", rules="rotation+scale")
    return replace(task, test_count=80).test_puzzles()


def answered(puzzles: Puzzles, chosen: np.ndarray) -> Evaluation:
    """An evaluation in which these places were chosen."""
    probabilities = np.eye(4, dtype=np.float32)[chosen]
    return Evaluation(puzzles, chosen, probabilities)


def test_the_interval_of_a_proportion_is_wilsons():
    # By the formula with z = 1.96: 8 of 10 gives (0.4902, 0.9433).
    assert wilson(8, 10) == pytest.approx((0.4902, 0.9433), abs=1e-4)
    for successes in (0, 5, 10):
        low, high = wilson(successes, 10)
        rounding = 1e-12
        assert -rounding <= low <= successes / 10 <= high + rounding <= 1 + 2 * rounding


def test_who_knows_the_rules_answers_right(puzzles):
    evaluation = evaluate(Oracle(puzzles.rules, size=32), puzzles, batch=32)
    assert evaluation.accuracy > 0.95
    assert evaluation.probabilities.shape == (80, 4)
    assert np.allclose(evaluation.probabilities.sum(1), 1)


def test_an_evaluation_leaves_the_model_in_its_mode(puzzles):
    model = Oracle(puzzles.rules, size=32)
    for mode in (True, False):
        model.train(mode)
        evaluate(model, puzzles[:4])
        assert model.training is mode


def test_shares_of_answers_add_up(puzzles):
    evaluation = answered(puzzles, np.arange(80) % 4)
    assert evaluation.accuracy + sum(evaluation.mistakes.values()) == pytest.approx(1)
    rows = evaluation.by_rule()
    assert sum(row["puzzles"] for row in rows) == 80
    assert all(sum(row[kind] for kind in KINDS) == pytest.approx(1, abs=1e-3) for row in rows)
    families = by_family(rows)
    assert [family for family, _, _ in families] == ["rotation", "scale"]
    right = sum(count * share for _, count, share in families) / 80
    assert right == pytest.approx(evaluation.accuracy, abs=1e-3)


def test_confusions_are_told_by_the_distance_of_rules(puzzles):
    wrong_rule = (puzzles.kinds == KINDS.index("wrong rule")).argmax(1)
    rows = answered(puzzles, wrong_rule).confusions()
    assert rows and {row["family"] for row in rows} == {"rotation"}  # scales have no distance
    # A rotation is at most half a turn from another, whichever way round.
    assert all(0 < row["apart"][0] <= 180 for row in rows)
    assert all(row["wrong rule"] == 1 for row in rows)


def test_batches_of_any_size_give_the_same_answers(puzzles):
    model = Oracle(puzzles.rules, size=32)
    whole, parts = (evaluate(model, puzzles, batch=size) for size in (80, 7))
    torch.testing.assert_close(torch.tensor(whole.probabilities), torch.tensor(parts.probabilities))
