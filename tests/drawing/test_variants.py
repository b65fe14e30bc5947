"""Laws of drawn variants: every one can be drawn and shown, and its answer is marked."""

import io
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image
from rich.console import Console

from fine import FineError, Task, Variant
from fine.drawing import draw_evaluation
from fine.drawing.variants import draw_variants, show_variants
from fine.evaluation import Evaluation
from fine.puzzles.variants import VariantPuzzles
from support.svg import svg_texts

VARIANTS = [
    Variant("hints", hints=3),
    Variant("backwards"),
    Variant("chain", hints=2),
    Variant("odd-one-out", hints=4),
    Variant("odd-one-out", hints=6),
]


@pytest.fixture(scope="module", params=VARIANTS, ids=str)
def puzzles(request) -> VariantPuzzles:
    task = replace(Task.preset("glyphs", rules="affine"), test_count=8)
    return task.test_puzzles(request.param)


def shown(puzzles: VariantPuzzles, *, answers: bool) -> str:
    file = io.StringIO()
    console = Console(file=file, width=100, color_system=None, no_color=True)
    show_variants(puzzles, range(2), console=console, answers=answers)
    return file.getvalue()


@pytest.mark.slow
def test_the_answer_is_marked_and_named_if_asked(puzzles, tmp_path):
    for answers in (False, True):
        path = tmp_path / f"{answers}.svg"
        draw_variants(puzzles, range(2), path, answers=answers)
        assert ("#1a7f37" in path.read_text()) == answers
        assert "#cf222e" not in path.read_text()
        captions = [text for text in svg_texts(path) if text.startswith("puzzle")]
        assert [":" in caption for caption in captions] == [answers] * 2


def test_what_was_chosen_is_marked(puzzles, tmp_path):
    wrong = (puzzles.answers + 1) % puzzles.kinds.shape[1]
    path = tmp_path / "sheet.svg"
    draw_variants(puzzles, range(2), path, answers=True, chosen=wrong)
    assert "#1a7f37" in path.read_text() and "#cf222e" in path.read_text()


def test_a_terminal_shows_hints_what_is_asked_and_choices(puzzles):
    plain, solution = (shown(puzzles, answers=answers) for answers in (False, True))
    assert "✓" not in plain and solution.count("✓") == 2
    assert ("?" in plain) == bool(puzzles.variant.kind.asks)
    letters = "ABCDEF"[: puzzles.kinds.shape[1]]
    assert all(letter in plain for letter in letters)


@pytest.mark.slow
def test_an_evaluation_can_be_drawn_however_many_choices_there_are(puzzles, tmp_path):
    choices = puzzles.kinds.shape[1]
    chosen = np.arange(len(puzzles)) % choices
    probabilities = np.full((len(puzzles), choices), 1 / choices, dtype=np.float32)
    evaluation = Evaluation(puzzles, chosen, probabilities)
    draw_evaluation(evaluation, tmp_path / "sheet.png", solved=6, missed=6)
    with Image.open(tmp_path / "sheet.png") as sheet:
        assert np.asarray(sheet.convert("L")).std() > 5


def test_bad_input_is_one_line_and_leaves_no_file(puzzles, tmp_path):
    with pytest.raises(FineError, match="no puzzles"):
        draw_variants(puzzles, [], tmp_path / "sheet.png")
    with pytest.raises(FineError, match="no puzzle 8"):
        draw_variants(puzzles, [8], tmp_path / "sheet.png")
    with pytest.raises(FineError, match=r"sheet\.gif.*\.png or \.svg"):
        draw_variants(puzzles, [0], tmp_path / "sheet.gif")
    assert not list(tmp_path.iterdir())
