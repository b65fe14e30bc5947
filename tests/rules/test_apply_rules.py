"""Rules applied to one image: as in puzzles, one after the other, read only once."""

import pytest
import torch
from torch import Tensor

from fine.images import load_images
from fine.rules import FAMILIES, Rule, Warp, apply_rules, rule_set

TURN = Rule(FAMILIES["rotation"], (90.0,))
MIRROR = Rule(FAMILIES["reflection"], (1.0, 0.0))
HALF_NEGATIVE = Rule(FAMILIES["black-white"], (0.0, 0.0, 1.0))


@pytest.fixture(scope="module")
def image() -> Tensor:
    return load_images("glyphs").pixels[8] / 255


def test_a_rule_does_what_it_does_in_puzzles(image):
    rules = rule_set("all")
    numbers = torch.arange(len(rules))
    warped = Warp(rules, size=32)(image.expand(len(rules), -1, -1, -1), numbers)
    for rule, expected in zip(rules.rules, warped, strict=True):
        assert torch.allclose(apply_rules(image, [rule]), expected, atol=1e-4), str(rule)


@pytest.mark.parametrize(
    ("first", "second"),
    [(TURN, MIRROR), (MIRROR, TURN), (HALF_NEGATIVE, TURN), (TURN, HALF_NEGATIVE)],
)
def test_the_first_rule_is_applied_first(image, first, second):
    one_by_one = apply_rules(apply_rules(image, [first]), [second])
    assert torch.allclose(apply_rules(image, [first, second]), one_by_one, atol=1e-4)
    swapped = apply_rules(image, [second, first])
    assert not torch.allclose(swapped, one_by_one, atol=0.1)
