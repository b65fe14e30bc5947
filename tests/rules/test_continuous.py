"""Families between the grid points: their ranges, and that they agree with the paper's formulas."""

import pytest
import torch

from fine.geometry.d4 import D4
from fine.geometry.warp import pixel_points
from fine.rules import FAMILIES, Rule, Warp, rule_set, source_points

RANGES = {
    "any-rotation": [(0, 360)],
    "any-translation": [(-10, 10)] * 2,
    "any-scale": [(0.4, 2.2)],
    "any-shear": [(-60, 60)] * 2,
    "stretch": [(0.5, 2.0)] * 2,
}


@pytest.mark.parametrize("name", RANGES)
def test_parameters_fill_their_ranges(name):
    grid = torch.tensor(FAMILIES[name].grid, dtype=torch.float64)
    assert len(grid) == len(grid.unique(dim=0)) == 1000
    for column, (low, high) in zip(grid.T, RANGES[name], strict=True):
        assert low <= column.min() and column.max() <= high
        # 1,000 even draws leave a gap of 1 % of the range at an end once in 23,000 times.
        assert column.min() - low < 0.01 * (high - low) and high - column.max() < 0.01 * (
            high - low
        )


@pytest.mark.parametrize("name", ["rotation", "translation", "scale", "shear"])
def test_a_rule_of_the_grid_does_the_same_in_the_continuous_family(name):
    for parameters in FAMILIES[name].grid[1:6]:
        between = Rule(FAMILIES[f"any-{name}"], parameters)
        torch.testing.assert_close(
            source_points(between, 32), source_points(Rule(FAMILIES[name], parameters), 32)
        )


def test_a_stretch_by_one_factor_is_a_scale():
    points = pixel_points(8)
    torch.testing.assert_close(
        FAMILIES["stretch"].source(points, 0.7, 0.7), FAMILIES["scale"].source(points, 0.7)
    )


def test_a_mix_mirrors_then_turns_then_scales_then_moves():
    points = pixel_points(8)
    mixed = FAMILIES["any-mix"].source(points, 1, 30, 0.8, 2, -3)
    step = FAMILIES["translation"].source(points, 2, -3)
    step = FAMILIES["scale"].source(step, 0.8)
    step = FAMILIES["rotation"].source(step, 30)
    torch.testing.assert_close(mixed, FAMILIES["reflection"].source(step, 1, 0))


def test_the_square_is_its_group_of_symmetries():
    images = torch.rand(1, 1, 32, 32, generator=torch.Generator().manual_seed(0)).expand(
        8, 1, 32, 32
    )
    moved = Warp(rule_set("square"), size=32)(images, torch.arange(8))
    elements = D4.move_each(images[:, None], torch.arange(8))[:, 0]
    matches = (moved[:, None] - elements[None]).abs().amax(dim=(2, 3, 4)) < 1e-5
    assert (matches.sum(0) == 1).all() and (matches.sum(1) == 1).all()


def test_they_are_not_in_all():
    assert not {rule.family.name for rule in rule_set("all").rules} & {*RANGES, "any-mix", "square"}
    assert len(rule_set("continuous")) == 6000
