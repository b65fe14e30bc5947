"""Laws of functions known by their rule: drawn at full size, composed, saved, and refused."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from PIL import Image

import fine
from fine import FineError, RuleFunction, load_function
from fine.inference.registration import Registered
from fine.inference.rule_functions import NoFormulaError
from fine.rules import FAMILIES, Rule
from fine.rules.affine import NEGATIVE
from fine.rules.rule_map import RuleMap
from support.examples import photograph


def known(
    *rules: tuple[str, tuple[float, ...]], error: float = 0.1, **more: object
) -> RuleFunction:
    made = tuple(
        Rule(NEGATIVE if name == "negative" else FAMILIES[name], parameters)
        for name, parameters in rules
    )
    errors = tuple((error,) * len(rule.parameters) for rule in made)
    return RuleFunction(Registered(RuleMap(made), errors, 0.01))


@pytest.fixture(scope="module")
def image() -> Image.Image:
    return photograph(90, 60)


@pytest.fixture(scope="module")
def turn(image) -> RuleFunction:
    after = image.rotate(30, Image.Resampling.BICUBIC, fillcolor=(255, 0, 0))
    return fine.function(image, after)


def difference(one: Image.Image, other: Image.Image) -> float:
    return float(np.abs(np.asarray(one, float) - np.asarray(other, float)).mean())


# What it is


def test_it_says_in_one_line_what_it_does(turn):
    assert repr(turn).startswith("<function: rotation 30.") or "rotation 29.9" in repr(turn)
    assert "residual" in repr(turn) and "\n" not in repr(turn)
    assert str(turn.rule).startswith(("rotation 30", "rotation 29.9"))


def test_it_draws_what_pillow_draws_with_the_background_of_the_example(turn):
    new = photograph(120, 80, seed=5)
    wanted = new.rotate(30, Image.Resampling.BICUBIC, fillcolor=(255, 0, 0))
    drawn = turn.draw(new)
    assert drawn.size == new.size and drawn.mode == new.mode
    assert difference(drawn, wanted) < 2


def test_files_bytes_and_pillow_images_are_drawn_alike(turn, image, tmp_path):
    image.save(tmp_path / "new.png")
    from_file = turn.draw(tmp_path / "new.png")
    from_bytes = turn.draw((tmp_path / "new.png").read_bytes())
    assert difference(from_file, turn.draw(image)) == difference(from_bytes, from_file) == 0


def test_arrays_and_tensors_are_drawn_as_what_they_are(turn, image):
    array = np.asarray(image)
    drawn = turn.draw(array)
    assert isinstance(drawn, np.ndarray) and drawn.dtype == np.uint8
    assert np.array_equal(drawn, np.asarray(turn.draw(image)))
    floats = turn(array.astype(np.float32) / 255)
    assert floats.dtype == np.float32
    assert np.abs(floats * 255 - drawn).max() < 3
    tensor = torch.from_numpy(array / 255).movedim(-1, 0).float()
    batch = turn(torch.stack((tensor, tensor)))
    assert batch.shape == (2, *tensor.shape) and batch.dtype == torch.float32
    assert torch.allclose(batch[1].movedim(0, -1), torch.from_numpy(floats), atol=1e-6)


def test_a_grid_reads_what_is_drawn(image):
    f = known(("translation", (32 / 90 * 7, 0.0)))  # seven pixels to the right
    columns, rows = f.remap(60, 90)
    assert columns.dtype == np.float32 and columns.shape == (60, 90)
    assert columns[10, 20] == pytest.approx(13, abs=1e-4)
    assert rows[10, 20] == pytest.approx(10, abs=1e-4)
    assert np.array_equal(np.asarray(f.draw(image))[:, 20], np.asarray(image)[:, 13])


def test_a_quarter_turn_lays_an_upright_photograph_on_its_side(image):
    square = photograph(60, 60)
    f = fine.function(square, square.transpose(Image.Transpose.ROTATE_90))
    assert f.draw(image).size == (60, 90)
    assert difference(f.draw(image), image.transpose(Image.Transpose.ROTATE_90)) == 0


def test_a_part_that_becomes_negative_is_drawn(image):
    f = known(("black-white", (0.0, 0.0, 1.0)))
    wanted = np.asarray(image).copy()
    wanted[:, 45:] = 255 - wanted[:, 45:]
    assert np.array_equal(np.asarray(f.draw(image)), wanted)
    floats = np.asarray(image).astype(np.float32) / 255
    assert np.abs(f.draw(floats) * 255 - wanted).max() < 1


def test_negatives_of_floats(image):
    f = known(("negative", ()))
    floats = np.asarray(image).astype(np.float32) / 255
    assert np.abs(f.draw(floats) - (1 - floats)).max() < 1e-5
    assert np.array_equal(np.asarray(f.draw(image)), 255 - np.asarray(image))


# Algebra


def test_rules_are_composed_inverted_repeated_and_mixed():
    thirty, sixty = known(("rotation", (30.0,))), known(("rotation", (60.0,)))
    quarter = known(("rotation", (90.0,)))
    assert str((quarter @ quarter).rule).startswith("rotation 180.0°")
    assert str(thirty.inverse().rule).startswith("rotation 330.0°")
    assert str(thirty.power(2).rule).startswith("rotation 60.0°")
    assert str(thirty.interpolate(sixty, 0.5).rule).startswith("rotation 45.0")


def test_errors_follow():
    f, g = known(("rotation", (30.0,)), error=0.3), known(("rotation", (60.0,)), error=0.4)
    assert (f @ g).rule.errors[0][0] == pytest.approx(0.5, rel=1e-3)  # independent
    assert (f @ f).rule.errors[0][0] == pytest.approx(0.6, rel=1e-3)  # the same error twice
    assert f.power(3).rule.errors[0][0] == pytest.approx(0.9, rel=1e-3)


def test_the_second_function_comes_first():
    turn, move = known(("rotation", (90.0,))), known(("translation", (4.0, 0.0)))
    points = np.array([[0.1, 0.2]])
    read = (turn @ move).rule.rule.sources(points)
    assert read == pytest.approx(move.rule.rule.sources(turn.rule.rule.sources(points)))


def test_what_has_no_formula_says_so():
    wave = known(("wave", (2.0, 1.0)))
    with pytest.raises(NoFormulaError, match="no inverse by a formula"):
        wave.inverse()
    with pytest.raises(FineError, match=r"no power of 0\.5"):
        wave.power(0.5)
    with pytest.raises(FineError, match="nothing known between"):
        wave.interpolate(known(("rotation", (3.0,))), 0.5)
    with pytest.raises(FineError, match="share is inf"):
        wave.interpolate(wave, float("inf"))
    with pytest.raises(FineError, match="give a number from"):
        wave.power(1e9)


def test_an_example_that_moves_nothing_is_said_to_make_copies():
    image = photograph()
    grey = image.convert("L").convert("RGB")
    assert "copies" in fine.function(image, Image.blend(image, grey, 0.1)).note


@pytest.mark.parametrize(("box", "noted"), [((0, 0, 96, 64), False), ((20, 10, 80, 60), True)])
def test_a_crop_is_told_for_no_rule_makes_it(box, noted):
    image = photograph()
    f = fine.function(image, image.crop(box))
    assert ("60 × 50 pixels" in f.note) == noted and f.inverse().note == ""


# Files


def test_a_saved_function_is_readable_and_the_same(turn, tmp_path, image):
    turn.save(tmp_path / "turn.json")
    content = json.loads((tmp_path / "turn.json").read_text())
    assert content["rules"][0]["family"] == "rotation" and content["rule"] == str(turn.rule)
    read = load_function(tmp_path / "turn.json")
    assert read.rule.rule == turn.rule.rule and read.background == turn.background
    assert difference(read.draw(image), turn.draw(image)) == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 3}, "format 3"),
        ({"rules": []}, "0 rules"),
        ({"rules": [{"family": "no", "parameters": []}]}, "'no' is not known"),
        ({"rules": [{"family": "rotation", "parameters": [1, 2]}]}, "2 parameters where 1"),
        ({"rules": [{"family": "rotation", "parameters": ["1"]}]}, "where float is expected"),
        ({"rules": [{"family": "scale", "parameters": [0]}]}, "cannot have"),
        ({"rules": [{"family": "scale", "parameters": [1e9]}]}, "too large"),
        ({"rules": [{"family": "swap", "parameters": [0, 0, 1, 2]}]}, "cannot have"),
        ({"rules": [{"family": "square", "parameters": [1, 1, 1, 1]}]}, "cannot have"),
        ({"rules": [{"family": "affine-map", "parameters": [1, 1, 1, 1, 0, 0]}]}, "cannot have"),
        ({"rules": [{"family": "scale", "parameters": [0.002]}] * 9}, "lead nowhere"),
        ({"residual": -1}, "a share is expected"),
        ({"canvas": "wide"}, "wide"),
        ({"background": "no colour"}, "no colour"),
        ({"extra": 1}, "'extra'"),
    ],
)
def test_a_file_from_anyone_is_checked(change, message, tmp_path):
    path = tmp_path / "turn.json"
    known(("rotation", (30.0,))).save(path)
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(FineError, match=message) as problem:
        load_function(path)
    assert "turn.json" in str(problem.value)


def test_a_file_of_the_first_format_is_read(tmp_path):
    """Its residual had another name."""
    rules = [{"family": "rotation", "parameters": [37.2], "errors": [0.2]}]
    content = {"format": 1, "rules": rules, "unexplained": 0.012, "canvas": "expand"}
    (tmp_path / "turn.json").write_text(json.dumps(content))
    read = load_function(tmp_path / "turn.json")
    assert read.rule.residual == 0.012 and read.canvas == "expand"
    assert str(read.rule) == "rotation 37.2° ± 0.2"


def test_a_missing_file_is_told(tmp_path):
    with pytest.raises(FineError, match="missing"):
        load_function(tmp_path / "no.json")


# Refusals


@pytest.mark.slow
def test_what_no_rule_explains_is_refused_with_the_number_and_done_on_request():
    x, y = photograph(48, 48, seed=1), photograph(48, 48, seed=2)
    with pytest.raises(FineError, match=r"no known rule explains .* leaves a residual of \d+%"):
        fine.function(x, y)


def test_a_rule_that_does_not_explain_is_drawn_on_request_only(image):
    f = known(("rotation", (30.0,)))
    doubtful = replace(f, rule=replace(f.rule, residual=0.42))
    with pytest.raises(FineError, match=r"leaves a residual of 42%"):
        doubtful.draw(image)
    with pytest.raises(FineError, match="no known rule"):
        doubtful.remap(20, 30)
    assert replace(doubtful, anyway=True).draw(image).size == image.size


@pytest.mark.parametrize("given", [3, None])
def test_what_is_no_image_is_refused(turn, given):
    with pytest.raises(FineError, match="is no image"):
        turn.draw(given)


def test_bytes_that_are_no_image_are_refused(turn):
    with pytest.raises(FineError, match="not an image that can be read"):
        turn.draw(b"not an image")


@pytest.mark.parametrize("background", ["", "#ff0000", "white", "transparent"])
@pytest.mark.parametrize("rules", [(), ("negative",), ("black-white",)])
@pytest.mark.parametrize("mode", ["L", "RGB", "RGBA"])
def test_floats_are_drawn_as_bytes_are(mode, rules, background):
    """Backgrounds, negatives and alpha too."""
    if background == "transparent" and mode != "RGBA":
        return  # there is nothing that could be transparent
    parameters = {"negative": (), "black-white": FAMILIES["black-white"].grid[3]}
    f = known(("rotation", (45.0,)), *((name, parameters[name]) for name in rules))
    small = photograph(24, 24).convert("RGBA")
    small.putalpha(Image.linear_gradient("L").resize((24, 24)))
    array = np.asarray(small.convert(mode))
    options = {"resample": "nearest", "background": background}
    drawn = f.draw(array, **options)
    floats = f.draw(array.astype(np.float32) / 255, **options)
    clear = drawn[..., 3] > 8 if mode == "RGBA" else np.ones(drawn.shape[:2], bool)
    assert np.abs(floats * 255 - drawn)[clear].max() <= 2


@pytest.mark.parametrize("shape", [(0, 3, 8, 8), (3, 0, 8), (8,)])
def test_a_tensor_without_images_is_refused(turn, shape):
    with pytest.raises(FineError, match="is no image"):
        turn.draw(torch.zeros(shape))


def test_a_tensor_may_gain_a_channel_for_what_is_transparent(turn):
    drawn = turn.draw(torch.zeros(2, 3, 8, 8, dtype=torch.uint8), background="transparent")
    assert drawn.shape == (2, 4, 8, 8)
