"""A rule with its parameters in words, as people would say it: `rotation 37.2° ± 0.2`.

in_words((rule,), ((0.2,),))
"""

import math
from collections.abc import Sequence

from fine.rules import Rule

_PER_UNIT = 100 / 32
"""Per cent of the longer side in a unit of rules."""


def in_words(rules: Sequence[Rule], errors: Sequence[Sequence[float]] = ()) -> str:
    """Rules one after another, with the standard errors of their parameters if there are any."""
    if not rules:
        return "unchanged"
    pairs = zip(rules, errors, strict=True) if errors else ((rule, ()) for rule in rules)
    return ", then ".join(_one(rule, tuple(error)) for rule, error in pairs)


def _one(rule: Rule, errors: tuple[float, ...]) -> str:
    name, values = rule.family.name, rule.parameters
    wrong = errors if len(errors) == len(values) else (0.0,) * len(values)
    if name in ("rotation", "any-rotation"):
        return f"rotation {_number(values[0], wrong[0], '°')}"
    if name in ("scale", "any-scale"):
        return f"scale ×{_number(values[0], wrong[0])}"
    if name in ("translation", "any-translation"):
        return f"translation {_moved(values, wrong)}"
    if name == "stretch":
        wide, high = (_number(*one) for one in zip(values, wrong, strict=True))
        return f"stretch ×{wide} wide, ×{high} high"
    if name in ("shear", "any-shear"):
        across, down = (_number(*one, "°") for one in zip(values, wrong, strict=True))
        return f"shear {across} across, {down} down"
    if name == "any-mix":
        return _mix(values, wrong)
    if name == "affine-map":
        a, b, c, d = (_number(*one) for one in zip(values[:4], wrong[:4], strict=True))
        return f"affine map ({a}, {b}; {c}, {d}), translation {_moved(values[4:], wrong[4:])}"
    if name == "wave":
        height = _number(values[0] * _PER_UNIT, wrong[0] * _PER_UNIT, " %")
        return f"wave of height {height}, {_number(values[1], wrong[1])} waves"
    if name == "fisheye":
        x, y, strength = (_number(*one) for one in zip(values, wrong, strict=True))
        return f"fisheye at ({x}, {y}), strength {strength}"
    if name == "square":
        return rule.family.label(*values)
    if name == "reflection":
        return f"mirrored {rule.family.label(*values)}"
    return str(rule).strip()


def _mix(values: Sequence[float], errors: Sequence[float]) -> str:
    """A mirror image, turned, scaled and moved, without what may as well not have been done."""
    mirrored, degrees, factor, *moves = values
    turned = min(degrees % 360, -degrees % 360)
    parts = ["mirrored left-right"] if mirrored else []
    if _matters(turned, errors[1]):
        parts.append(f"rotation {_number(degrees, errors[1], '°')}")
    if _matters(factor - 1, errors[2]):
        parts.append(f"scale ×{_number(factor, errors[2])}")
    if any(map(_matters, moves, errors[3:])):
        parts.append(f"translation {_moved(moves, errors[3:])}")
    return ", ".join(parts) or "unchanged"


def _matters(change: float, error: float) -> bool:
    """Whether a change is more than three standard errors, and than rounding."""
    return abs(change) > max(3 * error, 1e-6)


def _moved(values: Sequence[float], errors: Sequence[float]) -> str:
    across, down = (value * _PER_UNIT for value in values)
    right = "right" if across >= 0 else "left"
    below = "down" if down >= 0 else "up"
    first = _number(abs(across), errors[0] * _PER_UNIT, " %")
    second = _number(abs(down), errors[1] * _PER_UNIT, " %")
    return f"{first} {right}, {second} {below}"


def _number(value: float, error: float, unit: str = "") -> str:
    """A number with as many digits as its error leaves sense in."""
    if error <= 0 or not math.isfinite(error):
        return f"{value:.4g}{unit}"
    digits = max(0, min(4, -math.floor(math.log10(error))))
    return f"{value:.{digits}f}{unit} ± {error:.{digits}f}"
