"""Two models on the same puzzles: counts, the difference, its interval, McNemar's test."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from fine.errors import FineError
from fine.evaluation import Evaluation, PairedTest, evaluate, paired_test
from fine.evaluation.metrics import Scored
from fine.models.oracle import Oracle
from fine.puzzles.task import Task

COUNTS = st.integers(0, 300)


class Answered(Scored):
    """Answers of which only the kinds are known."""

    def __init__(self, *kinds: int):
        self.given = np.array(kinds)

    @property
    def kinds(self):
        return self.given


def test_puzzles_are_counted_by_who_has_them_right():
    first, second = Answered(0, 0, 0, 1, 2, 0), Answered(0, 1, 3, 0, 1, 2)
    test = paired_test(first, second)
    assert test == PairedTest(both=1, only_first=3, only_second=1, neither=1)
    assert test.difference == pytest.approx(first.accuracy - second.accuracy)


@given(COUNTS, COUNTS)
def test_the_p_value_is_that_of_a_fair_coin(only_first, only_second):
    test = PairedTest(5, only_first, only_second, 5)
    decided = only_first + only_second
    expected = stats.binomtest(only_first, decided).pvalue if decided else 1.0
    assert test.p_value == pytest.approx(expected, rel=1e-9)


@given(COUNTS, COUNTS, COUNTS, COUNTS)
def test_exchanging_the_models_changes_the_sign_alone(both, one, two, neither):
    if not both + one + two + neither:
        both = 1
    test = PairedTest(both, one, two, neither)
    other = PairedTest(both, two, one, neither)
    assert other.difference == -test.difference and other.p_value == test.p_value
    low, high = test.interval
    assert other.interval == pytest.approx((-high, -low))
    assert -1 <= low < high <= 1


def test_the_interval_holds_the_true_difference_95_times_in_100():
    draws = np.random.default_rng(0).multinomial(500, [0.6, 0.25, 0.1, 0.05], size=4_000)
    held = [low <= 0.15 <= high for low, high in (PairedTest(*row).interval for row in draws)]
    assert np.mean(held) == pytest.approx(0.95, abs=0.015)


def test_very_many_puzzles_do_not_overflow():
    assert PairedTest(0, 1_000_000, 10, 0).p_value == 0
    assert PairedTest(0, 50_000, 50_000, 0).p_value == 1


def test_answers_to_other_puzzles_are_not_paired():
    def answered(rules: str) -> Evaluation:
        task = Task("glyphs", rules, train_classes=20, test_classes=20, test_count=20)
        puzzles = task.test_puzzles()
        return evaluate(Oracle(puzzles.rules, size=32), puzzles)

    one, other = answered("rotation"), answered("swap")
    assert paired_test(one, one).both == 20
    with pytest.raises(FineError, match="other puzzles"):
        paired_test(one, other)
