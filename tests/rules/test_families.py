"""The registry of families: rules by name, what is tested, and families of one's own."""

import pytest
import torch

from fine.errors import FineError
from fine.inference.naming import NamedRule
from fine.puzzles import Task
from fine.rules import FAMILIES, Rule, Warp, families, register_family, rule_set


def test_affine_is_the_first_five_and_all_is_everything_that_is_tested():
    affine = ["translation", "rotation", "reflection", "shear", "scale"]
    assert list(rule_set("affine").families) == affine
    assert list(rule_set("all").families) == list(families.tested_families())
    assert len(rule_set("all")) == sum(
        len(family.grid) for family in families.tested_families().values()
    )


def test_there_is_one_registry_and_it_holds_families_for_pretraining_too():
    assert [name for name, family in FAMILIES.items() if family.pretraining_only] == ["patchwork"]
    assert "patchwork" not in families.tested_families()
    left_out = {name for name, family in FAMILIES.items() if not family.in_all}
    assert set(FAMILIES) - left_out - {"patchwork"} == set(families.tested_families())


@pytest.mark.parametrize("name", [*FAMILIES])
def test_every_rule_that_a_name_gives_can_be_looked_up_again(name):
    for rule in rule_set(name).rules:
        named = NamedRule(rule.family.name, rule.parameters, str(rule), probability=1.0)
        assert named.rule == rule


def test_names_are_joined_and_no_family_comes_twice():
    assert list(rule_set("patchwork+all").families) == ["patchwork", *families.tested_families()]
    assert rule_set("rotation+affine+rotation").rules[:24] == rule_set("rotation").rules
    assert len(rule_set("rotation+affine+rotation")) == len(rule_set("affine"))


def test_a_set_knows_the_rules_of_its_families():
    rules = rule_set("scale+rotation")
    assert rules.families == {"scale": [0, 1, 2, 3], "rotation": list(range(4, 28))}
    assert all(
        rules.rules[number].family.name == name
        for name, numbers in rules.families.items()
        for number in numbers
    )


@pytest.mark.parametrize(
    ("rules", "tested"),
    [
        ("rotation", "rotation"),
        ("patchwork+rotation", "rotation"),
        ("rotation+patchwork+swap", "rotation+swap"),
        ("patchwork+shear:seen", "shear:seen"),
        ("patchwork", "patchwork"),  # where nothing else is left
        ("affine", "affine"),
        ("no-family", "no-family"),  # which rule_set refuses
    ],
)
def test_tests_leave_out_what_is_for_pretraining_only(rules, tested):
    assert families.tested_rules(rules) == tested


@pytest.mark.slow
def test_a_task_trains_on_patchwork_and_tests_without_it():
    task = Task(images="glyphs", rules="patchwork+rotation", train_count=20, test_count=20)
    assert list(task.training_puzzles().rules.families) == ["patchwork", "rotation"]
    assert list(task.test_puzzles().rules.families) == ["rotation"]


def test_a_family_of_ones_own_works_like_the_others():
    @register_family("test-squeeze", grid=[(1.5,), (2.0,)], label="×{:g}".format)
    def squeeze(points, factor):
        return points * torch.tensor([factor, 1.0], dtype=points.dtype)

    try:
        names = [str(rule) for rule in rule_set("test-squeeze+scale").rules][:3]
        assert names == ["test-squeeze ×1.5", "test-squeeze ×2", "scale ×0.5"]
        white = torch.ones(1, 1, 32, 32)
        squeezed = Warp(rule_set("test-squeeze"), size=32)(white, torch.tensor([1]))
        assert squeezed.mean() == pytest.approx(0.5)
        assert "test-squeeze" in rule_set("all").families
        with pytest.raises(FineError, match="already"):
            register_family("test-squeeze", grid=[(1,)], label=str)
    finally:
        del FAMILIES["test-squeeze"]


@pytest.mark.parametrize("name", ["all", "affine", "rotation", "patchwork", "two words", "a+b", ""])
def test_a_name_that_is_taken_or_cannot_be_written_in_a_set_is_refused(name):
    with pytest.raises(FineError, match=r"choose another name|use letters, digits and hyphens"):
        register_family(name, grid=[(1,)], label=str)


def test_a_rule_is_named_by_its_family_and_its_parameters():
    assert str(Rule(FAMILIES["rotation"], (45.0,))) == "rotation 45°"
    assert str(Rule(FAMILIES["translation"], (3.0, -6.0))) == "translation (3, -6)"
    assert str(Rule(FAMILIES["black-white"], (1.0, 4.0, 1.0))) == "black-white below 4"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("rotatoin", "did you mean 'rotation'"),
        ("swap:unseen", "swap has no seen/unseen split; choose among translation, rotation, shear"),
        ("rotation:new", "unknown split"),
        ("", "unknown rules ''"),
        ("rotation+", "unknown rules ''"),
    ],
)
def test_unknown_rules_get_one_helpful_line(name, message):
    with pytest.raises(FineError, match=message) as problem:
        rule_set(name)
    assert "\n" not in str(problem.value)


def test_one_rule_is_not_enough_for_a_puzzle():
    @register_family("test-single", grid=[(1,)], label=str)
    def single(points, factor):
        return points

    try:
        with pytest.raises(FineError, match="'test-single' has 1 rule: a puzzle needs"):
            rule_set("test-single")
    finally:
        del FAMILIES["test-single"]
