"""The one kind of error a user meets: a single line that says what was given, what was expected and what to do."""

import difflib
from collections.abc import Iterable


class FineError(Exception):
    """Bad input, said in one line. The command line prints it and exits with code 2; nothing is left half-written."""


def unknown(kind: str, given: str, valid: Iterable[str]) -> FineError:
    """The error for a name that is not one of ``valid``, with the nearest valid one."""
    names = list(valid)
    nearest = difflib.get_close_matches(given, names, n=1, cutoff=0.5)
    hint = f"did you mean '{nearest[0]}'? " if nearest else ""
    return FineError(f"unknown {kind} '{given}': {hint}choose one of {', '.join(names)}")
