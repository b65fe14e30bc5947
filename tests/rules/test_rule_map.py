"""Rules as maps of points: the same as the warp of rules, in frame units."""

import numpy as np
import pytest

from fine.geometry.frame import frame_points
from fine.geometry.point_map import PointMap
from fine.rules import FAMILIES, Rule, rule_set, source_points
from fine.rules.affine import NEGATIVE
from fine.rules.rule_map import RuleMap
from support.point_clouds import POINTS


@pytest.mark.parametrize("name", ["rotation", "shear", "wave", "swap", "square", "any-mix"])
def test_points_are_those_of_the_rules(name):
    for rule in rule_set(name).rules[1:20:6]:
        mapped = RuleMap((rule,)).sources(frame_points(8, 8, unit=4))
        assert mapped * 16 == pytest.approx(source_points(rule, 8).numpy(), abs=1e-9)


def test_it_is_a_point_map_whose_matrix_does_the_same():
    rules = (Rule(FAMILIES["rotation"], (30.0,)), Rule(FAMILIES["translation"], (2.0, 3.0)))
    turn = RuleMap(rules)
    assert isinstance(turn, PointMap)
    read = POINTS @ turn.matrix[:, :2].T + turn.matrix[:, 2]
    assert turn.sources(POINTS) == pytest.approx(read)


def test_what_is_not_affine_has_no_matrix():
    assert RuleMap((Rule(FAMILIES["wave"], (2.0, 1.0)),)).matrix is None


def test_negatives():
    whole = RuleMap((Rule(NEGATIVE, ()),))
    part = RuleMap((Rule(FAMILIES["black-white"], (0.0, 0.0, 1.0)),))
    assert whole.negative and not whole.partly_negative
    assert part.partly_negative and not part.negative and part.matrix is None
    assert np.array_equal(part.negative_at(POINTS), POINTS[:, 0] > 0)
    assert whole.negative_at(POINTS).all()


def test_the_identity():
    there, back = (Rule(FAMILIES["rotation"], (degrees,)) for degrees in (30.0, -30.0))
    assert RuleMap(()).is_identity and RuleMap((there, back)).is_identity
    wave = Rule(FAMILIES["wave"], (2.0, 1.0))
    part = Rule(FAMILIES["black-white"], (0.0, 0.0, 1.0))
    assert not any(RuleMap((rule,)).is_identity for rule in (there, Rule(NEGATIVE, ()), wave, part))
