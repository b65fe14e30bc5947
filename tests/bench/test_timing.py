"""Timing is fair: candidates take turns, and ratios are those of rounds."""

from fine.bench.timing import median_ratio, take_turns


def test_candidates_take_turns_and_the_first_round_does_not_count():
    called = []
    ticks = iter(range(100))
    candidates = [lambda: called.append("a"), lambda: called.append("b")]
    seconds = take_turns(candidates, rounds=3, clock=lambda: next(ticks))
    assert called == list("abababab")
    assert seconds == [[1, 1, 1], [1, 1, 1]]


def test_without_time_left_there_are_three_rounds():
    assert len(take_turns([int], rounds=50, until=0.0)[0]) == 3


def test_a_ratio_is_that_of_rounds_and_not_of_sums():
    # A machine that is ten times slower in one round is so for both candidates.
    assert median_ratio([2, 20, 2], [1, 10, 1]) == 2
