"""Puzzles for people: a sheet of them as PNG or SVG, or a few of them in the terminal.

    draw_sheet(puzzles, range(6), Path("puzzles.svg"), answers=True)
    groups = solved_and_missed(puzzles, result.chosen, solved=3, missed=3)       # {"solved": [...], "missed": [...]}
    draw_sheet(puzzles, groups, Path("answers.png"), chosen=result.chosen, probabilities=result.probabilities)
    show(puzzles, range(2), console=Console())

A mapping of headings to puzzle numbers is drawn as headed groups. ``chosen`` and ``probabilities`` have a row for every puzzle
of the set, as an Evaluation has them. No mark is a colour alone: each comes with a ✓, a ✗ or a word.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch, FancyBboxPatch
from numpy.typing import NDArray
from rich.console import Console
from rich.text import Text
from torch import Tensor

from fine.errors import FineError
from fine.images.resampling import shrink
from fine.puzzles import KINDS, RIGHT, WRONG, Puzzles
from fine.storage import written_whole

Numbers = Sequence[int] | Mapping[str, Sequence[int]]
"""Puzzles to draw: their numbers, or groups of numbers under headings."""
Chosen = Sequence[int] | NDArray[np.int64]
"""The place a model chose, 0 to 3, for every puzzle of a set."""

LETTERS = "ABCD"
FORMATS = ("png", "svg")
SHADES = " .:-=+*#%@"
"""Dark to bright, for terminals without colour."""

_TICK, _CROSS = "✓", "✗"
_COLOURS = {_TICK: "#1a7f37", _CROSS: "#cf222e"}
_INK, _QUIET, _LINE = "#1f2328", "#59636e", "#d1d9e0"
_ASCII = str.maketrans({"→": ">", _TICK: "v", _CROSS: "x", "×": "x", "°": "", "·": "-"})

# A sheet is laid out in CSS pixels: one column of puzzles is 900 wide, which a README shows at full size.
_LEFT = (0, 112, 232, 344, 472, 572, 672, 772)  # of x, y, x', the question mark, and the choices A to D
_SIDE, _MARGIN, _GUTTER, _GAP, _DPI = 80, 24, 64, 32, 96
_LONGEST = (40, 70)  # characters that fit in the two lines below x → y


def solved_and_missed(puzzles: Puzzles, chosen: Chosen, *, solved: int, missed: int) -> dict[str, list[int]]:
    """The first so many puzzles that were solved and that were missed, as groups to draw."""
    right = _checked(puzzles, chosen) == puzzles.answers
    groups = {"solved": np.flatnonzero(right)[:solved].tolist(), "missed": np.flatnonzero(~right)[:missed].tolist()}
    return {heading: numbers for heading, numbers in groups.items() if numbers}


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
    suffix = path.suffix.lower().removeprefix(".")
    if suffix not in FORMATS:
        raise FineError(f"cannot draw puzzles as '{path.name}': the name must end in .{' or .'.join(FORMATS)}")
    if probabilities is not None and np.shape(probabilities) != (len(puzzles), 4):
        raise FineError(f"probabilities have shape {np.shape(probabilities)}: expected a row a puzzle, ({len(puzzles)}, 4)")
    if columns < 1:
        raise FineError(f"a sheet cannot have {columns} columns: give at least 1")
    groups = _look(puzzles, numbers, answers, chosen)
    column = _LEFT[-1] + _SIDE + _GUTTER
    row = _SIDE + (48 if answers or chosen is not None else 26) + _GAP
    width = 2 * _MARGIN + columns * column - _GUTTER
    height = 2 * _MARGIN - _GAP + 48 * bool(title)
    height += sum(40 * bool(heading) + row * -(-len(views) // columns) for heading, views in groups.items())
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


def show(puzzles: Puzzles, numbers: Numbers, *, console: Console, answers: bool = False, chosen: Chosen | None = None) -> None:
    """Draw puzzles in the terminal, two pixels a character; in ASCII shades where there is no colour."""
    coloured = console.color_system in ("256", "truecolor") and not console.no_color and not console.options.ascii_only
    size = max(4, min(32, (console.width - 9) // 4 // 2 * 2))

    def write(line: Text) -> None:
        if console.options.ascii_only:
            line = Text(line.plain.translate(_ASCII).encode("ascii", "replace").decode())
        line.rstrip()
        console.print(line, no_wrap=True, overflow="crop", highlight=False)

    for heading, views in _look(puzzles, numbers, answers, chosen).items():
        if heading:
            write(Text(f"{heading}\n", style="bold"))
        for view in views:
            pictures = [_cells(picture, coloured) for picture in shrink(view.pictures, size)]
            blank = Text("?".center(size), style="bold")
            empty = Text(" " * size)
            question = [blank if line == len(pictures[0]) // 2 else empty for line in range(len(pictures[0]))]
            write(Text(" · ".join(filter(None, (f"puzzle {view.number}", view.rule, view.verdict))), style="dim"))
            for line in _beside([*pictures[:3], question], arrows=True):
                write(line)
            write(Text())
            for line in _beside(pictures[3:], arrows=False):
                write(line)
            labels = [f"{letter} {mark}".strip().center(size) for letter, mark in zip(LETTERS, view.marks, strict=True)]
            styles = [f"bold {_COLOURS.get(mark, '')}".strip() for mark in view.marks]
            write(Text("   ").join(Text(label, style=style) for label, style in zip(labels, styles, strict=True)))
            write(Text())


@dataclass(frozen=True)
class _View:
    """What there is to show of one puzzle; texts are empty where they are not to be told."""

    number: int
    pictures: Tensor
    """uint8 (7, channels, size, size)."""
    marks: Sequence[str]
    """Of each choice: _TICK, _CROSS or nothing."""
    kinds: Sequence[str]
    rule: str
    wrong_rule: str
    verdict: str
    """What the model answered."""


def _look(puzzles: Puzzles, numbers: Numbers, answers: bool, chosen: Chosen | None) -> dict[str, list[_View]]:
    places = None if chosen is None else _checked(puzzles, chosen)
    groups = numbers if isinstance(numbers, Mapping) else {"": numbers}
    every = [number for members in groups.values() for number in members]
    if not every:
        raise FineError("there are no puzzles to draw: give at least one puzzle number")
    for number in every:
        if not 0 <= number < len(puzzles):
            raise FineError(f"there is no puzzle {number}: the set has {len(puzzles)}, numbered from 0")
    pictures = iter(puzzles.render(every).pictures.mul(255).round().byte())

    def view(number: int) -> _View:
        picture, spec = next(pictures), puzzles.specs[number]
        if not answers and places is None:
            return _View(number, picture, [""] * 4, [""] * 4, "", "", "")
        kinds = [KINDS[kind] for kind in puzzles.kinds[number]]
        marks = [_TICK if kind == KINDS[0] else "" for kind in kinds]
        verdict = ""
        if places is not None:
            place = places[number]
            marks[place] = marks[place] or _CROSS
            verdict = f"answered {LETTERS[place]} {marks[place]} {kinds[place]}"
        right, wrong = (str(puzzles.rules.rules[spec[column]]) for column in (RIGHT, WRONG))
        return _View(number, picture, marks, kinds, right, wrong, verdict)

    return {heading: [view(number) for number in members] for heading, members in groups.items()}


def _checked(puzzles: Puzzles, chosen: Chosen) -> NDArray[np.int64]:
    places = np.asarray(chosen, dtype=np.int64)
    if places.shape != (len(puzzles),):
        raise FineError(f"chosen has shape {places.shape}: expected a place for every puzzle, ({len(puzzles)},)")
    if not np.isin(places, range(4)).all():
        raise FineError(f"chosen goes from {places.min()} to {places.max()}: a place is 0, 1, 2 or 3")
    return places


def _draw(axes: Axes, left: float, top: float, view: _View, percent: NDArray[Any] | None) -> None:
    """One puzzle of a sheet, its upper left corner at (left, top)."""
    x, y, second, question, *choices = (left + offset for offset in _LEFT)
    middle, caption = top + _SIDE / 2, top + _SIDE + 18
    for picture, start in zip(view.pictures.permute(0, 2, 3, 1).numpy(), (x, y, second, *choices), strict=True):
        extent = (start, start + _SIDE, top + _SIDE, top)
        # Not resampled ("none"): an SVG then holds the few pixels themselves and is told to keep their edges.
        axes.imshow(picture.squeeze(), cmap="gray", vmin=0, vmax=255, extent=extent, aspect="auto", interpolation="none")
        _frame(axes, start, top, _SIDE, _LINE, 1)
    for tip in (y, question):
        ends = ((tip - 26, middle), (tip - 6, middle))
        axes.add_patch(FancyArrowPatch(*ends, arrowstyle="->", mutation_scale=9, lw=1.2, color=_QUIET, shrinkA=0, shrinkB=0))
    _frame(axes, question, top, _SIDE, _LINE, 1)
    _write(axes, question + _SIDE / 2, middle, "?", size=26, colour=_QUIET, align="center")
    _write(axes, x, caption, _shortened(view.rule, _LONGEST[0]))
    _write(axes, second, caption, view.verdict, colour=_COLOURS[_CROSS if _CROSS in view.verdict else _TICK])
    if view.wrong_rule:
        _write(axes, x, caption + 18, _shortened(f"wrong rule: {view.wrong_rule}", _LONGEST[1]), colour=_QUIET)
    for place, choice in enumerate(choices):
        mark, kind = view.marks[place], view.kinds[place]
        colour = _COLOURS.get(mark, _INK)
        label = LETTERS[place] if percent is None else f"{LETTERS[place]}  {percent[place]:.0f}%"
        _write(axes, choice + _SIDE / 2, caption, label, size=13, colour=colour, align="center", weight="bold")
        _write(axes, choice + _SIDE / 2, caption + 18, kind, colour=colour if mark else _QUIET, align="center")
        if mark:
            _frame(axes, choice - 4, top - 4, _SIDE + 8, colour, 2)
            _badge(axes, choice + _SIDE + 1, top - 1, mark)


def _shortened(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _write(
    axes: Axes,
    x: float,
    y: float,
    text: str,
    *,
    size: float = 11,
    colour: str = _INK,
    align: str = "left",
    weight: str = "",
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
        parse_math=False,
    )


def _frame(axes: Axes, left: float, top: float, side: float, colour: str, width: float) -> None:
    """A square outline; pictures have one too, for a picture with a white side would run into the page."""
    style = f"round,pad=0,rounding_size={2 * width}"
    axes.add_patch(FancyBboxPatch((left, top), side, side, boxstyle=style, fill=False, edgecolor=colour, lw=width))


def _badge(axes: Axes, x: float, y: float, mark: str) -> None:
    """A tick or a cross in a disc, drawn as lines because fonts differ in where they put such glyphs."""
    axes.add_patch(Circle((x, y), 8.5, facecolor=_COLOURS[mark], edgecolor="white", lw=1.5, zorder=3))
    strokes = [((-4, -1, 4), (0, 3, -3))] if mark == _TICK else [((-3, 3), (-3, 3)), ((-3, 3), (3, -3))]
    for across, down in strokes:
        axes.plot(np.add(across, x), np.add(down, y), color="white", lw=1.6, solid_capstyle="round", zorder=4)


def _cells(picture: Tensor, coloured: bool) -> list[Text]:
    """A picture (channels, size, size) as lines of characters, each two pixels high."""
    if not coloured:
        brightness = picture.float().mean(0).unflatten(0, (-1, 2)).mean(1) / 255
        shades = (brightness.sqrt() * (len(SHADES) - 1)).round().int().tolist()  # the root keeps thin strokes readable
        rule = Text("-" * picture.shape[-1])  # shows where the picture ends, which its dark ground does not
        return [rule, *(Text("".join(SHADES[shade] for shade in row)) for row in shades), rule]
    if len(picture) == 1:  # lift the ground off black, so that a picture has an edge in a dark terminal
        picture = (28 + picture.float() * (227 / 255)).byte().expand(3, -1, -1)
    rows = picture.permute(1, 2, 0).tolist()
    return [
        Text.assemble(
            *(("▀", "rgb({},{},{}) on rgb({},{},{})".format(*top, *low)) for top, low in zip(upper, lower, strict=True))
        )
        for upper, lower in zip(rows[::2], rows[1::2], strict=True)
    ]


def _beside(pictures: Sequence[Sequence[Text]], *, arrows: bool) -> list[Text]:
    """Four pictures as one, the arrows at half height."""
    lines = [Text() for _ in pictures[0]]
    for position, picture in enumerate(pictures):
        for number, (line, part) in enumerate(zip(lines, picture, strict=True)):
            if position:
                line.append(" → " if arrows and position != 2 and number == len(lines) // 2 else "   ")
            line.append_text(part)
    return lines
