"""Laws of puzzles drawn for people: files are whole or not there, marks tell the truth, a terminal is never overrun."""

import io
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from fine.drawing import draw_sheet, show, solved_and_missed
from fine.drawing.terminal import SHADES
from fine.drawing.views import LETTERS
from fine.errors import FineError
from fine.images import Images
from fine.puzzles import KINDS, RIGHT, Puzzles, draw_puzzles
from fine.rules import rule_set

COUNT = 12
GREEN, RED = "#1a7f37", "#cf222e"


@pytest.fixture(scope="module", params=[1, 3], ids=["grey", "colour"])
def puzzles(request: pytest.FixtureRequest) -> Puzzles:
    """A dozen puzzles over four classes of coarse noise, in which every swap of quarters shows."""
    coarse = torch.randint(0, 256, (8, request.param, 8, 8), generator=torch.Generator().manual_seed(0))
    pixels = coarse.repeat_interleave(4, 2).repeat_interleave(4, 3).byte()
    images = Images("noise", pixels, torch.arange(8) // 2, ("a", "b", "c", "d"))
    return draw_puzzles(images, rule_set("swap"), COUNT, seed=0)


@pytest.fixture(scope="module")
def chosen(puzzles: Puzzles) -> np.ndarray:
    """Even puzzles are solved; odd ones are answered by the place after the right one."""
    return (puzzles.answers + np.arange(COUNT) % 2) % 4


def texts(path: Path) -> list[str]:
    """The texts of an SVG that a reader sees; parsing fails if it is not well-formed."""
    return ["".join(node.itertext()) for node in ElementTree.parse(path).iter("{http://www.w3.org/2000/svg}text")]


def printed(puzzles: Puzzles, width: int, *, colour: bool = False, encoding: str = "utf-8", **options: object) -> str:
    """What ``show`` writes to a console of this width."""
    file = io.TextIOWrapper(io.BytesIO(), encoding=encoding, newline="")
    console = Console(
        file=file, width=width, force_terminal=colour, color_system="truecolor" if colour else None, no_color=not colour
    )
    show(puzzles, [1], console=console, **options)  # type: ignore[arg-type]
    file.flush()
    return file.buffer.getvalue().decode(encoding)  # type: ignore[attr-defined]


@pytest.mark.parametrize("columns", [1, 2])
def test_a_png_is_a_picture_of_the_size_a_readme_shows_twice(puzzles: Puzzles, tmp_path: Path, columns: int) -> None:
    draw_sheet(puzzles, range(3), tmp_path / "sheet.PNG", columns=columns)
    with Image.open(tmp_path / "sheet.PNG") as sheet:
        sheet.load()
        assert sheet.format == "PNG" and sheet.height > 0
        # 900 CSS pixels for one column; the second adds the puzzle's own 852 and a gutter of 64. Twice that for sharp screens.
        assert sheet.width == 2 * (900 if columns == 1 else 900 + 852 + 64)


def test_the_pixels_of_a_png_are_those_of_the_puzzle(puzzles: Puzzles, tmp_path: Path) -> None:
    draw_sheet(puzzles, [5], tmp_path / "sheet.png")
    with Image.open(tmp_path / "sheet.png") as sheet:
        drawn = np.asarray(sheet.convert("RGB"), dtype=float) / 255
    first = drawn[48:208, 48:208].reshape(32, 5, 32, 5, 3)[1:-1, 2, 1:-1, 2]  # 24 pixels in, 80 wide, twice: 5 a pixel
    expected = puzzles.render([5]).pictures[0, 0].permute(1, 2, 0).expand(-1, -1, 3).numpy()[1:-1, 1:-1]
    assert np.abs(first - expected).max() < 2 / 255


def test_an_svg_is_xml_that_keeps_text_and_pixels(puzzles: Puzzles, tmp_path: Path) -> None:
    path = tmp_path / "sheet.svg"
    draw_sheet(puzzles, range(3), path, title="Costs $5 & <more> $")
    words = texts(path)
    assert [words.count(letter) for letter in LETTERS] == [3] * 4
    assert "Costs $5 & <more> $" in words
    assert path.read_text().count("image-rendering:pixelated") == 7 * 3
    draw_sheet(puzzles, range(3), tmp_path / "again.svg", title="Costs $5 & <more> $")
    assert path.read_bytes() == (tmp_path / "again.svg").read_bytes()


def test_a_sheet_tells_nothing_it_was_not_asked_to(puzzles: Puzzles, tmp_path: Path) -> None:
    draw_sheet(puzzles, range(3), tmp_path / "sheet.svg")
    source = (tmp_path / "sheet.svg").read_text()
    assert not any(word in source for word in (*KINDS, "swap", GREEN, RED))


def test_answers_name_the_rule_and_every_kind(puzzles: Puzzles, tmp_path: Path) -> None:
    draw_sheet(puzzles, range(3), tmp_path / "sheet.svg", answers=True)
    words = texts(tmp_path / "sheet.svg")
    assert [words.count(kind) for kind in KINDS] == [3] * 4
    assert all(str(puzzles.rules.rules[rule]) in words for rule in puzzles.specs[:3, RIGHT])
    source = (tmp_path / "sheet.svg").read_text()
    assert GREEN in source and RED not in source


def test_groups_show_what_was_answered(puzzles: Puzzles, chosen: np.ndarray, tmp_path: Path) -> None:
    groups = solved_and_missed(puzzles, chosen, solved=2, missed=3)
    assert groups == {"solved": [0, 2], "missed": [1, 3, 5]}
    probabilities = np.tile([0.62, 0.25, 0.13, 0.0], (COUNT, 1))
    draw_sheet(puzzles, groups, tmp_path / "sheet.svg", chosen=chosen, probabilities=probabilities)
    words = texts(tmp_path / "sheet.svg")
    assert words.index("solved") < words.index("missed")
    assert [words.count(label) for label in ("A 62%", "B 25%", "C 13%", "D 0%")] == [5] * 4
    for number in (0, 2):
        assert f"answered {LETTERS[chosen[number]]} ✓ right" in words
    for number in (1, 3, 5):
        assert f"answered {LETTERS[chosen[number]]} ✗ {KINDS[puzzles.kinds[number, chosen[number]]]}" in words


def test_a_group_without_puzzles_has_no_heading(puzzles: Puzzles) -> None:
    assert solved_and_missed(puzzles, puzzles.answers, solved=1, missed=5) == {"solved": [0]}


def test_bad_input_is_one_line_and_leaves_no_file(puzzles: Puzzles, tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.png"
    with pytest.raises(FineError, match=r"sheet\.gif.*\.png or \.svg"):
        draw_sheet(puzzles, [0], tmp_path / "sheet.gif")
    with pytest.raises(FineError, match="no puzzles"):
        draw_sheet(puzzles, [], sheet)
    with pytest.raises(FineError, match=f"no puzzle {COUNT}"):
        draw_sheet(puzzles, [COUNT], sheet)
    with pytest.raises(FineError, match="chosen has shape"):
        draw_sheet(puzzles, [0], sheet, chosen=[0])
    with pytest.raises(FineError, match="0, 1, 2 or 3"):
        draw_sheet(puzzles, [0], sheet, chosen=[4] * COUNT)
    with pytest.raises(FineError, match="probabilities have shape"):
        draw_sheet(puzzles, [0], sheet, probabilities=np.ones((1, 4)))
    with pytest.raises(FineError, match="0 columns"):
        draw_sheet(puzzles, [0], sheet, columns=0)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("colour", [False, True])
@pytest.mark.parametrize(("width", "picture"), [(30, 4), (80, 16), (140, 32), (200, 32)])
def test_a_terminal_is_filled_and_never_overrun(puzzles: Puzzles, width: int, picture: int, colour: bool) -> None:
    output = printed(puzzles, width, colour=colour, answers=True)
    lines = Text.from_ansi(output).plain.splitlines() if colour else output.splitlines()
    assert max(map(cell_len, lines)) <= width
    if width > 30:  # the captions of a narrow terminal may be wider than its pictures
        assert max(map(cell_len, lines)) == 4 * picture + 3 * 3
    assert ("▀" in output) == colour and ("\x1b[" in output) == colour


def test_marks_in_the_terminal_tell_the_truth(puzzles: Puzzles, chosen: np.ndarray) -> None:
    plain, solution, answered = (printed(puzzles, 80, **options) for options in ({}, {"answers": True}, {"chosen": chosen}))
    assert "✓" not in plain and "swap" not in plain
    right, wrong = puzzles.answers[1], chosen[1]
    assert f"{LETTERS[right]} ✓" in solution and "✗" not in solution
    assert f"answered {LETTERS[wrong]} ✗ {KINDS[puzzles.kinds[1, wrong]]}" in answered


def test_shades_are_as_dense_as_the_ink() -> None:
    """Pictures of one brightness, each a class of its own: the first line inside x is that brightness and nothing else."""
    levels = torch.tensor([0, 20, 90, 255], dtype=torch.uint8)
    images = Images("flat", levels[:, None, None, None].expand(4, 1, 32, 32), torch.arange(4), ("a", "b", "c", "d"))
    rules = rule_set("reflection")
    specs = np.array([[first, 1, 2, 0, 1, 0] for first in range(4)], dtype=np.int32)
    seen = []
    for number in range(4):
        flat = Puzzles(images, rules, specs[number : number + 1].repeat(2, axis=0), np.ones(2, dtype=np.uint8))
        shades = set(printed(flat, 80).splitlines()[3].ljust(16)[:16])
        assert len(shades) == 1
        seen.append(SHADES.index(shades.pop()))
    assert seen[0] == 0 and seen[-1] == len(SHADES) - 1
    assert seen == sorted(set(seen))


def test_a_console_that_knows_only_ascii_gets_ascii(puzzles: Puzzles, chosen: np.ndarray) -> None:
    assert "swap" in printed(puzzles, 80, encoding="ascii", chosen=chosen)


def test_one_who_draws_nothing_does_not_wait_for_matplotlib():
    done = subprocess.run([sys.executable, "-c", "import fine, sys; print('matplotlib' in sys.modules)"], capture_output=True)
    assert done.stdout.split() == [b"False"]
