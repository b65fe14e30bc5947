"""Colours of families and of rules, the same in every map of functions."""

import colorsys

from fine.rules import Rule

FAMILY_COLOURS = {
    "translation": "#0072b2",
    "rotation": "#d55e00",
    "reflection": "#009e73",
    "shear": "#aa4499",
    "scale": "#b8860b",
    "fisheye": "#56b4e9",
    "wave": "#6b4c9a",
    "black-white": "#7f7f7f",
    "swap": "#882255",
}
"""People who see fewer colours can tell these apart, too."""
OTHER = "#444444"
"""The colour of any other family."""
_CORNERS = ((0.11, 0.28, 0.75), (0.85, 0.15, 0.55), (0.05, 0.65, 0.45), (0.95, 0.65, 0.05))


def family_colour(family: str) -> str:
    """The colour of a family."""
    return FAMILY_COLOURS.get(family, OTHER)


def rule_colour(rule: Rule) -> str:
    """The colour of a rule among those of its family: similar parameters have similar colours."""
    if rule.family.name == "rotation":  # angles have a period, so their colours have one
        return _hex(*colorsys.hsv_to_rgb(rule.parameters[0] / 360, 0.85, 0.8))
    across, *rest = (_position(rule, place) for place in range(len(rule.parameters)))
    down = rest[0] if rest else across
    weights = ((1 - across) * (1 - down), across * (1 - down), (1 - across) * down, across * down)
    corners = list(zip(weights, _CORNERS, strict=True))
    red, green, blue = (
        sum(weight * corner[band] for weight, corner in corners) for band in range(3)
    )
    return _hex(red, green, blue)


def _position(rule: Rule, place: int) -> float:
    """Where a parameter lies among those of its family, from 0 to 1."""
    values = sorted({parameters[place] for parameters in rule.family.grid})
    return values.index(rule.parameters[place]) / max(1, len(values) - 1)


def _hex(red: float, green: float, blue: float) -> str:
    return "#" + "".join(f"{round(255 * value):02x}" for value in (red, green, blue))
