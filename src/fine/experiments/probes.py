"""A probe: what is measured of a trained model besides how well it does on its own test puzzles.

Probe("question", 2_000, {"ask": "chain", "hints": 2})

It names one of `MEASURES` in `fine.experiments.measuring`, and is part of the key of its cell.
"""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Probe:
    """One measurement."""

    name: str
    """What is measured."""
    count: int
    """Puzzles it is measured on."""
    options: dict[str, Any] = field(default_factory=dict)
    """How; those not named are the measure's own defaults."""
