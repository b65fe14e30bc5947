"""Classes become groups of options, with the help texts of what they configure."""

from dataclasses import dataclass, fields
from typing import Annotated

import pytest
import tyro

from fine.cli.arguments import field_docstrings, given, options


@dataclass(frozen=True)
class Heating:
    """Something to configure."""

    degrees: float = 20.0
    """How warm
    it gets."""
    at_night: bool = False
    """Whether it also runs at night."""
    seed: int = 0


@options(Heating, default="the house's")
class HeatingOptions:
    """How to heat."""

    degrees: float | None = None
    at_night: bool = False
    room: str = ""
    """Where."""


@options(Heating, default="the house's")
class Heat:
    """Heat a house."""

    seed: int = 3
    """Some number."""
    at_night: Annotated[bool, tyro.conf.arg(name="nightly", help="Of its own.")] = False
    heating: HeatingOptions = HeatingOptions()


def help_of(command: type, capsys) -> str:
    with pytest.raises(SystemExit):
        tyro.cli(command, args=["--help"])
    return " ".join(capsys.readouterr().out.replace("│", " ").split())


def test_docstrings_of_fields_are_read_on_one_line():
    assert field_docstrings(Heating) == {
        "degrees": "How warm it gets.",
        "at_night": "Whether it also runs at night.",
    }


def test_help_is_an_option_s_own_or_that_of_what_it_configures(capsys):
    shown = help_of(Heat, capsys)
    assert "--degrees FLOAT How warm it gets. (default: the house's)" in shown
    assert "--at-night Whether it also runs at night. (default: the house's)" in shown
    assert "--nightly Of its own." in shown
    assert "--room STR Where." in shown and "Where. (default" not in shown
    assert "--seed INT Some number. (default: 3)" in shown
    assert "heating options" in shown and "How to heat." in shown


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], {}),
        (["--degrees", "0"], {"degrees": 0.0}),
        (["--degrees", "7", "--room", "hall"], {"degrees": 7.0}),
        (["--at-night"], {"at_night": True}),
    ],
)
def test_what_was_given_is_known_from_what_was_not(arguments, expected):
    command = tyro.cli(Heat, args=arguments)
    assert given(command.heating, Heating) == expected
    assert given(command, Heating) == {"seed": 3}


def test_groups_are_frozen_dataclasses():
    assert [field.name for field in fields(HeatingOptions)] == ["degrees", "at_night", "room"]
    assert HeatingOptions() == HeatingOptions() and hash(HeatingOptions()) == hash(HeatingOptions())
