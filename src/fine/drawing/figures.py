"""Figures that are written to PNG or SVG files, whole or not at all.

with figure_file(Path("map.svg"), size=(4, 3)) as figure:
    figure.add_axes((0, 0, 1, 1)).plot(x, y)
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from fine.errors import FineError
from fine.io.files import written_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = ("png", "svg")

_STYLE: Any = {
    "svg.fonttype": "none",  # text stays text in an SVG: small, searchable, sharp
    "svg.hashsalt": "fine",  # the same ids every time
    "font.sans-serif": ["DejaVu Sans", "Arial"],
}


def sheet_format(path: Path) -> str:
    """The format that a file of this name is drawn in, or an error that names the formats."""
    suffix = path.suffix.lower().removeprefix(".")
    if suffix not in FORMATS:
        endings = " or .".join(FORMATS)
        raise FineError(f"cannot draw '{path.name}': the name must end in .{endings}")
    return suffix


@contextmanager
def figure_file(
    path: Path,
    *,
    size: tuple[float, float],
    dpi: int = 160,
    layout: Literal["constrained"] | None = None,
    title: str = "",
) -> Iterator["Figure"]:
    """A white figure of ``size`` inches to draw on, written to ``path`` when the block ends."""
    suffix = sheet_format(path)
    # Importing matplotlib takes a third of a second: only those who draw wait for it.
    from matplotlib import rc_context  # noqa: PLC0415
    from matplotlib.figure import Figure  # noqa: PLC0415

    with rc_context(_STYLE):
        figure = Figure(figsize=size, facecolor="white", layout=layout)
        yield figure
        metadata: dict[str, str | None] = {"Date": None} if suffix == "svg" else {}
        if suffix == "svg" and title:
            metadata["Title"] = title
        with written_whole(path) as temporary:
            figure.savefig(temporary, format=suffix, dpi=dpi, metadata=metadata)
