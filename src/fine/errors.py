"""The one error that users meet: a line that says what was given, what was expected, what to do.

raise FineError(f"size {size} is not offered: choose one of 32, 28")
raise unknown("rules", "rotatoin", FAMILIES)     # … did you mean 'rotation'? choose one of …
"""

import difflib
from collections.abc import Iterable

_LONGEST = 1000  # characters of a message, however much of the input it repeats


class FineError(Exception):
    """Bad input, described in one line. The command line prints it and exits with code 2.

    Examples:
        >>> import fine
        >>> try:
        ...     fine.rule_set("rotatoin")
        ... except fine.FineError as problem:
        ...     print(problem)  # doctest: +ELLIPSIS
        unknown rules 'rotatoin': did you mean 'rotation'? choose one of ...
    """

    def __str__(self) -> str:
        text = printable(super().__str__())
        if len(text) <= _LONGEST:
            return text
        return f"{text[: _LONGEST // 2]} … {text[-_LONGEST // 2 :]}"


def printable(text: str) -> str:
    """The text on one line, with � for what cannot be shown or would move the cursor."""
    one_line = text.replace("\n", " ")
    return "".join(letter if letter.isprintable() else "�" for letter in one_line)


def unknown(kind: str, given: str, valid: Iterable[str]) -> FineError:
    """The error for a name that is not one of ``valid``; it suggests the nearest valid name."""
    names = list(valid)
    nearest = difflib.get_close_matches(given, names, n=1, cutoff=0.5)
    hint = f"did you mean '{nearest[0]}'? " if nearest else ""
    return FineError(f"unknown {kind} '{given}': {hint}choose one of {', '.join(names)}")
