"""A sheet of puzzles as PNG or SVG."""

from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fine.drawing.figures import figure_file, sheet_format
from fine.drawing.views import CROSS, LETTERS, TICK, Chosen, Numbers, View, make_views
from fine.errors import FineError
from fine.puzzles import Puzzles

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARK_COLOURS = {TICK: "#1a7f37", CROSS: "#cf222e"}
_STROKES = {
    TICK: [((-4, -1, 4), (0, 3, -3))],
    CROSS: [((-3, 3), (-3, 3)), ((-3, 3), (3, -3))],
}
"""Lines across and down from the middle of a badge."""
_INK, _QUIET, _LINE = "#1f2328", "#59636e", "#d1d9e0"

# A sheet is laid out in CSS pixels. One column of puzzles is 900 wide: a README shows all of it.
_LEFT = (0, 112, 232, 344, 472, 572, 672, 772)  # of x, y, x', the question mark, and A to D
_SIDE, _MARGIN, _GUTTER, _GAP, _DPI = 80, 24, 64, 32, 96
_COLUMN = _LEFT[-1] + _SIDE + _GUTTER  # from one column to the next
_TITLE, _HEADING = 48, 40  # heights
_CAPTION, _ANSWERS = 26, 48  # heights below a puzzle, without and with answers
_LONGEST = (40, 70)  # characters that fit into the two lines below x → y
_LETTERS_IN_LINE = 8  # of a string, in a square


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
    """Draw puzzles to a file, PNG or SVG by the suffix of ``path``.

    Args:
        puzzles: The puzzles.
        numbers: Which of them to draw, or groups of numbers under headings.
        path: The file.
        answers: Mark the right choices and name the rules.
        chosen: What a model chose, for every puzzle; marks that, and the answers.
        probabilities: (n, 4), written below the choices.
        title: A line above all puzzles.
        columns: Puzzles side by side.

    Examples:
        >>> import fine
        >>> from pathlib import Path
        >>> task = fine.Task(images="glyphs", rules="rotation", test_classes=20, test_count=10)
        >>> puzzles = task.test_puzzles()
        >>> fine.draw_sheet(puzzles, range(2), Path("puzzles.svg"), answers=True)
    """
    sheet_format(path)  # refuse a wrong name before the work, not after it
    if probabilities is not None and np.shape(probabilities) != (len(puzzles), 4):
        raise FineError(
            f"probabilities have shape {np.shape(probabilities)}: expected a row for every puzzle, "
            f"({len(puzzles)}, 4)"
        )
    if columns < 1:
        raise FineError(f"a sheet cannot have {columns} columns: give at least 1")
    groups = make_views(puzzles, numbers, answers=answers, chosen=chosen)
    row = _SIDE + (_ANSWERS if answers or chosen is not None else _CAPTION) + _GAP
    width = 2 * _MARGIN + columns * _COLUMN - _GUTTER
    height = 2 * _MARGIN - _GAP + _TITLE * bool(title)
    for heading, views in groups.items():
        height += _HEADING * bool(heading) + row * -(-len(views) // columns)
    size = (width / _DPI, height / _DPI)
    with figure_file(path, size=size, dpi=2 * _DPI, title=title or "puzzles") as figure:
        axes = figure.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(height, 0))
        axes.set_axis_off()
        top = _MARGIN
        if title:
            _write(axes, _MARGIN, top + 10, title, size=18, weight="bold")
            top += _TITLE
        for heading, views in groups.items():
            if heading:
                _write(axes, _MARGIN, top + 8, heading, size=15, weight="bold")
                top += _HEADING
            for position, view in enumerate(views):
                percent = None if probabilities is None else 100 * probabilities[view.number]
                left = _MARGIN + position % columns * _COLUMN
                _draw(axes, left, top + position // columns * row, view, percent)
            top += row * -(-len(views) // columns)


def _draw(axes: "Axes", left: float, top: float, view: View, percent: NDArray[Any] | None) -> None:
    """One puzzle of a sheet, its upper left corner at (left, top)."""
    from matplotlib.patches import FancyArrowPatch  # noqa: PLC0415

    x, y, new, question, *choices = (left + offset for offset in _LEFT)
    middle, caption = top + _SIDE / 2, top + _SIDE + 18
    for number, start in enumerate((x, y, new, *choices)):
        if view.strings:
            _write_string(axes, start + _SIDE / 2, middle, view.strings[number])
        else:
            _draw_image(axes, start, top, view.images[number].permute(1, 2, 0).squeeze().numpy())
        _frame(axes, start, top, _SIDE, _LINE, 1)
    arrow: Any = {"arrowstyle": "->", "mutation_scale": 9, "lw": 1.2, "color": _QUIET}
    for tip in (y, question):
        ends = ((tip - 26, middle), (tip - 6, middle))
        axes.add_patch(FancyArrowPatch(*ends, **arrow, shrinkA=0, shrinkB=0))
    _frame(axes, question, top, _SIDE, _LINE, 1)
    _write(axes, question + _SIDE / 2, middle, "?", size=26, colour=_QUIET, align="center")
    _write(axes, x, caption, _shortened(view.rule, _LONGEST[0]))
    answered_colour = _MARK_COLOURS[CROSS if CROSS in view.answered else TICK]
    _write(axes, new, caption, view.answered, colour=answered_colour)
    if view.wrong_rule:
        wrong = _shortened(f"wrong rule: {view.wrong_rule}", _LONGEST[1])
        _write(axes, x, caption + 18, wrong, colour=_QUIET)
    for place, choice in enumerate(choices):
        mark, kind = view.marks[place], view.kinds[place]
        colour = _MARK_COLOURS.get(mark, _INK)
        middle_of_choice = choice + _SIDE / 2
        letter = LETTERS[place]
        label = letter if percent is None else f"{letter} {percent[place]:.0f}%"
        bold = {"colour": colour, "align": "center", "weight": "bold"}
        _write(axes, middle_of_choice, caption, label, size=13, **bold)
        kind_colour = colour if mark else _QUIET
        _write(axes, middle_of_choice, caption + 18, kind, colour=kind_colour, align="center")
        if mark:
            _frame(axes, choice - 4, top - 4, _SIDE + 8, colour, 2)
            _badge(axes, choice + _SIDE + 1, top - 1, mark)


def _draw_image(axes: "Axes", left: float, top: float, pixels: NDArray[np.uint8]) -> None:
    extent = (left, left + _SIDE, top + _SIDE, top)
    # "none": not resampled. An SVG then holds the few pixels themselves, with their edges.
    axes.imshow(
        pixels, cmap="gray", vmin=0, vmax=255, extent=extent, aspect="auto", interpolation="none"
    )


def _write_string(axes: "Axes", x: float, y: float, text: str) -> None:
    """A string in the middle of its square, in as many lines as it needs."""
    lines = wrap(text, _LETTERS_IN_LINE)
    for number, line in enumerate(lines):
        at = y + 18 * (number - (len(lines) - 1) / 2)
        _write(axes, x, at, line, size=14, align="center", family="monospace")


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
    weight: str = "normal",
    family: str = "sans-serif",
) -> None:
    axes.text(
        x,
        y,
        text,
        size=size * 72 / _DPI,
        color=colour,
        ha=align,
        va="center_baseline",
        weight=weight,
        family=family,
        parse_math=False,
    )


def _frame(axes: "Axes", left: float, top: float, side: float, colour: str, width: float) -> None:
    """A square outline; images have one too, or one with a white side would run into the page."""
    from matplotlib.patches import FancyBboxPatch  # noqa: PLC0415

    style = f"round,pad=0,rounding_size={2 * width}"
    look: Any = {"boxstyle": style, "fill": False, "edgecolor": colour, "lw": width}
    axes.add_patch(FancyBboxPatch((left, top), side, side, **look))


def _badge(axes: "Axes", x: float, y: float, mark: str) -> None:
    """A tick or a cross in a disc, drawn as lines: fonts differ in where they put such glyphs."""
    from matplotlib.patches import Circle  # noqa: PLC0415

    colour = _MARK_COLOURS[mark]
    axes.add_patch(Circle((x, y), 8.5, facecolor=colour, edgecolor="white", lw=1.5, zorder=3))
    strokes: Any = _STROKES[mark]
    line: Any = {"color": "white", "lw": 1.6, "solid_capstyle": "round", "zorder": 4}
    for across, down in strokes:
        axes.plot(np.add(across, x), np.add(down, y), **line)
