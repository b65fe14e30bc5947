"""What an output folder holds the results of: a small file in it, which a second run compares.

Without it, a run with another rule would take the results of the first for its own and skip them.
"""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from fine.apply.settings import Settings
from fine.errors import FineError
from fine.geometry.point_map import PartlyNegativeMap, PointMap
from fine.io.files import read_json, remove_leftovers_of, write_json

NAME = ".fine-apply.json"
_FORMAT = 1
_TICKS = np.array([-0.8, -0.3, 0.1, 0.7])  # frame units
_POINTS = np.stack(np.meshgrid(_TICKS, _TICKS), axis=-1).reshape(-1, 2)  # a map is known by these
_SAME = 1e-4  # frame units, a tenth of a pixel among 2,000


class Record:
    """The record of one output folder."""

    def __init__(self, out: Path, point_map: PointMap, settings: Settings, name: str):
        self._out = out
        self._content: dict[str, Any] = {
            "format": _FORMAT,
            "rule": name,
            "negative": _negative(point_map),
            "points": _probed(point_map),
            "settings": asdict(settings),
        }

    def begin(self, *, overwrite: bool) -> None:
        """Refuse a folder with results of something else; write what it holds from now on.

        While results are replaced, old and new lie side by side, which the record says too.
        """
        path = self._out / NAME
        remove_leftovers_of(path)
        if path.exists() and not overwrite:
            found = read_json(path)
            if found.get("replacing"):
                raise FineError(
                    f"{self._out} holds old and new results, for replacing them was stopped: run "
                    "again with --overwrite"
                )
            if not self._same_as(found):
                raise FineError(
                    f"{self._out} holds results of {found.get('rule', 'something else')}, or of "
                    "other settings: choose another --out, or replace them with --overwrite"
                )
            return
        write_json(path, {**self._content, "replacing": overwrite})

    def end(self) -> None:
        """All results are there."""
        write_json(self._out / NAME, {**self._content, "replacing": False})

    def _same_as(self, found: dict[str, Any]) -> bool:
        if any(found.get(key) != self._content[key] for key in ("format", "negative", "settings")):
            return False
        try:
            points = np.array(found.get("points"), dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            return False
        own = np.array(self._content["points"], dtype=np.float64)
        return points.shape == own.shape and np.allclose(points, own, atol=_SAME, equal_nan=True)


def _negative(point_map: PointMap) -> list[bool]:
    """Whether a map negates a few points."""
    if isinstance(point_map, PartlyNegativeMap) and point_map.partly_negative:
        return [bool(negated) for negated in point_map.negative_at(_POINTS)]
    return [bool(point_map.negative)] * len(_POINTS)


def _probed(point_map: PointMap) -> list[list[float | None]]:
    """Where a map takes a few points; None where that is no number."""
    sources = np.asarray(point_map.sources(_POINTS), dtype=np.float64)
    return [
        [round(float(value), 6) if np.isfinite(value) else None for value in point]
        for point in sources
    ]
