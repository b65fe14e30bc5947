"""Rules in plain words, for someone who has never heard of them."""

import re
from collections.abc import Callable

from fine.rules import Rule

TITLES = {
    "translation": "Shift",
    "rotation": "Turn",
    "reflection": "Mirror",
    "shear": "Slant",
    "scale": "Resize",
    "fisheye": "Fisheye",
    "wave": "Wave",
    "black-white": "Negative",
    "swap": "Swap quarters",
}
"""What a family is called on the page; one of your own goes by its own name."""

PARAMETERS = {
    "translation": (("right", "{:g}"), ("down", "{:g}")),
    "rotation": (("to the left", "{:g}°"),),
    "shear": (("sideways", "{:g}°"), ("downwards", "{:g}°")),
    "scale": (("size", "{:.0%}"),),
    "fisheye": (("across", "{:g}"), ("down", "{:g}"), ("strength", "{:g}")),
    "wave": (("height", "{:g}"), ("waves", "{:g}")),
}
"""What the sliders of a family are called, and how their values are written."""


def title(family: str) -> str:
    return TITLES.get(family, family)


def in_words(rule: Rule) -> str:
    """What a rule does, as one would say it: "turned 45° to the left"."""
    words = _WORDS.get(rule.family.name)
    return re.sub(r"-(?=\d)", "−", words(*rule.parameters)) if words else str(rule)


def _shifted(right: float, down: float) -> str:
    ways = [
        f"{abs(much):g} {word}"
        for much, word in ((right, "right" if right > 0 else "left"), (down, "down" if down > 0 else "up"))
        if much
    ]
    return f"shifted {' and '.join(ways)}" if ways else "not moved at all"


def _turned(degrees: float) -> str:
    if degrees % 360 == 0:
        return "not turned at all"
    if degrees % 360 == 180:
        return "turned upside down"
    return f"turned {degrees % 360:g}° left" if degrees % 360 < 180 else f"turned {360 - degrees % 360:g}° right"


def _resized(factor: float) -> str:
    return "kept at its size" if factor == 1 else f"{'shrunk' if factor < 1 else 'grown'} to {factor:.0%}"


def _slanted(across: float, down: float) -> str:
    ways = [f"{much:g}° {word}" for much, word in ((across, "sideways"), (down, "downwards")) if much]
    return f"slanted {' and '.join(ways)}" if ways else "not slanted at all"


def _fisheye(x: float, y: float, strength: float) -> str:
    place = " ".join(
        word
        for word in ({-1: "top", 0: "", 1: "bottom"}[(y > 0) - (y < 0)], {-1: "left", 0: "", 1: "right"}[(x > 0) - (x < 0)])
        if word
    )
    return f"{'strongly' if strength > 0.5 else 'gently'} pinched towards the {place or 'middle'}"


def _waved(height: float, waves: float) -> str:
    return f"rippled by {waves:g} wave{'s' if waves > 1 else ''}, height {height:g}"


def _negative(axis: float, cut: float, side: float) -> str:
    part = {(0, -1): "left", (0, 1): "right", (1, -1): "top", (1, 1): "bottom"}[int(axis), int(side)]
    share = round((16 + cut * -side) / 32 * 100)
    return f"turned negative in the {part} {share} %"


def _swapped(*origins: float) -> str:
    order = " ".join(f"{int(origin) + 1}" for origin in origins)
    return "quarters left in place" if order == "1 2 3 4" else f"cut in quarters, laid out {order}"


_WORDS: dict[str, Callable[..., str]] = {
    "translation": _shifted,
    "rotation": _turned,
    "reflection": lambda left_right, _: "mirrored left to right" if left_right else "mirrored top to bottom",
    "shear": _slanted,
    "scale": _resized,
    "fisheye": _fisheye,
    "wave": _waved,
    "black-white": _negative,
    "swap": _swapped,
}
