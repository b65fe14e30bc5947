"""Functions as readable JSON files, which may come from anyone.

    write_function(Path("turn.json"), found, "keep", "#ffffff")
    found, settings = read_function(Path("turn.json"))

    {
      "format": 2,
      "rule": "rotation 37.2° ± 0.2",
      "rules": [{"family": "rotation", "parameters": [37.21], "errors": [0.19]}],
      "residual": 0.012,
      …
    }

"rule" is for people; what counts are families and parameters, and they are checked.
"""

import itertools
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fine.apply import Settings
from fine.errors import FineError
from fine.geometry.frame import frame_points
from fine.inference.registration import Registered
from fine.io.files import read_json, write_json
from fine.io.typed_json import read_as
from fine.rules import Rule
from fine.rules.affine import family_of
from fine.rules.continuous import SQUARE_SYMMETRIES
from fine.rules.rule_map import RuleMap
from fine.version import __version__

FORMAT = 2
"""In files of format 1 the residual was called unexplained."""
MOST_RULES = 100
LARGEST = 1e4
"""Parameters beyond this are no rule for an image."""

_COUNTS = {
    **{"square": 4, "translation": 2, "rotation": 1, "reflection": 2, "scale": 1, "stretch": 2},
    **{"shear": 2, "any-mix": 5, "affine-map": 6, "negative": 0, "wave": 2, "fisheye": 3},
    **{"swap": 4, "black-white": 3},
}
_SENSIBLE: dict[str, Callable[..., bool]] = {
    "square": lambda *entries: entries in SQUARE_SYMMETRIES,
    "reflection": lambda *sides: sides in ((1, 0), (0, 1)),
    "scale": lambda factor: factor > 1e-3,
    "stretch": lambda wide, high: min(wide, high) > 1e-3,
    "shear": lambda across, down: max(abs(across), abs(down)) < 89,
    "any-mix": lambda mirrored, _degrees, factor, *_moved: mirrored in (0, 1) and factor > 1e-3,
    "affine-map": lambda a, b, c, d, *_moved: abs(a * d - b * c) > 1e-6,
    "swap": lambda *origins: origins in itertools.permutations(range(4)),
    "black-white": lambda axis, _cut, side: axis in (0, 1) and side in (-1, 1),
}
"""What parameters of a family must fulfil besides being numbers."""


@dataclass(frozen=True)
class SavedRule:
    """A rule in a file."""

    family: str
    parameters: tuple[float, ...]
    errors: tuple[float, ...] = ()


@dataclass(frozen=True)
class SavedFunction:
    """What a file holds."""

    format: int
    rules: tuple[SavedRule, ...]
    rule: str = ""
    residual: float = 0.0
    ambiguous: bool = False
    reason: str = ""
    canvas: str = "keep"
    background: str = ""
    version: str = ""


def write_function(path: Path, found: Registered, canvas: str, background: str) -> None:
    """Write a rule, and how it is drawn, whole or not at all."""
    rules = tuple(
        SavedRule(rule.family.name, rule.parameters, errors)
        for rule, errors in zip(found.rule.rules, found.errors, strict=True)
    )
    saved = SavedFunction(
        FORMAT,
        rules,
        str(found),
        found.residual,
        found.ambiguous,
        found.reason,
        canvas,
        background,
        __version__,
    )
    write_json(path, asdict(saved))


def read_function(path: Path) -> tuple[Registered, Settings]:
    """A rule that was written, and how it is drawn."""
    try:
        return _read(read_as(SavedFunction, _upgraded(read_json(path)), "the file"))
    except (ValueError, FineError) as problem:
        if str(path) in str(problem):
            raise
        raise FineError(
            f"{path} is no function that can be used ({problem}): give a file that f.save wrote"
        ) from problem


def _upgraded(content: Any) -> Any:
    """What a file holds, in words of today."""
    if not isinstance(content, dict) or content.get("format") != 1:
        return content
    renamed = {"unexplained": "residual"}
    return {renamed.get(name, name): value for name, value in content.items()} | {"format": FORMAT}


def _read(saved: SavedFunction) -> tuple[Registered, Settings]:
    if saved.format != FORMAT:
        raise ValueError(f"it has format {saved.format}, and 1 to {FORMAT} are read")
    if not 1 <= len(saved.rules) <= MOST_RULES:
        raise ValueError(f"it has {len(saved.rules)} rules, and 1 to {MOST_RULES} are read")
    if not 0 <= saved.residual < 100:
        raise ValueError(f"residual is {saved.residual:g}, and a share is expected")
    rules = tuple(_rule(one) for one in saved.rules)
    errors = tuple(one.errors or (0.0,) * len(one.parameters) for one in saved.rules)
    rule = RuleMap(rules)
    with np.errstate(all="ignore"):
        reach = np.abs(rule.sources(frame_points(5, 5, unit=2.5)))
    if not (np.isfinite(reach).all() and reach.max() < LARGEST):
        raise ValueError("its rules together lead nowhere")
    settings = Settings(canvas=saved.canvas, background=saved.background)  # type: ignore[arg-type]
    found = Registered(rule, errors, saved.residual, saved.ambiguous, saved.reason)
    return found, settings


def _rule(saved: SavedRule) -> Rule:
    name, values = saved.family, saved.parameters
    family = family_of(name)
    if family is None or name not in _COUNTS:
        raise ValueError(f"the family {name[:40]!r} is not known")
    if len(values) != _COUNTS[name] or len(saved.errors) not in (0, len(values)):
        raise ValueError(f"{name} has {len(values)} parameters where {_COUNTS[name]} are expected")
    if not all(abs(value) <= LARGEST for value in values):
        raise ValueError(f"a parameter of {name} is too large")
    if not all(0 <= error <= LARGEST for error in saved.errors):
        raise ValueError(f"an error of {name} is negative or too large")
    if name in _SENSIBLE and not _SENSIBLE[name](*values):
        raise ValueError(f"{name} cannot have the parameters {', '.join(f'{v:g}' for v in values)}")
    return Rule(family, tuple(float(value) for value in values))
