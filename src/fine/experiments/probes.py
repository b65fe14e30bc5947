"""A probe: something measured of a trained model besides accuracy on its own test puzzles.

Probe("variant", 2_000, {"name": "chain", "hints": 2})

It names one of `MEASURES` in measures.py, and is part of the key of its cell.
"""

from dataclasses import dataclass, field
from typing import Any

METRICS = {
    "accuracy": "Test accuracy in %",
    "share": "Share of functions in %",
    "AUROC": "AUROC in %, where 50 is chance",
    "rejection rate": "Puzzles answered “none of these” in %",
    "calibration error": "Expected calibration error in %",
}
"""What the value of a cell can be, and how a table says so."""

METRIC_OF = {
    "variant": "accuracy",
    "slots": "accuracy",
    "rotations": "share",
    "function-map": "share",
    "ood": "AUROC",
    "rejection": "rejection rate",
    "calibration": "calibration error",
}
"""The metric of each measure."""


@dataclass(frozen=True)
class Probe:
    """One measurement."""

    name: str
    """What is measured."""
    count: int
    """Puzzles it is measured on."""
    options: dict[str, Any] = field(default_factory=dict)
    """How; options not named have the measure's own defaults."""

    @property
    def metric(self) -> str:
        return METRIC_OF.get(self.name, "accuracy")
