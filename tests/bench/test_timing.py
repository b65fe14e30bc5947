"""Timing is fair: candidates take turns, ratios are those of rounds, and limits hold."""

import math
import time

import pytest

from fine.bench.timing import Limit, TimeIsUp, median_ratio, take_turns


def test_candidates_take_turns_and_the_first_round_does_not_count():
    called = []
    ticks = iter(range(100))
    candidates = [lambda: called.append("a"), lambda: called.append("b")]
    seconds = take_turns(candidates, rounds=3, clock=lambda: next(ticks))
    assert called == list("abababab")
    assert seconds == [[1, 1, 1], [1, 1, 1]]


@pytest.fixture
def seconds(monkeypatch) -> list[float]:
    """What the clock says, for candidates to change."""
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


@pytest.mark.parametrize(
    ("limit", "rounds"),
    [
        (Limit(), 50),
        (Limit(enough=0.0), 1),  # more than the one that counts are not begun
        (Limit(enough=6.5), 3),
        (Limit(end=7.0), 3),  # the last one begins at its end
        (Limit(enough=100.0, end=8.5), 3),  # a round that is under way is given up
    ],
)
def test_a_limit_is_kept(seconds, limit, rounds):
    def candidate() -> None:
        seconds[0] += 1

    taken = take_turns([candidate, candidate], rounds=50, limit=limit)
    assert [len(times) for times in taken] == [rounds, rounds]
    assert seconds[0] <= limit.end + 1 or limit.end == math.inf


@pytest.mark.parametrize("end", [-1.0, 0.5, 2.5])
def test_without_time_for_a_round_that_counts_there_is_no_result(seconds, end):
    def candidate() -> None:
        seconds[0] += 1

    with pytest.raises(TimeIsUp):
        take_turns([candidate, candidate], rounds=50, limit=Limit(end=end))
    assert seconds[0] <= max(0, end + 1)


def test_a_ratio_is_that_of_rounds_and_not_of_sums():
    # A machine that is ten times slower in one round is so for both candidates.
    assert median_ratio([2, 20, 2], [1, 10, 1]) == 2
