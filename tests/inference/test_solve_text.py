"""Letter strings solved without choices: rules are ranked, those that explain the hint first."""

import pytest
import torch

from fine import FineError, function, load, make_model, solve_text
from fine.models.string_encoder import STRING_SETTINGS
from fine.rules.strings import string_rules


@pytest.fixture(scope="module")
def model():
    return load("all-strings")


@pytest.fixture(scope="module")
def untrained():
    return make_model("fine", channels=1, size=32, settings=STRING_SETTINGS)


def test_rules_that_make_y_of_x_come_first(model):
    answer = solve_text(model, "pqr", "qrs", "tuvwxyz")
    explaining = [rule.explains for rule in answer.rules]
    assert explaining == sorted(explaining, reverse=True) and explaining[0]
    assert answer.text == "uvwxyza" and answer.probability == pytest.approx(1)
    # the model alone takes it for another rule
    assert max(answer.rules, key=lambda rule: rule.probability).answer != answer.text


def test_where_no_rule_explains_the_most_probable_comes_first(model):
    answer = solve_text(model, "abc", "abcd", "xyz")
    assert not any(rule.explains for rule in answer.rules)
    assert answer.rules[0] == max(answer.rules, key=lambda rule: rule.probability)


def test_every_rule_is_ranked(model):
    answer = solve_text(model, "abc", "cba", "kjihg")
    assert answer.text == "ghijk" and len(answer.rules) == len(string_rules("all"))
    assert sum(rule.probability for rule in answer.rules) == pytest.approx(1)
    assert {rule.rule for rule in answer.rules if rule.explains} >= {"reverse"}


def test_a_rule_that_leaves_nothing_is_not_ranked(untrained):
    answer = solve_text(untrained, "a", "b", "c")
    assert len(answer.rules) == len(string_rules("all")) - 2 and answer.probability <= 1


def test_a_model_reads_strings_or_images_not_both(untrained):
    image = torch.rand(1, 32, 32)
    with pytest.raises(FineError, match="this model reads strings, not images"):
        function(image, image, model=untrained)
    with pytest.raises(FineError, match="this model reads images, not strings"):
        solve_text(make_model("fine", channels=1, size=32), "abc", "abd", "mnp")


def test_rules_that_leave_no_letter_are_refused():
    with pytest.raises(FineError, match="leave no letter of 'a' or of 'c'"):
        solve_text(load("all-strings"), "a", "b", "c", rules="delete")
