"""`fine solve` says what the library answers, and refuses in one line what cannot be solved."""

import json
from pathlib import Path

import pytest
from PIL import Image

from fine import draw_answer, explain, solve
from support.pillow_puzzles import puzzle, save


@pytest.fixture
def files(tmp_path, monkeypatch) -> list[str]:
    """Seven PNG files of a puzzle, in the current folder."""
    monkeypatch.chdir(tmp_path)
    return [path.name for path in save(puzzle(2)[0], tmp_path)]


def test_the_command_says_what_the_library_answers(default_model, files, fine):
    x, y, new, *choices = files
    answer = solve(default_model, x, y, new, choices)
    code, out, err = fine("solve", *files)
    assert code == 0, err
    assert f"answer: {answer.letter}, {choices[answer.index]}" in out
    for name, probability in zip(choices, answer.probabilities, strict=True):
        assert any(name in line and f"{probability:.1%}" in line for line in out.splitlines())


def test_the_command_speaks_json(default_model, files, fine):
    x, y, new, *choices = files
    options = ("--json", "--explain", "--candidates", "reflection", "--out", "answer.png")
    code, out, err = fine("solve", *files, *options)
    assert code == 0, err
    said, answer = json.loads(out), solve(default_model, x, y, new, choices)
    file = choices[answer.index]
    assert said["answer"] == {"index": answer.index, "letter": answer.letter, "file": file}
    assert said["probabilities"] == list(answer.probabilities)
    labels = [rule.label for rule in explain(default_model, x, y)]
    assert [rule["label"] for rule in said["rules"]] == labels
    assert said["drawn"]["file"] == "answer.png"
    assert said["drawn"]["rules"][0]["family"] == "reflection"
    drawn = draw_answer(default_model, x, y, new, rules="reflection")
    with Image.open("answer.png") as written:
        assert written.tobytes() == drawn.image.tobytes()


def test_the_command_needs_no_choices_to_draw_an_answer(files, fine):
    options = ("--candidates", "affine", "--out", "answer.png", "--explain")
    code, out, err = fine("solve", *files[:3], *options)
    assert code == 0, err
    assert "drawn to answer.png" in out
    with Image.open("answer.png") as drawn:
        assert drawn.size == (96, 96)


def test_the_command_takes_a_folder_for_a_model(default_model, files, fine, tmp_path):
    default_model.save_pretrained(tmp_path / "mine")
    one = json.loads(fine("solve", *files, "--json").out)
    two = json.loads(fine("solve", *files, "--json", "--model", tmp_path / "mine").out)
    assert one["model_probabilities"] == two["model_probabilities"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("x.png y.png", "2 images are given"),
        ("x.png y.png new.png", "no choices are given"),
        ("x.png y.png new.png a.png", "one choice is given"),
        ("x.png y.png new.png a.png gone.png", "gone.png is missing"),
        ("x.png y.png new.png a.png note.txt", "note.txt is not an image"),
        ("x.png y.png new.png a.png b.png --model all-glyph", "did you mean 'all-glyphs'"),
        ("x.png y.png new.png a.png b.png --out answer.png", "--candidates"),
        ("x.png y.png new.png --candidates afine", "did you mean 'affine'"),
        ("x.png y.png new.png --candidates affine --out answer.jpg", "must end in .png"),
        ("x.png y.png new.png --candidates affine --out note.txt/answer.png", "could not write"),
    ],
)
def test_the_command_refuses_in_one_line_and_leaves_nothing(files, fine, arguments, message):
    Path("note.txt").write_text("no image")
    before = sorted(Path().iterdir())
    code, _, err = fine("solve", *arguments.split())
    assert code == 2 and message in err and err.startswith("error: ") and err.count("\n") == 1
    assert sorted(Path().iterdir()) == before


def test_the_command_takes_further_hints(default_model, files, fine):
    x, y, new, *choices = files
    said = json.loads(fine("solve", *files, "--hint", x, y, "--json").out)
    answer = solve(default_model, [x, x], [y, y], new, choices)
    assert said["probabilities"] == list(answer.probabilities) and said["verified"]
    assert said["rule"]["label"] == answer.rule.label
    done = fine("solve", *files, "--hint", x)
    assert done.code == 2 and "expected pairs" in done.err


def test_the_command_draws_what_the_model_sees(files, fine):
    done = fine("solve", *files, "--show-input", "seen.png")
    assert done.code == 0 and "what the model sees: seen.png" in done.out
    with Image.open("seen.png") as sheet:
        assert sheet.size == (7 * 136 + 8, 2 * 136 + 8)
        above, below = sheet.getpixel((12, 12)), sheet.getpixel((12, 148))
    assert above == (255, 255, 255) and below == (0, 0, 0)  # paper, which becomes black


def test_the_network_can_be_asked_alone(default_model, files, fine):
    x, y, new, *choices = files
    said = json.loads(fine("solve", *files, "--model-only", "--json").out)
    assert not said["verified"] and said["rule"] is None
    answer = solve(default_model, x, y, new, choices, verify=False)
    assert said["model_probabilities"] == list(answer.model_probabilities)
