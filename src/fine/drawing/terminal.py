"""Puzzles in a terminal, in half-block characters."""

from collections.abc import Sequence
from string import ascii_uppercase

from rich.console import Console, OverflowMethod
from rich.text import Text
from torch import Tensor

from fine.drawing.views import CROSS, LETTERS, TICK, Chosen, Numbers, View, make_views
from fine.images.resampling import shrink
from fine.puzzles import Puzzles

SHADES = " .:-=+*#%@"
"""Dark to bright, for terminals without colour."""

_ANSI = {TICK: "green", CROSS: "red", "": ""}  # a terminal's own green and red fit its background
_ASCII = str.maketrans(
    {"→": ">", TICK: "v", CROSS: "x", "×": "x", "°": "", "·": "-", "█": "#", "░": "."}
)
_BLACK = 28  # brightness that black is shown with, so that an image has an edge in a dark terminal
_SPACE = "   "  # between images


def show(
    puzzles: Puzzles,
    numbers: Numbers,
    *,
    console: Console,
    answers: bool = False,
    chosen: Chosen | None = None,
) -> None:
    """Draw puzzles in the terminal, two pixels a character; without colour, in ASCII shades.

    Args:
        puzzles: The puzzles.
        numbers: Which of them to draw, or groups of numbers under headings.
        console: A console of rich.
        answers: Mark the right choices and name the rules.
        chosen: What a model chose, for every puzzle; marks that, and the answers.

    Examples:
        >>> import fine
        >>> from rich.console import Console
        >>> task = fine.Task(images="glyphs", rules="rotation", test_classes=20, test_count=10)
        >>> puzzles = task.test_puzzles()
        >>> fine.show(puzzles, [0], console=Console(), answers=True)  # doctest: +ELLIPSIS
        puzzle 0 · rotation ...
    """
    tiles = Tiles(console)
    for heading, views in make_views(puzzles, numbers, answers=answers, chosen=chosen).items():
        if heading:
            tiles.write(Text(heading, style="bold"))
            tiles.write(Text())
        for view in views:
            tiles.write(Text(view.caption, style="dim"), wrap=True)
            if view.strings:
                _show_strings(view, tiles)
            else:
                _show_images(view, tiles)
            tiles.write(Text())


def _show_images(view: View, tiles: "Tiles") -> None:
    tiles.beside(view.images[:3], arrows=True, question=True)
    tiles.write(Text())
    tiles.beside(view.images[3:], arrows=False)
    marked = zip(LETTERS, view.marks, strict=True)
    tiles.labels(
        [(f"{letter} {mark}".strip(), f"bold {_ANSI[mark]}".strip()) for letter, mark in marked]
    )


def _show_strings(view: View, tiles: "Tiles") -> None:
    """A puzzle about strings: the hint, what is asked, and the choices, in a line each."""
    x, y, new, *choices = view.strings
    tiles.write(Text(f"{x} → {y}"))
    tiles.write(Text(f"{new} → ?"))
    labels = [
        Text(f"{letter} {choice} {mark}".strip(), style=_ANSI[mark])
        for letter, choice, mark in zip(LETTERS, choices, view.marks, strict=True)
    ]
    tiles.write(Text(_SPACE).join(labels))


def show_solved(images: Tensor, *, console: Console, chosen: int | None = None) -> None:
    """Draw one puzzle and mark the choice that was taken.

    The images are uint8 (3 + k, channels, size, size): x, y, x' and any number of choices.
    """
    tiles = Tiles(console)
    tiles.beside(images[:3], arrows=True, question=True)
    choices = images[3:]
    for first in range(0, len(choices), 4):
        row = choices[first : first + 4]
        tiles.write(Text())
        tiles.beside(row, arrows=False)
        names = {number: choice_name(number) for number in range(first, first + len(row))}
        tiles.labels(
            [
                (f"{name} {TICK}", "bold") if number == chosen else (name, "")
                for number, name in names.items()
            ]
        )
    tiles.write(Text())


def show_bar(name: str, probability: float, *, console: Console, chosen: bool = False) -> None:
    """A line with a probability as a bar and in per cent; beside a long name there is no bar."""
    width = max(10, min(30, console.width - 50))
    if len(name) + 2 + width + len(" 100.0%") > console.width:
        Tiles(console).write(Text(f"{probability:6.1%}  {name}"), wrap=True)
        return
    full = round(probability * width)
    line = Text(f"{name}  ")
    line.append("█" * full, style="green" if chosen else "cyan")
    line.append("░" * (width - full), style="dim")
    Tiles(console).write(line.append(f" {probability:6.1%}"))


def choice_name(number: int) -> str:
    """A, B … Z for the first 26 choices, then numbers from 27."""
    return ascii_uppercase[number] if number < len(ascii_uppercase) else str(number + 1)


class Tiles:
    """Images on a console, in rows of up to four."""

    def __init__(self, console: Console):
        self.console = console
        self.ascii_only = console.options.ascii_only
        has_colours = console.color_system in ("256", "truecolor") and not console.no_color
        self.coloured = has_colours and not self.ascii_only
        self.size = max(4, min(32, (console.width - 9) // 4 // 2 * 2))  # characters across an image

    def write(self, line: Text, *, wrap: bool = False) -> None:
        """Write a line, in the characters that the console has; cut it at the edge, or ``wrap``."""
        if self.ascii_only:
            line = Text(line.plain.translate(_ASCII).encode("ascii", "replace").decode())
        if not self.coloured:  # with colours, spaces at the end are part of an image
            line.rstrip()
        overflow: OverflowMethod = "fold" if wrap else "crop"
        self.console.print(line, no_wrap=not wrap, overflow=overflow, highlight=False)

    def beside(self, images: Tensor, *, arrows: bool, question: bool = False) -> None:
        """Images side by side, uint8 (n, channels, size, size), and perhaps a question mark.

        ``arrows`` stand between the first and the second, and between the third and the fourth.
        """
        tiles = [self._tile(image) for image in shrink(images, self.size)]
        if question:
            tiles.append(self._question())
        for number, parts in enumerate(zip(*tiles, strict=True)):
            line = Text()
            at_half_height = number == len(tiles[0]) // 2
            for place, part in enumerate(parts):
                arrow = arrows and at_half_height and place != 2
                if place:
                    line.append(" → " if arrow else _SPACE)
                line.append_text(part)
            self.write(line)

    def labels(self, labels: Sequence[tuple[str, str]], *, across: int = 1) -> None:
        """(text, style) centred below every image, or below every ``across`` of them."""
        width = across * self.size + len(_SPACE) * (across - 1)
        texts = [Text(text.center(width), style=style) for text, style in labels]
        self.write(Text(_SPACE).join(texts))

    def _tile(self, image: Tensor) -> list[Text]:
        """An image (channels, size, size) as lines of characters, each two pixels high."""
        if not self.coloured:
            brightness = image.float().mean(0).unflatten(0, (-1, 2)).mean(1) / 255
            shades = brightness.sqrt() * (len(SHADES) - 1)  # the root keeps thin strokes readable
            rows = shades.round().int().tolist()
            return _ruled([Text("".join(SHADES[shade] for shade in row)) for row in rows])
        if len(image) == 1:
            image = (_BLACK + image.float() * (1 - _BLACK / 255)).byte().expand(3, -1, -1)
        rows = image.permute(1, 2, 0).tolist()
        return [_half_blocks(*pair) for pair in zip(rows[::2], rows[1::2], strict=True)]

    def _question(self) -> list[Text]:
        style = f"bold white on {_rgb([_BLACK] * 3)}" if self.coloured else ""
        height = self.size // 2
        texts = ["?" if line == height // 2 else "" for line in range(height)]
        lines = [Text(text.center(self.size), style=style) for text in texts]
        return lines if self.coloured else _ruled(lines)


def _half_blocks(upper: list[list[int]], lower: list[list[int]]) -> Text:
    """Two rows of pixels as one line."""
    pixels = zip(upper, lower, strict=True)
    return Text.assemble(*(("▀", f"{_rgb(top)} on {_rgb(bottom)}") for top, bottom in pixels))


def _rgb(colour: Sequence[int]) -> str:
    return "rgb({},{},{})".format(*colour)


def _ruled(lines: list[Text]) -> list[Text]:
    """An image between two rules, which show where it ends when its dark background does not."""
    rule = Text("-" * len(lines[0]))
    return [rule, *lines, rule]
