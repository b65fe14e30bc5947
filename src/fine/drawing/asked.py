"""Puzzles with another question, as PNG or SVG and in a terminal: the pairs, what is asked, and the choices."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure
from numpy.typing import NDArray
from rich.console import Console
from rich.text import Text

from fine.drawing.sheet import sheet_format
from fine.drawing.terminal import Tiles
from fine.drawing.views import LETTERS, TICK
from fine.puzzles import RIGHT, WRONG
from fine.questions import Asked
from fine.storage import written_whole

_GREEN, _RED, _INK, _LINE = "#1a7f37", "#cf222e", "#1f2328", "#d1d9e0"
_ROOM = 0.4  # between pairs and what is asked, in pictures


def draw_asked(
    puzzles: Asked, numbers: Sequence[int], path: Path, *, answers: bool = False, chosen: NDArray[np.int64] | None = None
) -> None:
    """Draw puzzles a line each; ``answers`` marks what is right and names the rules, ``chosen`` marks what was taken."""
    suffix = sheet_format(path)
    batch = puzzles.render(numbers)
    count = batch.pictures.shape[1]
    odd = puzzles.question.name == "odd-one-out"
    pairs = puzzles.question.hints
    wide = count + _ROOM * (pairs + (0 if odd else 1))
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "fine"}):
        figure = Figure(figsize=(0.95 * wide + 0.2, 1.35 * len(numbers) + 0.1), facecolor="white")
        for row, (number, pictures, answer) in enumerate(zip(numbers, batch.pictures, batch.answers.tolist(), strict=True)):
            for place, picture in enumerate(pictures):
                at = place + _ROOM * min(place // 2, pairs) + (_ROOM if not odd and place > 2 * pairs else 0)
                box = ((0.1 + 0.95 * at) / (0.95 * wide + 0.2), 1 - (row + 0.86) / len(numbers))
                axes = figure.add_axes((*box, 0.88 / (0.95 * wide + 0.2), 0.62 / len(numbers)))
                axes.imshow(picture.permute(1, 2, 0).squeeze().numpy(), cmap="gray", vmin=0, vmax=1, interpolation="none")
                axes.set(xticks=[], yticks=[])
                label, choice = _label(puzzles, place)
                right = answers and choice == answer
                taken = chosen is not None and choice == chosen[number]
                marked = right or taken
                colour = _GREEN if right else _RED
                axes.set_xlabel(
                    label, size=9, labelpad=2, color=colour if marked else _INK, weight="bold" if marked else "normal"
                )
                for side in axes.spines.values():
                    side.set(color=colour if marked else _LINE, linewidth=2.5 if marked else 1)
            told = f": {_rules(puzzles, number)}" if answers else ""
            figure.text(0.01, 1 - (row + 0.14) / len(numbers), f"puzzle {number}, {_name(puzzles)}{told}", size=9)
        with written_whole(path) as temporary:
            metadata = {"Date": None} if suffix == "svg" else None
            figure.savefig(temporary, format=suffix, dpi=160, metadata=metadata)


def show_asked(puzzles: Asked, numbers: Sequence[int], *, console: Console, answers: bool = False) -> None:
    """Draw puzzles in the terminal: two pairs a line, then what is asked, then the choices."""
    tiles = Tiles(console)
    batch = puzzles.render(numbers)
    shown, odd = 2 * puzzles.question.hints, puzzles.question.name == "odd-one-out"
    for number, pictures, answer in zip(numbers, batch.pictures.mul(255).round().byte(), batch.answers.tolist(), strict=True):
        told = f" · {_rules(puzzles, number)}" if answers else ""
        tiles.write(Text(f"puzzle {number} · {_name(puzzles)}{told}", style="dim"))
        for first in range(0, shown, 4):
            line = pictures[first : min(first + 4, shown)]
            tiles.beside(line, arrows=True)
            if odd:
                pairs = range(first // 2, first // 2 + len(line) // 2)
                tiles.labels([_marked(pair, answers and pair == answer) for pair in pairs], across=2)
        if not odd:
            tiles.beside(pictures[shown : shown + 1], arrows=True, question=True)
            tiles.beside(pictures[shown + 1 :], arrows=False)
            tiles.labels([_marked(choice, answers and choice == answer) for choice in range(4)])
        tiles.write(Text())


def _marked(choice: int, right: bool) -> str:
    return f"{_letter(choice)} {TICK}" if right else _letter(choice)


def _letter(choice: int) -> str:
    return LETTERS[choice] if choice < len(LETTERS) else chr(ord("A") + choice)


def _label(puzzles: Asked, place: int) -> tuple[str, int]:
    """What stands below a picture, and which choice it belongs to; −1: none."""
    shown = 2 * puzzles.question.hints
    if puzzles.question.name == "odd-one-out":
        return (_letter(place // 2) if place % 2 else ""), place // 2
    if place < shown:
        return "", -1
    if place == shown:
        return ("y′ was …" if puzzles.question.name == "backwards" else "x′ becomes …"), -1
    return _letter(place - shown - 1), place - shown - 1


def _name(puzzles: Asked) -> str:
    return str(puzzles.question).partition(", by")[0]


def _rules(puzzles: Asked, number: int) -> str:
    """The hidden rule of a puzzle, and of the odd one out the other."""
    rules, spec = puzzles.rules.rules, puzzles.specs[number]
    hidden = str(rules[int(puzzles.hidden[number])])
    if puzzles.question.name == "odd-one-out":
        return f"{rules[spec[RIGHT]]}, but for one: {rules[spec[WRONG]]}"
    return f"{hidden} and others" if puzzles.question.name == "chain" else hidden
