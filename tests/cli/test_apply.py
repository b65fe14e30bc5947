"""`fine apply`: finds the rule of an example, and does the same to files."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFilter

from fine.apply import Failure, Summary
from fine.apply.record import NAME
from fine.cli import apply as command
from fine.inference import Registered, RuleFunction
from fine.rules import FAMILIES, Rule
from fine.rules.rule_map import RuleMap

TURN = RuleMap((Rule(FAMILIES["rotation"], (90.0,)),))


def drawn(seed: int, size: tuple[int, int] = (96, 72)) -> Image.Image:
    """Blots of colour, no two images alike."""
    random = np.random.default_rng(seed)
    image = Image.new("RGB", size, tuple(map(int, random.integers(256, size=3))))
    draw = ImageDraw.Draw(image)
    for _ in range(14):
        x, y, width = (int(value) for value in random.integers((0, 0, 8), (*size, 34)))
        colour = tuple(map(int, random.integers(256, size=3)))
        draw.ellipse((x, y, x + width, y + width // 2), fill=colour)
    return image.filter(ImageFilter.GaussianBlur(0.7))


@pytest.fixture
def photos(tmp_path, monkeypatch) -> Path:
    """An example of a rotation by 37.2° on white, and three images; the folder they are in."""
    monkeypatch.chdir(tmp_path)
    before = drawn(0, (160, 120))
    before.save("before.png")
    turned = before.rotate(37.2, resample=Image.Resampling.BICUBIC, fillcolor="white")
    turned.save("after.png")
    Path("photos/deep").mkdir(parents=True)
    for number, name in enumerate(("a.png", "b.jpg", "deep/c.png")):
        drawn(number + 1, (240, 160)).save(f"photos/{name}")
    return tmp_path


@pytest.fixture
def found(monkeypatch):
    """Skip the search: ``found(residual=0.5)`` is what it finds from now on."""

    def find(**changes: object) -> None:
        about = {"rule": TURN, "errors": ((0.2,),), "residual": 0.01} | changes
        one = RuleFunction(Registered(**about))
        monkeypatch.setattr(command, "function", lambda *_, **__: one)

    find()
    return find


EXAMPLE = ("apply", "before.png", "after.png", "photos")


@pytest.mark.slow
def test_what_was_shown_once_is_done_to_the_rest(photos, fine):
    done = fine(*EXAMPLE, "--out", "done", "--resample", "bilinear")
    assert done.code == 0, done.err
    angle = float(re.search(r"rule: rotation ([\d.]+)° ± ", done.out)[1])
    assert abs(angle - 37.2) < 0.5 and "3 done" in done.out
    before = Image.open("photos/deep/c.png")
    expected = before.rotate(37.2, resample=Image.Resampling.BILINEAR, fillcolor="white")
    result = np.asarray(Image.open("done/deep/c.png")).astype(float)
    assert np.abs(result - np.asarray(expected)).mean() < 2.5
    assert tuple(result[0, 0]) == (255, 255, 255)  # the background of the example


def test_a_second_run_says_what_was_there(photos, fine, found):
    assert fine(*EXAMPLE, "--out", "done").code == 0
    again = fine(*EXAMPLE, "--out", "done")
    assert again.code == 0 and "0 done, 3 were there" in again.out


def test_the_preview_writes_nothing_but_a_sheet(photos, fine, found):
    done = fine(*EXAMPLE, "--preview", "sheet.png")
    assert done.code == 0 and "3 images would be done" in done.out
    with Image.open("sheet.png") as sheet:
        assert min(sheet.size) > 200
    names = {path.name for path in Path.cwd().iterdir()}
    assert names == {"before.png", "after.png", "photos", "sheet.png"}


def test_errors_are_listed_at_the_end_and_the_exit_code_says_so(photos, fine, found):
    Path("photos/broken.png").write_bytes(b"\x89PNG broken")
    Path("photos/movie.mov").write_bytes(b"")
    done = fine(*EXAMPLE, "--out", "done")
    assert done.code == 1 and "3 done" in done.out
    assert "error: photos/broken.png is not an image that can be read" in done.out
    assert "1 file is no image and was left alone (.mov)" in done.out
    assert sorted(path.name for path in Path("done").iterdir()) == [
        *(NAME, "a.png", "b.jpg", "deep")
    ]


def test_json_says_all_of_it(photos, fine, found):
    Path("photos/broken.png").write_bytes(b"x")
    done = fine(*EXAMPLE, "--out", "done", "--json")
    said = json.loads(done.out)
    assert done.code == 1 and said["rule"].startswith("rotation 90.0°")
    assert (said["done"], said["skipped"], said["left"]) == (3, 0, 0)
    assert said["failures"][0]["file"] == "photos/broken.png"
    previewed = json.loads(fine(*EXAMPLE, "--preview", "sheet.png", "--json").out)
    assert previewed["preview"] == "sheet.png" and previewed["explains"] is True


@pytest.mark.parametrize(
    ("about", "message"),
    [
        (
            {"residual": 0.43},
            "no known rule explains the example: the nearest, rotation 90.0° ± 0.2, leaves a "
            "residual of 43%;",
        ),
        (
            {"residual": 0.97},
            "no known rule explains the example: the nearest leaves a residual of 97%;",
        ),
        ({"ambiguous": True, "reason": "x explains it as well"}, "leaves open which rule it is"),
    ],
)
def test_what_the_example_does_not_show_clearly_is_done_on_request(
    about, message, photos, fine, found
):
    found(**about)
    refused = fine(*EXAMPLE, "--out", "done")
    assert refused.code == 2 and message in refused.err and refused.err.count("\n") == 1
    assert not Path("done").exists()
    assert fine(*EXAMPLE, "--preview", "sheet.png").code == 0
    assert fine(*EXAMPLE, "--out", "done", "--anyway").code == 0


def test_hints_are_read_too(photos, fine, monkeypatch):
    counts = []

    def find(xs: list, ys: list, **_: object) -> RuleFunction:
        counts.append((len(xs), len(ys)))
        return RuleFunction(Registered(TURN, ((0.2,),), 0.0))

    monkeypatch.setattr(command, "function", find)
    hint = ("--hint", "before.png", "after.png")
    assert fine(*EXAMPLE, "--out", "done", *hint, *hint).code == 0
    assert counts == [(3, 3)]


def test_a_transparent_example_is_no_fault_of_a_jpeg(photos, fine, monkeypatch):
    shown = RuleFunction(Registered(TURN, ((0.2,),), 0.0), background="transparent")
    monkeypatch.setattr(command, "function", lambda *_, **__: shown)
    assert fine(*EXAMPLE, "--out", "done").code == 0
    asked = fine(*EXAMPLE, "--out", "other", "--background", "transparent")
    assert asked.code == 1 and "b.jpg: a JPEG file cannot be transparent" in asked.out


def test_a_function_is_saved_and_used_again(photos, fine, found):
    assert fine(*EXAMPLE, "--out", "done", "--save", "turn.json").code == 0
    done = fine("apply", "photos", "--function", "turn.json", "--out", "again", "--jobs", "1")
    assert done.code == 0, done.err
    assert "rule: rotation 90.0° ± 0.2" in done.out
    for name in ("a.png", "b.jpg", "deep/c.png"):
        assert Path("done", name).read_bytes() == Path("again", name).read_bytes()
    refused = fine("apply", "photos", "--function", "missing.json", "--out", "other")
    assert refused.code == 2 and "missing.json" in refused.err
    both = fine("apply", "photos", "--function", "turn.json", "--hint", "a", "b", "--out", "other")
    assert both.code == 2 and "give neither --hint nor --save" in both.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("before.png", "--out", "done"), "1 path is given: expected an example"),
        (("before.png", "after.png", "--out", "done"), "2 paths are given: expected an example"),
        (("before.png", "after.png", "photos"), "give either --out"),
        (
            ("before.png", "after.png", "photos", "--preview", "p.png", "--save", "s.json"),
            "leave out --save",
        ),
        (("before.png", "after.png", "missing", "--out", "done"), "missing is missing"),
        (("before.png", "missing.png", "photos", "--out", "done"), "missing.png is missing"),
        (("before.png", "photos", "photos", "--out", "done"), "photos is a folder"),
        (("before.png", "after.png", "photos", "--out", "photos"), "is the output folder too"),
        (("before.png", "after.png", "photos", "--out", "after.png"), "after.png is a file"),
        (("before.png", "after.png", "photos", "--preview", "a.jpg"), "must end in .png"),
        (("before.png", "after.png", "photos", "--out", "d", "--jobs", "0"), "give 1 or more"),
        (("before.png", "after.png", "photos", "--out", "d", "--background", "x"), "no colour"),
    ],
)
def test_what_cannot_be_done_is_one_line(arguments, message, photos, fine):
    done = fine("apply", *arguments)
    assert done.code == 2 and message in done.err and done.err.count("\n") == 1
    assert not Path("done").exists() and not Path("d").exists()


def test_stopped_it_says_how_to_go_on(photos, fine, found, monkeypatch):
    stopped = Summary(done=1, left=2, stopped=True, failures=[Failure(Path("x"), "x is broken")])
    monkeypatch.setattr(command, "apply_to_files", lambda *_, **__: stopped)
    done = fine(*EXAMPLE, "--out", "done")
    assert done.code == 130 and "2 are left: the same command goes on from there" in done.out
