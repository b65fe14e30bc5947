"""Puzzles in a terminal, in half-block characters."""

from collections.abc import Callable, Sequence
from string import ascii_uppercase

from rich.console import Console
from rich.text import Text
from torch import Tensor

from fine.drawing.views import CROSS, LETTERS, TICK, Chosen, Numbers, View, look_at
from fine.images.resampling import shrink
from fine.puzzles import Puzzles

SHADES = " .:-=+*#%@"
"""Dark to bright, for terminals without colour."""

_ANSI = {TICK: "green", CROSS: "red", "": ""}  # a terminal's own green and red fit its own ground
_ASCII = str.maketrans({"→": ">", TICK: "v", CROSS: "x", "×": "x", "°": "", "·": "-", "█": "#", "░": "."})
_GROUND = 28  # brightness of black


def show(puzzles: Puzzles, numbers: Numbers, *, console: Console, answers: bool = False, chosen: Chosen | None = None) -> None:
    """Draw puzzles in the terminal, two pixels a character; in ASCII shades where there is no colour."""
    coloured, size, write = _means(console)
    for heading, views in look_at(puzzles, numbers, answers, chosen).items():
        if heading:
            write(Text(heading, style="bold"))
            write(Text())
        for view in views:
            if view.texts:
                _show_texts(view, write)
                continue
            pictures = [_cells(picture, coloured) for picture in shrink(view.pictures, size)]
            labels = Text("   ").join(
                Text(f"{letter} {mark}".strip().center(size), style=f"bold {_ANSI[mark]}".strip())
                for letter, mark in zip(LETTERS, view.marks, strict=True)
            )
            write(Text(" · ".join(filter(None, (f"puzzle {view.number}", view.rule, view.verdict))), style="dim"))
            for line in _beside([*pictures[:3], _question(size, coloured)], arrows=True):
                write(line)
            write(Text())
            for line in [*_beside(pictures[3:], arrows=False), labels, Text()]:
                write(line)


def _show_texts(view: View, write: Callable[[Text], None]) -> None:
    """A puzzle over strings: the example, the question and the choices, a line each."""
    x, y, new, *choices = view.texts
    labels = [
        Text(f"{letter} {choice} {mark}".strip(), style=_ANSI[mark])
        for letter, choice, mark in zip(LETTERS, choices, view.marks, strict=True)
    ]
    write(Text(" · ".join(filter(None, (f"puzzle {view.number}", view.rule, view.verdict))), style="dim"))
    for line in (Text(f"{x} → {y}"), Text(f"{new} → ?"), Text("   ").join(labels), Text()):
        write(line)


def show_solved(pictures: Tensor, *, console: Console, chosen: int | None = None) -> None:
    """Draw one puzzle with any number of choices, uint8 (3 + k, channels, 32, 32), and mark the one that was chosen."""
    coloured, size, write = _means(console)
    cells = [_cells(picture, coloured) for picture in shrink(pictures, size)]
    for line in _beside([*cells[:3], _question(size, coloured)], arrows=True):
        write(line)
    for first in range(0, len(cells) - 3, 4):
        row = cells[3 + first : 7 + first]
        labels = Text("   ").join(
            Text(f"{name} {TICK if number == chosen else ''}".strip().center(size), style="bold" if number == chosen else "")
            for number, name in ((number, choice_name(number)) for number in range(first, first + len(row)))
        )
        for line in [Text(), *_beside(row, arrows=False), labels]:
            write(line)
    write(Text())


class Tiles:
    """Pictures on a console, a line of them below another."""

    def __init__(self, console: Console):
        self.coloured, self.size, self.write = _means(console)

    def beside(self, pictures: Tensor, *, arrows: bool, question: bool = False) -> None:
        """Up to four pictures, uint8 (n, channels, size, size), in pairs with arrows between; or one, and a question mark."""
        cells = [_cells(picture, self.coloured) for picture in shrink(pictures, self.size)]
        for line in _beside([*cells, *([_question(self.size, self.coloured)] if question else [])], arrows=arrows):
            self.write(line)

    def labels(self, texts: Sequence[str], *, across: int = 1) -> None:
        """A text in the middle below every picture, or below every ``across`` of them."""
        width = across * self.size + 3 * (across - 1)
        self.write(Text("   ").join(Text(text.center(width), style="bold green" if TICK in text else "bold") for text in texts))


def show_bar(name: str, probability: float, *, console: Console, chosen: bool = False) -> None:
    """A line with a probability as a bar and in per cent."""
    _, _, write = _means(console)
    width = max(10, min(30, console.width - 50))
    full = round(probability * width)
    line = Text(f"{name}  ")
    line.append("█" * full, style="green" if chosen else "cyan")
    line.append("░" * (width - full), style="dim")
    write(line.append(f" {probability:6.1%}"))


def choice_name(number: int) -> str:
    """A, B … Z for the first 26 choices, then numbers from 27."""
    return ascii_uppercase[number] if number < len(ascii_uppercase) else str(number + 1)


def _means(console: Console) -> tuple[bool, int, Callable[[Text], None]]:
    """Whether a console has colours, how large a picture is drawn on it, and how a line is written to it."""
    coloured = console.color_system in ("256", "truecolor") and not console.no_color and not console.options.ascii_only
    size = max(4, min(32, (console.width - 9) // 4 // 2 * 2))

    def write(line: Text) -> None:
        if console.options.ascii_only:
            line = Text(line.plain.translate(_ASCII).encode("ascii", "replace").decode())
        if not coloured:  # spaces with a ground are part of a picture
            line.rstrip()
        console.print(line, no_wrap=True, overflow="crop", highlight=False)

    return coloured, size, write


def _cells(picture: Tensor, coloured: bool) -> list[Text]:
    """A picture (channels, size, size) as lines of characters, each two pixels high."""
    if not coloured:
        brightness = picture.float().mean(0).unflatten(0, (-1, 2)).mean(1) / 255
        shades = (brightness.sqrt() * (len(SHADES) - 1)).round().int().tolist()  # the root keeps thin strokes readable
        return _ruled([Text("".join(SHADES[shade] for shade in row)) for row in shades])
    if len(picture) == 1:  # lift the ground off black, so that a picture has an edge in a dark terminal
        picture = (_GROUND + picture.float() * (1 - _GROUND / 255)).byte().expand(3, -1, -1)
    rows = picture.permute(1, 2, 0).tolist()
    return [
        Text.assemble(*(("▀", f"{_rgb(top)} on {_rgb(low)}") for top, low in zip(upper, lower, strict=True)))
        for upper, lower in zip(rows[::2], rows[1::2], strict=True)
    ]


def _question(size: int, coloured: bool) -> list[Text]:
    style = f"bold white on {_rgb([_GROUND] * 3)}" if coloured else ""
    lines = [Text(("?" if line == size // 4 else "").center(size), style=style) for line in range(size // 2)]
    return lines if coloured else _ruled(lines)


def _rgb(colour: Sequence[int]) -> str:
    return "rgb({},{},{})".format(*colour)


def _ruled(lines: list[Text]) -> list[Text]:
    """A picture between two rules, which show where it ends when its dark ground does not."""
    rule = Text("-" * len(lines[0]))
    return [rule, *lines, rule]


def _beside(pictures: Sequence[Sequence[Text]], *, arrows: bool) -> list[Text]:
    """Four pictures as one, the arrows at half height."""
    lines = [Text() for _ in pictures[0]]
    for position, picture in enumerate(pictures):
        for number, (line, part) in enumerate(zip(lines, picture, strict=True)):
            if position:
                line.append(" → " if arrows and position != 2 and number == len(lines) // 2 else "   ")
            line.append_text(part)
    return lines
