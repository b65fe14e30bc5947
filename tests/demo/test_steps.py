"""Rules as visitors choose and read them."""

import pytest

from fine.demo.messages import Step
from fine.demo.steps import controls_of, in_one_sentence, rule_of
from fine.demo.wording import in_words
from fine.rules import FAMILIES, Rule, rule_set


@pytest.mark.parametrize("name", rule_set("all").families)
def test_no_two_rules_of_a_family_have_the_same_words(name):
    words = [in_words(Rule(FAMILIES[name], parameters)) for parameters in FAMILIES[name].grid]
    assert len(set(words)) == len(words)


@pytest.mark.parametrize("name", rule_set("all").families)
def test_every_rule_of_a_family_can_be_chosen(name):
    family = FAMILIES[name]
    for parameters in family.grid:
        assert rule_of(Step(family=name, parameters=list(parameters))) == Rule(family, parameters)


def test_rules_between_those_of_the_grid_can_be_chosen():
    assert rule_of(Step(family="rotation", parameters=[37.5])).parameters == (37.5,)


def test_sliders_reach_the_whole_grid_or_are_not_offered():
    assert [control.name for control in controls_of(FAMILIES["translation"])] == ["right", "down"]
    assert controls_of(FAMILIES["reflection"]) == []  # (0, 0) and (1, 1) are no rules


def test_a_sentence_leaves_out_rules_that_do_nothing():
    size, turn = Rule(FAMILIES["scale"], (1.0,)), Rule(FAMILIES["rotation"], (40.0,))
    shift = Rule(FAMILIES["translation"], (3.0, 0.0))
    assert in_one_sentence([size, turn, shift]) == "turned 40° left, then shifted 3 right"
    assert in_one_sentence([size]) == "kept at its size"
