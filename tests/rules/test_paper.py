"""The nine families of the paper: their grids, their splits, and what they do to an image."""

import math

import pytest
import torch

from fine.geometry.warp import pixel_points
from fine.rules import FAMILIES, Rule, rule_set, source_points
from support.rules import under

SIZES = {
    "translation": 49,
    "rotation": 24,
    "reflection": 2,
    "shear": 81,
    "scale": 4,
    "fisheye": 18,
    "wave": 12,
    "black-white": 20,
    "swap": 24,
}


@pytest.fixture(scope="module")
def image():
    return torch.rand(1, 1, 32, 32, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize(("name", "count"), SIZES.items())
def test_every_family_has_its_grid(name, count):
    assert len(rule_set(name)) == count == len({rule.parameters for rule in rule_set(name).rules})


@pytest.mark.parametrize(("name", "seen"), [("translation", 9), ("rotation", 13), ("shear", 25)])
def test_seen_and_unseen_rules_share_the_grid_between_them(name, seen):
    # |a|, |b| ≤ 3: 3·3 translations; 0°, 15° … 180°: 13 rotations; angles within 30°: 5·5 shears.
    assert len(rule_set(f"{name}:seen")) == seen
    assert len(rule_set(f"{name}:unseen")) == SIZES[name] - seen
    assert not set(rule_set(f"{name}:seen").rules) & set(rule_set(f"{name}:unseen").rules)


def test_the_unseen_rules_are_those_of_the_paper():
    assert all(rule.parameters[0] > 180 for rule in rule_set("rotation:unseen").rules)
    assert all(max(map(abs, rule.parameters)) > 3 for rule in rule_set("translation:unseen").rules)
    assert all(max(map(abs, rule.parameters)) > 30 for rule in rule_set("shear:unseen").rules)


def test_translation_moves_right_and_down(image):
    moved = under("translation", image, 3, -6)
    torch.testing.assert_close(moved[..., :26, 3:], image[..., 6:, :29])
    assert moved[..., 26:, :].abs().max() == 0 and moved[..., :3].abs().max() == 0


@pytest.mark.parametrize("turns", range(4))
def test_quarter_turns_permute_pixels_counter_clockwise(image, turns):
    rotated = under("rotation", image, 90 * turns)
    torch.testing.assert_close(rotated, torch.rot90(image, turns, (2, 3)))


@pytest.mark.parametrize("degrees", [15, 90, 330])
def test_negative_degrees_turn_the_other_way(degrees):
    one, other = (Rule(FAMILIES["rotation"], (float(by),)) for by in (-degrees, 360 - degrees))
    assert torch.equal(source_points(one, 8), source_points(other, 8))


def test_reflections_flip(image):
    torch.testing.assert_close(under("reflection", image, 1, 0), image.flip(3))
    torch.testing.assert_close(under("reflection", image, 0, 1), image.flip(2))


def test_scaling_by_a_half_shrinks_to_the_middle():
    white = torch.ones(1, 1, 32, 32)
    small = under("scale", white, 0.5)
    assert small[..., 9:23, 9:23].min() == pytest.approx(1) and small[..., :7, :].max() == 0


def test_shear_is_horizontal_then_vertical():
    # The point (2, 4) goes to x = 2 + 4·tan 45° = 6, then y = 4 + 6·tan 45° = 10.
    rule = Rule(FAMILIES["shear"], (45.0, 45.0))
    back = rule.family.source(torch.tensor([[[6.0, 10.0]]], dtype=torch.float64), *rule.parameters)
    torch.testing.assert_close(back, torch.tensor([[[2.0, 4.0]]], dtype=torch.float64))


def test_every_shear_has_an_inverse():
    for rule in rule_set("shear").rules:
        corners = source_points(rule, 32)[[0, 0, -1], [0, -1, 0]]
        edges = corners[1:] - corners[0]
        area = abs(torch.linalg.det(edges))
        assert area == pytest.approx(31 * 31)  # area is kept, so the map is invertible


def test_fisheye_is_the_formula_of_the_paper():
    rule = Rule(FAMILIES["fisheye"], (0.5, 0.0, 0.8))
    x, y = pixel_points(32)[4, 20].tolist()
    dx, dy = x / 16 - 0.5, y / 16
    pull = 0.8 * math.hypot(dx, dy)
    source = source_points(rule, 32)[4, 20].tolist()
    assert source == pytest.approx([x + 16 * dx * pull, y + 16 * dy * pull])


def test_wave_is_the_formula_of_the_paper():
    rule = Rule(FAMILIES["wave"], (4.0, 2.0))
    x, y = pixel_points(32)[4, 20].tolist()
    source = source_points(rule, 32)[4, 20].tolist()
    assert source == pytest.approx([x, y + 4 * math.cos(2 * 2 * math.pi / 32 * y)])


def test_black_white_inverts_one_part(image):
    result = under("black-white", image, 0, -8, -1)
    torch.testing.assert_close(result[..., :8], 1 - image[..., :8])
    torch.testing.assert_close(result[..., 8:], image[..., 8:])


def test_swap_moves_whole_quarters(image):
    result = under("swap", image, 3, 1, 2, 0)  # the first and the last quarter change places
    torch.testing.assert_close(result[..., :16, :16], image[..., 16:, 16:])
    torch.testing.assert_close(result[..., :16, 16:], image[..., :16, 16:])
    torch.testing.assert_close(result[..., 16:, 16:], image[..., :16, :16])
