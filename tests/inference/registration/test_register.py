"""Laws of registration: rules are found between grid points, and doubt is told."""

import io
import math

import numpy as np
import pytest
import torch
from PIL import Image, ImageDraw

from fine.errors import FineError
from fine.geometry.frame import frame_points
from fine.inference.registration import Registered, register
from fine.inference.registration.pairs import Pair
from fine.rules import FAMILIES, Rule, apply_rules
from fine.rules.affine import NEGATIVE
from fine.rules.rule_map import RuleMap
from support.examples import moved, photograph, tensor


def found(before: Image.Image, after: Image.Image, **options: object) -> Registered:
    return register([tensor(before)], [tensor(after)], **options)


def only(result: Registered) -> Rule:
    assert result.sure, f"{result}: {result.reason}, {result.residual}"
    (rule,) = result.rule.rules
    return rule


def test_an_angle_between_all_grid_points_is_found_in_an_oblong_photograph():
    image = photograph()
    result = found(image, image.rotate(37.2, Image.Resampling.BICUBIC))
    rule = only(result)
    assert rule.family.name == "rotation"
    assert rule.parameters[0] == pytest.approx(37.2, abs=0.2)
    assert 0 < result.errors[0][0] < 0.3
    assert str(result).startswith("rotation 37.")


def test_jpeg_noise_and_a_canvas_that_grew_do_no_harm():
    image = photograph()
    file = io.BytesIO()
    image.rotate(200.3, Image.Resampling.BICUBIC, expand=True).save(file, "JPEG", quality=80)
    rule = only(found(image, Image.open(file)))
    assert rule.family.name == "rotation"
    assert rule.parameters[0] == pytest.approx(200.3, abs=0.5)


@pytest.mark.parametrize(
    ("matrix", "family", "parameters"),
    [
        ([[1, 0, -0.21], [0, 1, 0.13]], "translation", (3.36, -2.08)),
        ([[1 / 0.83, 0, 0], [0, 1 / 0.83, 0]], "scale", (0.83,)),
        ([[1 / 1.3, 0, 0], [0, 1 / 0.85, 0]], "stretch", (1.3, 0.85)),
        ([[1, -math.tan(math.radians(17)), 0], [0, 1, 0]], "shear", (17, 0)),
        ([[-1, 0, 0], [0, 1, 0]], "reflection", (1, 0)),
        ([[-1, 0, 0], [0, -1, 0]], "rotation", (180,)),
    ],
)
def test_families_of_affine_maps(matrix, family, parameters):
    image = photograph()
    rule = only(found(image, moved(image, matrix), mixes=False))
    assert rule.family.name == family
    assert rule.parameters == pytest.approx(parameters, rel=0.01, abs=0.2)


@pytest.mark.slow
def test_a_mix_is_found_where_no_single_family_explains():
    image = photograph()
    angle = math.radians(112)
    turn = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    linear = turn @ np.diag([-1.2, 0.9])
    matrix = np.column_stack((linear, [0.1, -0.07]))
    result = found(image, moved(image, matrix.tolist()))
    assert result.sure
    assert result.rule.matrix == pytest.approx(matrix, abs=0.01)


@pytest.mark.parametrize(
    ("family", "parameters"),
    [("wave", (2.6, 1.3)), ("fisheye", (0.25, -0.3, 0.55)), ("swap", (2.0, 0.0, 3.0, 1.0))],
)
def test_families_that_are_not_affine(family, parameters):
    x = tensor(photograph(64, 64))
    y = apply_rules(x, [Rule(FAMILIES[family], parameters)])
    rule = only(register([x], [y], mixes=False))
    assert rule.family.name == family
    assert rule.parameters == pytest.approx(parameters, rel=0.03, abs=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("order", [("fisheye", "any-mix"), ("any-mix", "fisheye")])
def test_a_fisheye_is_found_before_and_after_a_similarity(order):
    """The affine map that is nearest to both makes the image smaller, as the fisheye does."""
    given = {"fisheye": (-0.2, 0.15, 0.5), "any-mix": (0.0, 25.0, 0.9, 1.0, -1.0)}
    rules = [Rule(FAMILIES[name], given[name]) for name in order]
    x = tensor(photograph(96, 96, seed=3))
    result = register([x], [apply_rules(x, rules)])
    assert result.sure
    points = frame_points(9, 9, unit=6)
    wanted, got = RuleMap(tuple(rules)).sources(points), result.rule.sources(points)
    shown = np.abs(wanted).max(-1) < 0.9
    assert np.abs(wanted - got)[shown].max() < 2 / 96  # a pixel


@pytest.mark.parametrize("angle", [0, 12])
def test_an_after_that_is_much_larger_is_looked_at_as_one_that_is_twice_as_large(angle):
    image = photograph(80, 60)
    larger = image.rotate(angle, Image.Resampling.BICUBIC).resize((640, 480))
    pair = Pair(tensor(image), tensor(larger))
    assert max(pair.y.shape[1:]) == 2 * 80 and max(pair.level(64).shape) == 2 * 64
    result = found(image, larger)
    cos, sin = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    assert result.sure
    assert 8 * result.rule.matrix[:, :2] == pytest.approx(
        np.array([[cos, -sin], [sin, cos]]), abs=0.01
    )


def test_a_part_of_an_image_that_is_negative_is_found_with_its_cut():
    x = tensor(photograph(64, 64))
    y = x.clone()
    y[:, :, 40:] = 1 - y[:, :, 40:]
    rule = only(register([x], [y], mixes=False))
    assert rule.family.name == "black-white"
    assert rule.parameters == pytest.approx((0, 4, 1), abs=0.3)


@pytest.mark.slow
def test_a_turned_negative_is_a_rotation_and_a_negative():
    x = photograph()
    turned = np.asarray(x.rotate(60, Image.Resampling.BICUBIC))
    result = found(x, Image.fromarray(255 - turned))
    assert [rule.family for rule in result.rule.rules][-1] is NEGATIVE
    assert result.rule.negative and result.sure
    assert result.rule.rules[0].parameters[0] == pytest.approx(60, abs=0.3)


def test_a_second_hint_tells_what_one_leaves_open():
    column = np.uint8([40, 200] * 4).repeat(8)
    stripes = Image.fromarray(np.tile(column[None, :, None], (64, 1, 3)))
    shift = [[1.0, 0, 0], [0, 1, -0.2]]  # along the stripes, which do not show it
    alone = found(stripes, stripes, families=("square", "translation"))
    other = photograph(64, 64)
    pair = [tensor(stripes), tensor(other)], [tensor(stripes), tensor(moved(other, shift))]
    together = register(*pair, families=("square", "translation"))
    assert alone.ambiguous
    assert together.sure and str(together).startswith("translation")
    # Half a per cent of the width: the border of the stripes was not moved, which pulls a little.
    assert together.rule.rules[0].parameters[1] == pytest.approx(3.2, abs=0.16)


def test_other_images_are_not_explained_and_say_how_much_is_left():
    result = found(photograph(seed=1), photograph(seed=2), mixes=False)
    assert not result.explains and not result.sure
    assert 0.3 < result.residual <= 1


def test_a_disc_does_not_tell_how_far_it_was_turned():
    disc = Image.new("RGB", (64, 64))
    ImageDraw.Draw(disc).ellipse([14, 14, 49, 49], fill="white")
    result = found(disc, disc.rotate(40, Image.Resampling.BICUBIC))
    assert result.explains and result.ambiguous and result.reason


def test_a_blank_image_tells_nothing():
    blank = Image.new("RGB", (40, 40), "grey")
    result = found(blank, blank)
    assert result.ambiguous and "one colour" in result.reason


def test_given_starts_lead_to_the_same_rule():
    image = photograph()
    after = image.rotate(37.2, Image.Resampling.BICUBIC)
    rule = only(found(image, after, starts=[Rule(FAMILIES["rotation"], (30.0,))]))
    assert rule.parameters[0] == pytest.approx(37.2, abs=0.2)


def test_families_can_be_restricted():
    image = photograph()
    after = image.rotate(20, Image.Resampling.BICUBIC)
    result = found(image, after, families=("translation", "scale"), mixes=False)
    assert {rule.family.name for rule in result.rule.rules} <= {"translation", "scale"}
    assert not result.explains


@pytest.mark.parametrize(
    ("xs", "ys", "families", "message"),
    [
        (0, 0, ("rotation",), "at least one"),
        (2, 1, ("rotation",), "give a y for every x"),
        (1, 1, ("rotatoin",), "did you mean 'rotation'"),
        (1, 1, (), "the families are none"),
        (1, 1, ("any-mix",), "a search can start from"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(xs, ys, families, message):
    image = torch.rand(3, 16, 16)
    with pytest.raises(FineError, match=message):
        register([image] * xs, [image] * ys, families=families)


def test_an_image_of_a_wrong_shape_is_refused():
    with pytest.raises(FineError, match="cannot be compared"):
        register([torch.rand(16, 16)], [torch.rand(16, 16)])
