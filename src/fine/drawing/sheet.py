"""A sheet of puzzles as PNG or SVG."""

from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fine.drawing.views import CROSS, LETTERS, TICK, Chosen, Numbers, View, look_at
from fine.errors import FineError
from fine.puzzles import Puzzles
from fine.storage import written_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes  # matplotlib is imported where something is drawn: it takes a third of a second

FORMATS = ("png", "svg")

_COLOURS = {TICK: "#1a7f37", CROSS: "#cf222e"}
_INK, _QUIET, _LINE = "#1f2328", "#59636e", "#d1d9e0"

# A sheet is laid out in CSS pixels: one column of puzzles is 900 wide, which a README shows at full size.
_LEFT = (0, 112, 232, 344, 472, 572, 672, 772)  # of x, y, x', the question mark, and the choices A to D
_SIDE, _MARGIN, _GUTTER, _GAP, _DPI = 80, 24, 64, 32, 96
_LONGEST = (40, 70)  # characters that fit in the two lines below x → y
_LETTERS_A_LINE = 8  # of a string, in a square


def sheet_format(path: Path) -> str:
    """The format a sheet called ``path`` is drawn in, or an error that names those there are."""
    suffix = path.suffix.lower().removeprefix(".")
    if suffix not in FORMATS:
        raise FineError(f"cannot draw puzzles as '{path.name}': the name must end in .{' or .'.join(FORMATS)}")
    return suffix


def draw_sheet(
    puzzles: Puzzles,
    numbers: Numbers,
    path: Path,
    *,
    answers: bool = False,
    chosen: Chosen | None = None,
    probabilities: NDArray[Any] | None = None,
    title: str = "",
    columns: int = 1,
) -> None:
    """Draw puzzles as a picture file, PNG or SVG by the suffix of ``path``.

    ``answers`` marks the right choices and names the rules; ``chosen`` does that and marks what a model chose;
    ``probabilities`` (n, 4) are written below the choices.
    """
    suffix = sheet_format(path)
    if probabilities is not None and np.shape(probabilities) != (len(puzzles), 4):
        raise FineError(f"probabilities have shape {np.shape(probabilities)}: expected a row a puzzle, ({len(puzzles)}, 4)")
    if columns < 1:
        raise FineError(f"a sheet cannot have {columns} columns: give at least 1")
    groups = look_at(puzzles, numbers, answers, chosen)
    column = _LEFT[-1] + _SIDE + _GUTTER
    row = _SIDE + (48 if answers or chosen is not None else 26) + _GAP
    width = 2 * _MARGIN + columns * column - _GUTTER
    height = 2 * _MARGIN - _GAP + 48 * bool(title)
    height += sum(40 * bool(heading) + row * -(-len(views) // columns) for heading, views in groups.items())
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    # Text stays text in an SVG: small, searchable, sharp. The salt makes its ids the same every time.
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "fine", "font.sans-serif": ["DejaVu Sans", "Arial"]}):
        figure = Figure(figsize=(width / _DPI, height / _DPI), facecolor="white")
        axes = figure.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(height, 0))
        axes.set_axis_off()
        top = _MARGIN
        if title:
            _write(axes, _MARGIN, top + 10, title, size=18, weight="bold")
            top += 48
        for heading, views in groups.items():
            if heading:
                _write(axes, _MARGIN, top + 8, heading, size=15, weight="bold")
                top += 40
            for position, view in enumerate(views):
                percent = None if probabilities is None else 100 * probabilities[view.number]
                _draw(axes, _MARGIN + position % columns * column, top + position // columns * row, view, percent)
            top += row * -(-len(views) // columns)
        with written_whole(path) as temporary:
            metadata = {"Date": None, "Title": title or "puzzles"} if suffix == "svg" else None
            figure.savefig(temporary, format=suffix, dpi=2 * _DPI, metadata=metadata)


def _draw(axes: "Axes", left: float, top: float, view: View, percent: NDArray[Any] | None) -> None:
    """One puzzle of a sheet, its upper left corner at (left, top)."""
    from matplotlib.patches import FancyArrowPatch

    x, y, second, question, *choices = (left + offset for offset in _LEFT)
    middle, caption = top + _SIDE / 2, top + _SIDE + 18
    for number, start in enumerate((x, y, second, *choices)):
        if view.texts:
            _write_string(axes, start + _SIDE / 2, middle, view.texts[number])
        else:
            picture = view.pictures[number].permute(1, 2, 0).squeeze().numpy()
            extent = (start, start + _SIDE, top + _SIDE, top)
            # Not resampled ("none"): an SVG then holds the few pixels themselves and is told to keep their edges.
            axes.imshow(picture, cmap="gray", vmin=0, vmax=255, extent=extent, aspect="auto", interpolation="none")
        _frame(axes, start, top, _SIDE, _LINE, 1)
    for tip in (y, question):
        ends = ((tip - 26, middle), (tip - 6, middle))
        axes.add_patch(FancyArrowPatch(*ends, arrowstyle="->", mutation_scale=9, lw=1.2, color=_QUIET, shrinkA=0, shrinkB=0))
    _frame(axes, question, top, _SIDE, _LINE, 1)
    _write(axes, question + _SIDE / 2, middle, "?", size=26, colour=_QUIET, align="center")
    _write(axes, x, caption, _shortened(view.rule, _LONGEST[0]))
    _write(axes, second, caption, view.verdict, colour=_COLOURS[CROSS if CROSS in view.verdict else TICK])
    if view.wrong_rule:
        _write(axes, x, caption + 18, _shortened(f"wrong rule: {view.wrong_rule}", _LONGEST[1]), colour=_QUIET)
    for place, choice in enumerate(choices):
        mark, kind = view.marks[place], view.kinds[place]
        colour = _COLOURS.get(mark, _INK)
        label = LETTERS[place] if percent is None else f"{LETTERS[place]} {percent[place]:.0f}%"
        _write(axes, choice + _SIDE / 2, caption, label, size=13, colour=colour, align="center", weight="bold")
        _write(axes, choice + _SIDE / 2, caption + 18, kind, colour=colour if mark else _QUIET, align="center")
        if mark:
            _frame(axes, choice - 4, top - 4, _SIDE + 8, colour, 2)
            _badge(axes, choice + _SIDE + 1, top - 1, mark)


def _write_string(axes: "Axes", x: float, y: float, text: str) -> None:
    """A string in the middle of its square, in as many lines as it needs."""
    lines = wrap(text, _LETTERS_A_LINE)
    for number, line in enumerate(lines):
        _write(axes, x, y + 18 * (number - (len(lines) - 1) / 2), line, size=14, align="center", family="monospace")


def _shortened(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _write(
    axes: "Axes",
    x: float,
    y: float,
    text: str,
    *,
    size: float = 11,
    colour: str = _INK,
    align: str = "left",
    weight: str = "",
    family: str = "sans-serif",
) -> None:
    points = size * 72 / _DPI
    axes.text(
        x,
        y,
        text,
        size=points,
        color=colour,
        ha=align,
        va="center_baseline",
        weight=weight or "normal",
        family=family,
        parse_math=False,
    )


def _frame(axes: "Axes", left: float, top: float, side: float, colour: str, width: float) -> None:
    """A square outline; pictures have one too, for a picture with a white side would run into the page."""
    from matplotlib.patches import FancyBboxPatch

    style = f"round,pad=0,rounding_size={2 * width}"
    axes.add_patch(FancyBboxPatch((left, top), side, side, boxstyle=style, fill=False, edgecolor=colour, lw=width))


def _badge(axes: "Axes", x: float, y: float, mark: str) -> None:
    """A tick or a cross in a disc, drawn as lines because fonts differ in where they put such glyphs."""
    from matplotlib.patches import Circle

    axes.add_patch(Circle((x, y), 8.5, facecolor=_COLOURS[mark], edgecolor="white", lw=1.5, zorder=3))
    strokes = [((-4, -1, 4), (0, 3, -3))] if mark == TICK else [((-3, 3), (-3, 3)), ((-3, 3), (3, -3))]
    for across, down in strokes:
        axes.plot(np.add(across, x), np.add(down, y), color="white", lw=1.6, solid_capstyle="round", zorder=4)
