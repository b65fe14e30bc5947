"""Lengths of time are read and shown as people write them."""

import pytest

from fine.errors import FineError
from fine.experiments.durations import read_duration, show_duration, show_minutes


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("2h", 7200), ("90m", 5400), ("1h30m", 5400), ("45s", 45), ("0.5h", 1800), ("0m", 0)],
)
def test_durations_are_read(text, seconds):
    assert read_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "2", "soon", "-1h", "1.2.3m", "5m2h", "1d"])
def test_what_is_no_duration_is_refused(text):
    with pytest.raises(FineError, match="is not a length of time: write it as 2h"):
        read_duration(text)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (5, "5 s"),
        (59, "59 s"),
        (60, "1 min"),
        (3599, "1 h"),
        (3600, "1 h"),
        (12_000, "3 h 20 min"),
    ],
)
def test_durations_are_shown(seconds, text):
    assert show_duration(seconds) == text


def test_minutes_are_shown_with_a_tenth():
    assert show_minutes(1234.56) == "1,234.6"
