"""Laws of naming: a composed function is named by its family, with probabilities that sum to 1."""

import pytest

from fine import FineError, NamedRule, explain, rule_set
from fine.inference.naming import distinct_rules
from fine.puzzles import RIGHT


@pytest.mark.slow
def test_the_composed_function_is_named_by_its_family(glyph_model, glyph_puzzles):
    """Chance is one in nine."""
    images = glyph_puzzles.render(range(60)).images
    rules = glyph_puzzles.rules.rules
    families = [rules[spec[RIGHT]].family.name for spec in glyph_puzzles.specs]
    named = [explain(glyph_model, x, y, k=1)[0].family for x, y in images[:, :2]]
    assert sum(one == two for one, two in zip(named, families, strict=True)) >= 45


def test_names_come_with_probabilities_the_most_probable_first(glyph_model, drawing):
    rotated = drawing.rotate(90)
    every = explain(glyph_model, drawing, rotated, k=1000)
    probabilities = [rule.probability for rule in every]
    assert sum(probabilities) == pytest.approx(1)
    assert probabilities == sorted(probabilities, reverse=True)
    assert explain(glyph_model, drawing, rotated) == every[:3]
    labels = [rule.label for rule in every]
    assert set(labels) <= {str(rule) for rule in rule_set("all").rules}
    assert len(set(labels)) == len(labels)
    some = explain(glyph_model, drawing, drawing, rules="rotation+scale", k=99)
    assert {rule.family for rule in some} == {"rotation", "scale"}


def test_rules_that_do_the_same_are_named_once():
    _, rules = distinct_rules(rule_set("all"), 32)
    missing = {str(rule) for rule in rule_set("all").rules} - {str(rule) for rule in rules}
    # All of them do what translation (0, 0) does.
    assert missing == {"rotation 0°", "shear (0°, 0°)", "scale ×1", "swap 0123"}


@pytest.mark.parametrize("name", ["all", "patchwork"])
def test_a_named_rule_is_the_rule_it_names(name):
    for rule in rule_set(name).rules:
        named = NamedRule(rule.family.name, rule.parameters, str(rule), 1.0)
        assert named.rule == rule and str(named.rule) == named.label


@pytest.mark.slow
def test_a_rule_for_pretraining_can_be_named(glyph_model, drawing):
    (named,) = explain(glyph_model, drawing, drawing, rules="patchwork", k=1)
    assert named.family == "patchwork" and str(named.rule) == named.label


def test_bad_requests_for_names_are_refused(glyph_model, drawing):
    with pytest.raises(FineError, match="k is 0"):
        explain(glyph_model, drawing, drawing, k=0)
    with pytest.raises(FineError, match="did you mean 'rotation'"):
        explain(glyph_model, drawing, drawing, rules="rotatoin")
