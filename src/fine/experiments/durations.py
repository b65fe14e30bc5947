"""Durations as people write them: 2h, 90m, 1h30m, 45s."""

import re

from fine.errors import FineError

_UNITS = {"h": 3600, "m": 60, "s": 1}
_LONGEST = 100 * 365 * 24 * 3600  # a century: more is a slip, and infinity cannot be shown


def read_duration(text: str) -> float:
    """Seconds in a text such as 1h30m."""
    parts = re.fullmatch(r"(?:([\d.]+)h)?(?:([\d.]+)m)?(?:([\d.]+)s)?", text.replace(" ", ""))
    try:
        if text and parts:
            units = zip(parts.groups(), _UNITS.values(), strict=True)
            seconds = sum(float(number) * unit for number, unit in units if number)
            if seconds < _LONGEST:
                return seconds
    except ValueError:
        pass
    raise FineError(f"'{text}' is not a length of time: write it as 2h, 90m, 1h30m or 45s")


def show_duration(seconds: float) -> str:
    """A duration in a few characters: 45 s, 12 min, 3 h 20 min."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    hours, rest = divmod(minutes, 60)
    if not hours:
        return f"{minutes} min"
    return f"{hours} h {rest} min" if rest else f"{hours} h"


def show_minutes(minutes: float) -> str:
    """Minutes with one decimal, for a column of them: 1,234.5."""
    return f"{minutes:,.1f}"
