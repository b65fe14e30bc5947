"""Variants of puzzles, as PNG or SVG and in a terminal: hints, what is asked, and choices."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.text import Text
from torch import Tensor

from fine.drawing.figures import figure_file, sheet_format
from fine.drawing.terminal import Tiles, choice_name
from fine.drawing.views import TICK, check_numbers
from fine.puzzles import RIGHT, WRONG
from fine.puzzles.variants import VariantPuzzles

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_GREEN, _RED, _INK, _LINE = "#1a7f37", "#cf222e", "#1f2328", "#d1d9e0"
_SPACE = 0.4  # between pairs, what is asked and choices, in images
_PITCH, _SIDE, _MARGIN = 0.95, 0.88, 0.1  # inches: from image to image, of an image, around all
_ROW = 1.35  # inches


def draw_variants(
    puzzles: VariantPuzzles,
    numbers: Sequence[int],
    path: Path,
    *,
    answers: bool = False,
    chosen: NDArray[np.int64] | None = None,
) -> None:
    """Draw puzzles in rows, PNG or SVG by the suffix of ``path``.

    ``answers`` marks what is right and names the rules, ``chosen`` marks what was taken.
    """
    sheet_format(path)
    check_numbers(puzzles, numbers)
    batch = puzzles.render(numbers)
    rows = len(numbers)
    spaces = puzzles.variant.hints + bool(puzzles.variant.kind.asks)
    width = _PITCH * (batch.images.shape[1] + _SPACE * spaces) + 2 * _MARGIN
    with figure_file(path, size=(width, _ROW * rows + _MARGIN)) as figure:
        for row, number in enumerate(numbers):
            right = int(batch.answers[row]) if answers else None
            taken = None if chosen is None else int(chosen[number])
            for place, image in enumerate(batch.images[row]):
                left = (_MARGIN + _PITCH * _position(puzzles, place)) / width
                box = (left, 1 - (row + 0.86) / rows, _SIDE / width, 0.62 / rows)
                label, choice = _label(puzzles, place)
                colour = None
                if choice is not None and choice in (right, taken):
                    colour = _GREEN if choice == right else _RED
                _draw_image(figure.add_axes(box), image, label, colour)
            caption = f"puzzle {number}, {_name(puzzles)}"
            if answers:
                caption += f": {_rules(puzzles, number)}"
            figure.text(0.01, 1 - (row + 0.14) / rows, caption, size=9)


def _position(puzzles: VariantPuzzles, place: int) -> float:
    """Where an image starts, in images: there is space after each hint and after what is asked."""
    pairs = puzzles.variant.hints
    beside_choices = puzzles.variant.kind.asks and place > 2 * pairs
    return place + _SPACE * min(place // 2, pairs) + (_SPACE if beside_choices else 0)


def _draw_image(axes: "Axes", image: Tensor, label: str, colour: str | None) -> None:
    """An image (channels, size, size) with its label; marked if it has a colour."""
    pixels = image.permute(1, 2, 0).squeeze().numpy()
    axes.imshow(pixels, cmap="gray", vmin=0, vmax=1, interpolation="none")
    axes.set(xticks=[], yticks=[])
    weight = "bold" if colour else "normal"
    axes.set_xlabel(label, size=9, labelpad=2, color=colour or _INK, weight=weight)
    for side in axes.spines.values():
        side.set(color=colour or _LINE, linewidth=2.5 if colour else 1)


def show_variants(
    puzzles: VariantPuzzles, numbers: Sequence[int], *, console: Console, answers: bool = False
) -> None:
    """Draw puzzles in the terminal: hints, two in a line, then what is asked, then the choices."""
    check_numbers(puzzles, numbers)
    tiles = Tiles(console)
    batch = puzzles.render(numbers)
    shown, asks = 2 * puzzles.variant.hints, bool(puzzles.variant.kind.asks)
    for row, number in enumerate(numbers):
        images = batch.images[row].mul(255).round().byte()
        right = int(batch.answers[row]) if answers else None
        caption = f"puzzle {number} · {_name(puzzles)}"
        if answers:
            caption += f" · {_rules(puzzles, number)}"
        tiles.write(Text(caption, style="dim"), wrap=True)
        for first in range(0, shown, 4):
            line = images[first : min(first + 4, shown)]
            tiles.beside(line, arrows=True)
            if not asks:
                pairs = range(first // 2, first // 2 + len(line) // 2)
                tiles.labels([_marked(pair, right) for pair in pairs], across=2)
        if asks:
            tiles.beside(images[shown : shown + 1], arrows=True, question=True)
            tiles.beside(images[shown + 1 :], arrows=False)
            choices = range(len(images) - shown - 1)
            tiles.labels([_marked(choice, right) for choice in choices])
        tiles.write(Text())


def _marked(choice: int, right: int | None) -> tuple[str, str]:
    """The label of a choice, and its style."""
    name = choice_name(choice)
    return (f"{name} {TICK}", "bold green") if choice == right else (name, "bold")


def _label(puzzles: VariantPuzzles, place: int) -> tuple[str, int | None]:
    """What stands below an image, and the choice that it belongs to, if any."""
    shown = 2 * puzzles.variant.hints
    if not puzzles.variant.kind.asks:  # the pairs themselves are the choices
        return (choice_name(place // 2) if place % 2 else ""), place // 2
    if place < shown:
        return "", None
    if place == shown:
        return puzzles.variant.kind.asks, None
    return choice_name(place - shown - 1), place - shown - 1


def _name(puzzles: VariantPuzzles) -> str:
    return str(puzzles.variant).partition(", by")[0]


def _rules(puzzles: VariantPuzzles, number: int) -> str:
    """The hidden rule of a puzzle; with an odd one out, both rules."""
    rules, spec = puzzles.rules.rules, puzzles.specs[number]
    hidden = str(rules[int(puzzles.hidden[number])])
    return puzzles.variant.kind.describe((hidden, str(rules[spec[RIGHT]]), str(rules[spec[WRONG]])))
