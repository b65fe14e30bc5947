"""Patchwork: which numbers move what, which invert brightness, and that no two are the same."""

import pytest
import torch

from fine.geometry.warp import pixel_points
from fine.rules import Warp, negative_mask, rule_set, source_points

RULES = rule_set("patchwork").rules
POINTS = pixel_points(32)


def moved(number: int) -> torch.Tensor:
    """How far each point moves: (32, 32)."""
    return (source_points(RULES[number], 32) - POINTS).norm(dim=-1)


def test_there_are_1024_and_no_two_are_the_same():
    warp = Warp(rule_set("patchwork"), size=32)
    assert warp.negatives is not None
    looks = torch.cat((warp.grids.flatten(1), warp.negatives.flatten(1).float()), dim=1)
    distinct = {look.numpy().tobytes() for look in looks}
    # the one that moves nothing and inverts everything comes once in sixteen
    assert len(RULES) == 1024 and len(distinct) == 1024 - 1024 // 16 + 1


@pytest.mark.parametrize("number", range(0, 1024, 53))
def test_the_number_says_what_happens_to_the_brightness(number):
    mask = negative_mask(RULES[number], 32)
    share = mask.float().mean()
    if number % 4 == 0:
        assert share == 1
    elif number % 4 == 1:
        assert 0 < share < 1
    else:
        assert share == 0


@pytest.mark.parametrize("number", range(0, 1024, 53))
def test_the_number_says_what_moves(number):
    distance = moved(number)
    way = number // 4 % 4
    if way == 1 and number % 4 < 2:
        assert distance.max() == 0
    elif way < 2:
        assert (distance > 0).all()
    elif way == 2:
        assert (distance == 0).any() and (distance > 0).any()
    else:
        shifts = (source_points(RULES[number], 32) - POINTS).flatten(0, 1)
        assert 2 <= len(shifts.round(decimals=6).unique(dim=0)) <= 4


def test_a_patchwork_is_the_same_for_ever():
    # Written down once: encoders were pretrained on these.
    bent, shifted = (source_points(RULES[number], 32)[0, 0].tolist() for number in (17, 12))
    assert bent == pytest.approx([-16.698187680759013, -0.2709946256246023])
    assert shifted == pytest.approx([-1.164965681393607, -20.300058140600164])
