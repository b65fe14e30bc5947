"""Laws of sheets: files are whole or not there, and marks show what is right and chosen."""

import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from fine import FineError
from fine.drawing import draw_sheet, solved_and_missed
from fine.drawing.views import LETTERS
from fine.puzzles import KINDS, RIGHT
from support.svg import svg_texts

GREEN, RED = "#1a7f37", "#cf222e"


@pytest.mark.parametrize("columns", [1, 2])
def test_a_png_is_an_image_twice_the_size_a_readme_shows(puzzles, tmp_path, columns):
    draw_sheet(puzzles, range(3), tmp_path / "sheet.PNG", columns=columns)
    with Image.open(tmp_path / "sheet.PNG") as sheet:
        sheet.load()
        assert sheet.format == "PNG" and sheet.height > 0
        # 900 CSS pixels for one column; the second adds the puzzle's own 852 and a gutter of 64.
        # Twice that for sharp screens.
        assert sheet.width == 2 * (900 if columns == 1 else 900 + 852 + 64)


def test_the_pixels_of_a_png_are_those_of_the_puzzle(puzzles, tmp_path):
    draw_sheet(puzzles, [5], tmp_path / "sheet.png")
    with Image.open(tmp_path / "sheet.png") as sheet:
        drawn = np.asarray(sheet.convert("RGB"), dtype=float) / 255
    # x starts 24 CSS pixels in and is 80 wide, twice: 5 pixels of the sheet for each of its own.
    first = drawn[48:208, 48:208].reshape(32, 5, 32, 5, 3)[1:-1, 2, 1:-1, 2]
    x = puzzles.render([5]).images[0, 0].permute(1, 2, 0).expand(-1, -1, 3).numpy()
    assert np.abs(first - x[1:-1, 1:-1]).max() < 2 / 255


def test_an_svg_is_xml_that_keeps_text_and_pixels(puzzles, tmp_path):
    path, again = tmp_path / "sheet.svg", tmp_path / "again.svg"
    title = "Costs $5 & <more> $"
    draw_sheet(puzzles, range(3), path, title=title)
    words = svg_texts(path)
    assert [words.count(letter) for letter in LETTERS] == [3] * 4
    assert title in words
    assert path.read_text().count("image-rendering:pixelated") == 7 * 3
    draw_sheet(puzzles, range(3), again, title=title)
    assert path.read_bytes() == again.read_bytes()


def test_a_sheet_shows_no_answers_unless_asked(puzzles, tmp_path):
    draw_sheet(puzzles, range(3), tmp_path / "sheet.svg")
    source = (tmp_path / "sheet.svg").read_text()
    assert not any(word in source for word in (*KINDS, "swap", GREEN, RED))


def test_answers_name_the_rule_and_every_kind(puzzles, tmp_path):
    draw_sheet(puzzles, range(3), tmp_path / "sheet.svg", answers=True)
    words = svg_texts(tmp_path / "sheet.svg")
    assert [words.count(kind) for kind in KINDS] == [3] * 4
    assert all(str(puzzles.rules.rules[rule]) in words for rule in puzzles.specs[:3, RIGHT])
    source = (tmp_path / "sheet.svg").read_text()
    assert GREEN in source and RED not in source


def test_groups_show_what_was_answered(puzzles, chosen, tmp_path):
    groups = solved_and_missed(puzzles, chosen, solved=2, missed=3)
    assert groups == {"solved": [0, 2], "missed": [1, 3, 5]}
    probabilities = np.tile([0.62, 0.25, 0.13, 0.0], (len(puzzles), 1))
    path = tmp_path / "sheet.svg"
    draw_sheet(puzzles, groups, path, chosen=chosen, probabilities=probabilities)
    words = svg_texts(path)
    assert words.index("solved") < words.index("missed")
    labels = ("A 62%", "B 25%", "C 13%", "D 0%")
    assert [words.count(label) for label in labels] == [5] * 4
    for number in (0, 2):
        assert f"answered {LETTERS[chosen[number]]} ✓ right" in words
    for number in (1, 3, 5):
        kind = KINDS[puzzles.kinds[number, chosen[number]]]
        assert f"answered {LETTERS[chosen[number]]} ✗ {kind}" in words


def test_a_group_without_puzzles_has_no_heading(puzzles):
    assert solved_and_missed(puzzles, puzzles.answers, solved=1, missed=5) == {"solved": [0]}


@pytest.mark.parametrize(
    ("numbers", "options", "message"),
    [
        ([], {}, "no puzzles"),
        ([12], {}, "no puzzle 12"),
        ([0], {"chosen": [0]}, "chosen has shape"),
        ([0], {"chosen": [4] * 12}, "0, 1, 2 or 3"),
        ([0], {"probabilities": np.ones((1, 4))}, "probabilities have shape"),
        ([0], {"columns": 0}, "0 columns"),
    ],
)
def test_bad_input_is_one_line_and_leaves_no_file(puzzles, tmp_path, numbers, options, message):
    with pytest.raises(FineError, match=message):
        draw_sheet(puzzles, numbers, tmp_path / "sheet.png", **options)
    assert not list(tmp_path.iterdir())


def test_a_name_that_is_no_image_is_refused(puzzles, tmp_path):
    with pytest.raises(FineError, match=r"sheet\.gif.*\.png or \.svg"):
        draw_sheet(puzzles, [0], tmp_path / "sheet.gif")
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_only_those_who_draw_wait_for_matplotlib():
    code = "import fine, sys; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True)
    assert done.stdout.split() == [b"False"]
