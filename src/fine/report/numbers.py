"""How numbers are written. On the page each carries the key and the field that it shows."""

from fine.report.markup import Markup, element


def tenths(percent: float) -> str:
    """97.1"""
    return f"{percent:.1f}"


def whole(percent: float) -> str:
    """97"""
    return f"{percent:.0f}"


def signed(percent: float) -> str:
    """+12.3, −0.4 or 0.0"""
    text = f"{percent:+.1f}".replace("-", "−")
    return "0.0" if text in ("+0.0", "−0.0") else text


def number(text: str, key: str, field: str) -> Markup:
    """A number in running text or in a table."""
    return element("span", text, data_key=key, data_field=field)
