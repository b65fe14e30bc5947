"""The one kind of error a user meets: a single line that says what was given, what was expected and what to do."""

import difflib
from collections.abc import Iterable

_LONGEST = 1000  # characters of a message, however much of what was given it repeats


class FineError(Exception):
    """Bad input, said in one line. The command line prints it and exits with code 2; nothing is left half-written."""

    def __str__(self) -> str:
        text = printable(super().__str__())
        return text if len(text) <= _LONGEST else f"{text[: _LONGEST // 2]} … {text[-_LONGEST // 2 :]}"


def printable(text: str) -> str:
    """The text on one line; what would move the cursor or cannot be shown at all, as names in a file may, is shown as �."""
    return "".join(letter if letter.isprintable() else "�" for letter in text.replace("\n", " "))


def unknown(kind: str, given: str, valid: Iterable[str]) -> FineError:
    """The error for a name that is not one of ``valid``, with the nearest valid one."""
    names = list(valid)
    nearest = difflib.get_close_matches(given, names, n=1, cutoff=0.5)
    hint = f"did you mean '{nearest[0]}'? " if nearest else ""
    return FineError(f"unknown {kind} '{given}': {hint}choose one of {', '.join(names)}")
