"""Estimates come from similar records, or say that they are guesses."""

import pytest

from fine.experiments import make_experiment
from fine.experiments.estimates import GUESS, START, TEST_COST, estimate
from support.experiments import recorded, tiny


def test_an_estimate_comes_from_similar_records_or_says_that_it_is_a_guess():
    cell, other = tiny(train_count=1000), tiny(model="esbn", train_count=1000)
    shown = 1000 + TEST_COST * 8
    assert estimate(cell, []).seconds == pytest.approx(START + shown / GUESS)
    assert "guessed" in estimate(cell, []).basis
    # A record of 1,000 puzzles in a tenth of a minute is 1000 / 6 puzzles a second.
    slow = recorded(other, minutes=0.1)
    guess = estimate(cell, [slow])
    assert guess.seconds == pytest.approx(START + shown * 6 / 1000)
    assert guess.basis == "measured: other models"
    guess = estimate(cell, [slow, recorded(cell, minutes=0.2)])
    assert guess.seconds == pytest.approx(START + shown * 12 / 1000)
    assert guess.basis == "measured: fine on folder:images"


def test_a_probe_is_quick():
    cell = make_experiment("chains").places[0].cell
    assert estimate(cell, []).seconds < 2 * START
