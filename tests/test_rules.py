import math

import pytest
import torch

from fine.errors import FineError
from fine.rules import FAMILIES, Rule, Warp, pixel_points, register_family, rule_set, source_points

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
def picture():
    torch.manual_seed(0)
    return torch.rand(1, 1, 32, 32)


def apply(name, picture, *parameters):
    rules = rule_set(name)
    number = [rule.parameters for rule in rules.rules].index(tuple(float(p) for p in parameters))
    return Warp(rules, size=picture.shape[-1])(picture, torch.tensor([number]))


@pytest.mark.parametrize(("name", "count"), SIZES.items())
def test_every_family_has_its_grid(name, count):
    assert len(rule_set(name)) == count == len({rule.parameters for rule in rule_set(name).rules})


def test_affine_is_the_first_five_and_all_is_everything():
    assert list(rule_set("affine").families) == ["translation", "rotation", "reflection", "shear", "scale"]
    assert len(rule_set("all")) == sum(SIZES.values())


@pytest.mark.parametrize(("name", "seen"), [("translation", 9), ("rotation", 13), ("shear", 25)])
def test_seen_and_unseen_rules_share_the_grid_between_them(name, seen):
    # |a|, |b| ≤ 3: 3·3 translations; 0°, 15° … 180°: 13 rotations; both angles within 30°: 5·5 shears.
    assert len(rule_set(f"{name}:seen")) == seen
    assert len(rule_set(f"{name}:unseen")) == SIZES[name] - seen
    assert not set(map(str, rule_set(f"{name}:seen").rules)) & set(map(str, rule_set(f"{name}:unseen").rules))


def test_the_unseen_rules_are_those_of_the_paper():
    assert all(rule.parameters[0] > 180 for rule in rule_set("rotation:unseen").rules)
    assert all(max(map(abs, rule.parameters)) > 3 for rule in rule_set("translation:unseen").rules)
    assert all(max(map(abs, rule.parameters)) > 30 for rule in rule_set("shear:unseen").rules)


def test_translation_moves_right_and_down(picture):
    moved = apply("translation", picture, 3, -6)
    torch.testing.assert_close(moved[..., :26, 3:], picture[..., 6:, :29])
    assert moved[..., 26:, :].abs().max() == 0 and moved[..., :3].abs().max() == 0


@pytest.mark.parametrize("turns", range(4))
def test_quarter_turns_permute_pixels_counter_clockwise(picture, turns):
    torch.testing.assert_close(apply("rotation", picture, 90 * turns), torch.rot90(picture, turns, (2, 3)))


def test_reflections_flip(picture):
    torch.testing.assert_close(apply("reflection", picture, 1, 0), picture.flip(3))
    torch.testing.assert_close(apply("reflection", picture, 0, 1), picture.flip(2))


def test_scaling_by_a_half_shrinks_to_the_middle():
    white = torch.ones(1, 1, 32, 32)
    small = apply("scale", white, 0.5)
    assert small[..., 9:23, 9:23].min() == pytest.approx(1) and small[..., :7, :].max() == 0


def test_shear_is_horizontal_then_vertical():
    # The point (2, 4) goes to x = 2 + 4·tan 45° = 6, then y = 4 + 6·tan 45° = 10.
    rule = Rule(FAMILIES["shear"], (45.0, 45.0))
    back = rule.family.source(torch.tensor([[[6.0, 10.0]]], dtype=torch.float64), *rule.parameters)
    torch.testing.assert_close(back, torch.tensor([[[2.0, 4.0]]], dtype=torch.float64))


def test_every_shear_can_be_undone():
    for rule in rule_set("shear").rules:
        corners = source_points(rule, 32)[[0, 0, -1], [0, -1, 0]]
        edges = corners[1:] - corners[0]
        assert abs(torch.linalg.det(edges)) == pytest.approx(31 * 31)  # area is kept, so the map is invertible


def test_fisheye_is_the_formula_of_the_paper():
    rule = Rule(FAMILIES["fisheye"], (0.5, 0.0, 0.8))
    x, y = pixel_points(32)[4, 20].tolist()
    dx, dy = x / 16 - 0.5, y / 16
    pull = 0.8 * math.hypot(dx, dy)
    assert source_points(rule, 32)[4, 20].tolist() == pytest.approx([x + 16 * dx * pull, y + 16 * dy * pull])


def test_wave_is_the_formula_of_the_paper():
    rule = Rule(FAMILIES["wave"], (4.0, 2.0))
    x, y = pixel_points(32)[4, 20].tolist()
    assert source_points(rule, 32)[4, 20].tolist() == pytest.approx([x, y + 4 * math.cos(2 * 2 * math.pi / 32 * y)])


def test_black_white_turns_one_part_into_its_negative(picture):
    result = apply("black-white", picture, 0, -8, -1)
    torch.testing.assert_close(result[..., :8], 1 - picture[..., :8])
    torch.testing.assert_close(result[..., 8:], picture[..., 8:])


def test_swap_moves_whole_quarters(picture):
    result = apply("swap", picture, 3, 1, 2, 0)  # the first and the last quarter change places
    torch.testing.assert_close(result[..., :16, :16], picture[..., 16:, 16:])
    torch.testing.assert_close(result[..., :16, 16:], picture[..., :16, 16:])
    torch.testing.assert_close(result[..., 16:, 16:], picture[..., :16, :16])


def test_a_mixed_batch_gives_what_single_pictures_give():
    rules = rule_set("all")
    warp = Warp(rules, size=28)
    pictures = torch.rand(len(rules), 3, 28, 28)
    together = warp(pictures, torch.arange(len(rules)))
    for number in range(0, len(rules), 17):
        single = warp(pictures[number : number + 1], torch.tensor([number]))
        torch.testing.assert_close(together[number : number + 1], single)


def test_the_same_rule_is_the_same_at_another_resolution():
    smooth = torch.nn.functional.interpolate(torch.rand(1, 1, 4, 4), size=64, mode="bicubic", align_corners=False)
    coarse = torch.nn.functional.avg_pool2d(smooth, 2)
    fine = torch.nn.functional.avg_pool2d(apply("rotation", smooth, 30), 2)
    inside = (slice(None), slice(None), slice(8, 24), slice(8, 24))
    assert (fine - apply("rotation", coarse, 30))[inside].abs().max() < 0.05


def test_a_family_of_ones_own_works_like_the_others():
    @register_family("test-squeeze", grid=[(1.5,), (2.0,)], label="×{:g}".format)
    def squeeze(points, factor):
        return points * torch.tensor([factor, 1.0], dtype=points.dtype)

    try:
        assert [str(rule) for rule in rule_set("test-squeeze+scale").rules][:3] == [
            "test-squeeze ×1.5",
            "test-squeeze ×2",
            "scale ×0.5",
        ]
        assert Warp(rule_set("test-squeeze"), size=32)(torch.ones(1, 1, 32, 32), torch.tensor([1])).mean() == pytest.approx(0.5)
        with pytest.raises(FineError, match="already"):
            register_family("test-squeeze", grid=[(1,)], label=str)
    finally:
        del FAMILIES["test-squeeze"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("rotatoin", "did you mean 'rotation'"),
        ("swap:unseen", "swap has no seen/unseen split"),
        ("rotation:new", "unknown split"),
    ],
)
def test_unknown_rules_get_one_helpful_line(name, message):
    with pytest.raises(FineError, match=message) as problem:
        rule_set(name)
    assert "\n" not in str(problem.value)
