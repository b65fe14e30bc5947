"""The one kind of error a user meets: one line that helps."""

import pytest

from fine.errors import FineError, unknown

NAMES = ("translation", "rotation", "reflection")


@pytest.mark.parametrize(
    ("given", "nearest"),
    [("rotatoin", "rotation"), ("translate", "translation"), ("Reflection", "reflection")],
)
def test_an_unknown_name_is_answered_with_the_nearest_one_and_all_others(given, nearest):
    message = str(unknown("rules", given, NAMES))
    assert message.startswith(f"unknown rules '{given}': did you mean '{nearest}'?")
    assert message.endswith("choose one of translation, rotation, reflection")
    assert "\n" not in message


@pytest.mark.parametrize("given", ["", "qqq"])
def test_a_name_like_no_other_gets_no_guess(given):
    expected = f"unknown rules '{given}': choose one of translation, rotation, reflection"
    assert str(unknown("rules", given, NAMES)) == expected


def test_the_valid_names_may_come_from_anything_that_can_be_gone_through_once():
    assert "did you mean 'rotation'" in str(unknown("rules", "rotatio", (name for name in NAMES)))


def test_an_error_is_one_line_that_cannot_move_the_cursor():
    message = str(FineError("'\x1b[2Jname\r\n\ud800' is not good: give \u202eanother"))
    assert message == "'�[2Jname� �' is not good: give �another" and message.isprintable()


def test_an_error_that_repeats_a_long_text_keeps_its_beginning_and_its_end():
    message = str(FineError(f"'{'9' * 100_000}' is not a length of time: write it as 2h"))
    assert message.startswith("'999") and len(message) < 1010
    assert message.endswith("999' is not a length of time: write it as 2h")
