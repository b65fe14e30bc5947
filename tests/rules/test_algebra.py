"""Laws of rules as maps: composed, inverted, repeated and mixed, they do what they say."""

import numpy as np
import pytest

from fine.rules import FAMILIES, Rule
from fine.rules.affine import NEGATIVE, matrix_of, simplest_affine
from fine.rules.algebra import between, composed, inverse, power, simplified
from fine.rules.rule_map import RuleMap
from support.point_clouds import POINTS


def one(name: str, *parameters: float) -> RuleMap:
    return RuleMap((Rule(FAMILIES[name], parameters),))


NEGATED = RuleMap((Rule(NEGATIVE, ()),))
AFFINE = (
    one("rotation", 37.2),
    one("translation", 3.0, -1.5),
    one("scale", 0.7),
    one("stretch", 1.3, 0.8),
    one("shear", 20.0, -10.0),
    one("reflection", 1.0, 0.0),
    one("square", 0.0, 1.0, 1.0, 0.0),
    one("any-mix", 1.0, 70.0, 0.8, 2.0, 3.0),
)


def name(rule: RuleMap | None) -> str:
    assert rule is not None
    return " ".join(str(part).strip() for part in rule.rules)


def test_a_quarter_turn_twice_is_a_half_turn():
    assert name(composed(one("rotation", 90), one("rotation", 90))) == "rotation 180°"
    assert name(power(one("rotation", 90), 2)) == "rotation 180°"


def test_the_inverse_of_30_degrees_is_330():
    assert inverse(one("rotation", 30)).rules[0].parameters[0] == pytest.approx(330)


def test_half_way_between_30_and_60_degrees_is_45():
    made = between(one("rotation", 30), one("rotation", 60), 0.5)
    assert made.rules[0].family.name == "rotation"
    assert made.rules[0].parameters[0] == pytest.approx(45)


def test_half_way_goes_the_shorter_way_round():
    made = between(one("rotation", 350), one("rotation", 20), 0.5)
    assert made.rules[0].parameters[0] == pytest.approx(5)


@pytest.mark.parametrize("first", AFFINE, ids=name)
@pytest.mark.parametrize("then", AFFINE, ids=name)
def test_composition_reads_through_one_and_the_other(first, then):
    both = composed(first, then)
    assert len(both.rules) == 1
    assert both.sources(POINTS) == pytest.approx(first.sources(then.sources(POINTS)), abs=1e-9)


@pytest.mark.parametrize("rule", [*AFFINE, NEGATED, one("swap", 1, 2, 3, 0)], ids=name)
def test_a_rule_and_its_inverse_do_nothing(rule):
    both = composed(rule, inverse(rule))
    assert not both.negative
    assert both.sources(POINTS) == pytest.approx(POINTS, abs=1e-9)
    assert name(both) == "square unchanged"


@pytest.mark.parametrize("rule", AFFINE[:5], ids=name)
def test_half_of_a_rule_twice_is_the_rule(rule):
    half = power(rule, 0.5)
    assert composed(half, half).sources(POINTS) == pytest.approx(rule.sources(POINTS), abs=1e-9)
    assert power(rule, 2.5).sources(POINTS) == pytest.approx(
        composed(composed(rule, rule), half).sources(POINTS), abs=1e-8
    )


def test_powers_keep_their_family():
    assert power(one("scale", 4.0), 0.5).rules[0].parameters[0] == pytest.approx(2)
    assert name(power(one("translation", 2.0, 4.0), 0.25)) == "translation (0.5, 1)"
    assert name(power(one("rotation", 350), 0.5)) == "rotation 175°"
    assert name(power(NEGATED, 3)) == "negative"


def test_between_ends_are_the_ends():
    for share, end in ((0, AFFINE[0]), (1, AFFINE[3])):
        made = between(AFFINE[0], AFFINE[3], share)
        assert made.sources(POINTS) == pytest.approx(end.sources(POINTS), abs=1e-9)
    wave = between(one("wave", 1.0, 2.0), one("wave", 3.0, 1.0), 0.5)
    assert wave.rules[0].parameters == (2.0, 1.5)


def test_where_there_is_no_formula_none_is_made_up():
    assert inverse(one("wave", 2.0, 1.0)) is None
    assert power(one("fisheye", 0.0, 0.0, 0.5), 0.5) is None
    assert power(one("reflection", 1.0, 0.0), 0.5) is None
    assert power(NEGATED, 0.5) is None
    assert between(one("rotation", 30), one("reflection", 1.0, 0.0), 0.5) is None
    assert between(one("rotation", 30), NEGATED, 0.5) is None


def test_negatives_cancel_and_waves_stay():
    rules = (*NEGATED.rules, *one("wave", 2.0, 1.0).rules, *NEGATED.rules)
    assert name(simplified(rules)) == "wave height 2, 1 waves"


@pytest.mark.parametrize("rule", AFFINE, ids=name)
def test_a_matrix_is_named_by_its_own_family(rule):
    assert name(RuleMap((simplest_affine(matrix_of(rule.rules[0])),))) == name(rule)


def test_a_map_of_no_family_is_an_affine_map():
    matrix = np.array([[0.9, 0.3, 0.1], [-0.1, 1.2, -0.2]])
    rule = simplest_affine(matrix)
    assert rule.family.name == "affine-map"
    assert matrix_of(rule) == pytest.approx(matrix)
