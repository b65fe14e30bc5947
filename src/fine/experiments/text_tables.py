"""Tables as Markdown, and the small texts that all tables share."""

from collections.abc import Iterable, Sequence

_MARKUP = str.maketrans({character: f"\\{character}" for character in "\\`*_[]<>|#"})


def markdown_rows(
    head: Sequence[str], rows: Iterable[Sequence[str]], *, names: int = 1
) -> list[str]:
    """The lines of a Markdown table: ``names`` columns of names, then columns of numbers."""
    alignment = "---|" * names + "--:|" * (len(head) - names)
    return [_line(head), f"|{alignment}", *map(_line, rows)]


def markdown_text(text: str) -> str:
    """A text on one line, with everything escaped that Markdown would take for markup."""
    return " ".join(text.split()).translate(_MARKUP)


def span(numbers: Iterable[int]) -> str:
    """ "3", or "1 to 3"."""
    low, *_, high = sorted({*numbers}) * 2
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _line(texts: Sequence[str]) -> str:
    return f"| {' | '.join(texts)} |"
