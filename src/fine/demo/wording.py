"""Rules in plain words, for people who have never heard of them."""

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
"""What the page calls a family; any other family has its own name."""

PARAMETERS = {
    "translation": (("right", "{:g}"), ("down", "{:g}")),
    "rotation": (("to the left", "{:g}°"),),
    "shear": (("sideways", "{:g}°"), ("downwards", "{:g}°")),
    "scale": (("size", "{:.0%}"),),
    "fisheye": (("across", "{:g}"), ("down", "{:g}"), ("strength", "{:g}")),
    "wave": (("height", "{:g}"), ("waves", "{:g}")),
}
"""The sliders of a family: the name of each, and how its values are written."""


def title(family: str) -> str:
    """What the page calls a family."""
    return TITLES.get(family, family)


def in_words(rule: Rule) -> str:
    """What a rule does, as people say it: "turned 45° left"."""
    describe = _WORDS.get(rule.family.name)
    if describe is None:
        return str(rule)
    return re.sub(r"-(?=\d)", "−", describe(*rule.parameters))


def _shifted(right: float, down: float) -> str:
    parts = []
    if right:
        parts.append(f"{abs(right):g} {'right' if right > 0 else 'left'}")
    if down:
        parts.append(f"{abs(down):g} {'down' if down > 0 else 'up'}")
    return f"shifted {' and '.join(parts)}" if parts else "not moved at all"


def _turned(degrees: float) -> str:
    left = degrees % 360
    if left == 0:
        return "not turned at all"
    if left == 180:
        return "turned upside down"
    return f"turned {left:g}° left" if left < 180 else f"turned {360 - left:g}° right"


def _mirrored(left_right: float, top_bottom: float) -> str:
    return "mirrored left to right" if left_right else "mirrored top to bottom"


def _resized(factor: float) -> str:
    if factor == 1:
        return "kept at its size"
    return f"{'shrunk' if factor < 1 else 'grown'} to {factor:.0%}"


def _slanted(across: float, down: float) -> str:
    parts = []
    if across:
        parts.append(f"{across:g}° sideways")
    if down:
        parts.append(f"{down:g}° downwards")
    return f"slanted {' and '.join(parts)}" if parts else "not slanted at all"


def _pinched(x: float, y: float, strength: float) -> str:
    vertical = "top" if y < 0 else "bottom" if y > 0 else ""
    horizontal = "left" if x < 0 else "right" if x > 0 else ""
    place = f"{vertical} {horizontal}".strip() or "middle"
    return f"{'strongly' if strength > 0.5 else 'gently'} pinched towards the {place}"


def _rippled(height: float, waves: float) -> str:
    return f"rippled by {waves:g} wave{'s' if waves > 1 else ''}, height {height:g}"


def _made_negative(axis: float, cut: float, side: float) -> str:
    sides = ("left", "right") if axis == 0 else ("top", "bottom")
    part = sides[side > 0]
    share = round((16 - cut * side) / 32 * 100)
    return f"turned negative in the {part} {share} %"


def _swapped(*origins: float) -> str:
    order = " ".join(f"{int(origin) + 1}" for origin in origins)
    if order == "1 2 3 4":
        return "quarters left in place"
    return f"cut in quarters, laid out {order}"


_WORDS: dict[str, Callable[..., str]] = {
    "translation": _shifted,
    "rotation": _turned,
    "reflection": _mirrored,
    "shear": _slanted,
    "scale": _resized,
    "fisheye": _pinched,
    "wave": _rippled,
    "black-white": _made_negative,
    "swap": _swapped,
}
