"""Laws of puzzles in a terminal: it is never overrun, and marks show what is right."""

import io

import numpy as np
import pytest
import torch
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from fine.drawing import show
from fine.drawing.terminal import SHADES, choice_name, show_bar, show_solved
from fine.drawing.views import LETTERS, make_views
from fine.images import Images
from fine.puzzles import KINDS, Puzzles
from fine.rules import rule_set


class Screen:
    """A console of a width, and what is written to it."""

    def __init__(self, width: int, *, colour: bool = False, encoding: str = "utf-8"):
        self.encoding = encoding
        self.file = io.TextIOWrapper(io.BytesIO(), encoding=encoding, newline="")
        system = "truecolor" if colour else None
        self.console = Console(
            file=self.file,
            width=width,
            force_terminal=colour,
            color_system=system,
            no_color=not colour,
        )

    @property
    def text(self) -> str:
        self.file.flush()
        return self.file.buffer.getvalue().decode(self.encoding)


def printed(puzzles: Puzzles, width: int, *, number: int = 1, **options: object) -> str:
    """What ``show`` writes to a console of this width."""
    look = {name: options.pop(name) for name in ("colour", "encoding") if name in options}
    screen = Screen(width, **look)
    show(puzzles, [number], console=screen.console, **options)
    return screen.text


@pytest.mark.parametrize("colour", [False, True])
@pytest.mark.parametrize(("width", "side"), [(30, 4), (80, 16), (140, 32), (200, 32)])
def test_a_terminal_is_filled_and_never_overrun(puzzles, width, side, colour):
    output = printed(puzzles, width, colour=colour, answers=True)
    lines = Text.from_ansi(output).plain.splitlines() if colour else output.splitlines()
    assert max(map(cell_len, lines)) <= width
    if width > 30:  # the captions of a narrow terminal may be wider than its images
        assert max(map(cell_len, lines)) == 4 * side + 3 * 3
    assert ("▀" in output) == colour and ("\x1b[" in output) == colour


def test_a_long_caption_goes_on_in_the_next_line(puzzles):
    (views,) = make_views(puzzles, [1], answers=True, chosen=None).values()
    caption = views[0].caption
    assert len(caption) > 12
    words = printed(puzzles, 12, answers=True).split()
    assert words[: len(caption.split())] == caption.split()


def test_marks_show_what_is_right_and_what_was_chosen(puzzles, chosen):
    plain = printed(puzzles, 80)
    solution = printed(puzzles, 80, answers=True)
    answered = printed(puzzles, 80, chosen=chosen)
    assert "✓" not in plain and "swap" not in plain
    right, wrong = puzzles.answers[1], chosen[1]
    assert f"{LETTERS[right]} ✓" in solution and "✗" not in solution
    assert f"answered {LETTERS[wrong]} ✗ {KINDS[puzzles.kinds[1, wrong]]}" in answered


def test_shades_are_as_dense_as_the_ink():
    """Images of one brightness: the first line inside x is that brightness and nothing else."""
    levels = torch.tensor([0, 20, 90, 255], dtype=torch.uint8)
    pixels = levels[:, None, None, None].expand(4, 1, 32, 32)
    images = Images("flat", pixels, torch.arange(4), ("a", "b", "c", "d"))
    specs = np.array([[first, 1, 2, 0, 1, 0] for first in range(4)], dtype=np.int32)
    puzzles = Puzzles(images, rule_set("reflection"), specs, np.ones(4, dtype=np.uint8))
    seen = []
    for number in range(4):
        line = printed(puzzles, 80, number=number).splitlines()[3]
        shades = set(line.ljust(16)[:16])
        assert len(shades) == 1
        seen.append(SHADES.index(shades.pop()))
    assert seen[0] == 0 and seen[-1] == len(SHADES) - 1
    assert seen == sorted(set(seen))


def test_a_console_that_knows_only_ascii_gets_ascii(puzzles, chosen):
    assert "swap" in printed(puzzles, 80, encoding="ascii", chosen=chosen)


@pytest.mark.parametrize("colour", [False, True])
def test_any_number_of_choices_is_shown_and_one_is_marked(puzzles, colour):
    images = puzzles.render([0]).images[0].mul(255).byte()
    screen = Screen(80, colour=colour)
    show_solved(torch.cat((images, images[3:5])), console=screen.console, chosen=5)
    text = Text.from_ansi(screen.text).plain
    assert "F ✓" in text and text.count("✓") == 1 and "?" in text
    assert max(map(cell_len, text.splitlines())) <= 80


def test_a_bar_is_as_long_as_a_probability():
    screen = Screen(80)
    for probability in (0.0, 0.5, 1.0):
        show_bar("A", probability, console=screen.console)
    assert [line.count("█") for line in screen.text.splitlines()] == [0, 15, 30]


def test_a_probability_is_never_cut_off_by_a_long_name():
    screen = Screen(40)
    name = "affine map (1.03, -0.27; -0.11, 1.08), translation 3.4 % left"
    show_bar(name, 0.973, console=screen.console)
    assert " ".join(screen.text.split()) == f"97.3% {name}"


def test_choices_beyond_z_have_numbers():
    assert [choice_name(number) for number in (0, 25, 26)] == ["A", "Z", "27"]
