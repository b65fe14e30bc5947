"""Colours of families and of rules, the same in every picture of functions."""

import colorsys

from fine.rules import FAMILIES, Rule

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
"""Told apart by people who see fewer colours too."""
OTHER = "#444444"
_CORNERS = ((0.11, 0.28, 0.75), (0.85, 0.15, 0.55), (0.05, 0.65, 0.45), (0.95, 0.65, 0.05))


def family_colour(family: str) -> str:
    """The colour of a family."""
    return FAMILY_COLOURS.get(family, OTHER)


def rule_colour(rule: Rule) -> str:
    """The colour of a rule among those of its family: like parameters have like colours."""
    if rule.family.name == "rotation":  # comes round, so its colours do
        return _text(*colorsys.hsv_to_rgb(rule.parameters[0] / 360, 0.85, 0.8))
    across, *rest = (_share(rule, place) for place in range(len(rule.parameters)))
    down = rest[0] if rest else across
    weights = ((1 - across) * (1 - down), across * (1 - down), (1 - across) * down, across * down)
    return _text(*(sum(w * corner[band] for w, corner in zip(weights, _CORNERS, strict=True)) for band in range(3)))


def _share(rule: Rule, place: int) -> float:
    """A parameter from 0 to 1 among those of its family."""
    values = sorted({parameters[place] for parameters in FAMILIES[rule.family.name].grid})
    return values.index(rule.parameters[place]) / max(1, len(values) - 1)


def _text(red: float, green: float, blue: float) -> str:
    return "#" + "".join(f"{round(255 * value):02x}" for value in (red, green, blue))
