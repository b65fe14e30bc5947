"""How the wrong rule is drawn: from where, and so that choices alone give nothing away."""

from dataclasses import replace

import numpy as np
import pytest

from fine.errors import FineError
from fine.images import load_images
from fine.puzzles.distractors import RulePairs, nearest
from fine.puzzles.family_first import FamilyFirst
from fine.puzzles.sampling import draw_puzzles
from fine.puzzles.task import Task
from fine.randomness import random_bits
from fine.rules import FAMILIES, rule_set

BASE = random_bits(0, np.arange(4000))


def pairs(rules: str, distractors: str) -> list[tuple]:
    drawn = RulePairs(rule_set(rules), distractors)
    found = drawn.rules.rules
    return [(found[f], found[g]) for f, g in zip(*drawn.draw(BASE, 6), strict=True)]


def test_any_is_what_it_always_was():
    rules = rule_set("affine")
    for ours, always in zip(
        RulePairs(rules, "any").draw(BASE, 6), FamilyFirst(rules).draw_pair(BASE, 6), strict=True
    ):
        assert (ours == always).all()


@pytest.mark.parametrize("distractors", ["family", "near"])
def test_both_rules_are_of_one_family(distractors):
    drawn = pairs("affine", distractors)
    assert all(f.family is g.family and f != g for f, g in drawn)
    assert {f.family.name for f, _ in drawn} == set(rule_set("affine").families)


def test_near_rotations_are_the_two_beside():
    rules = rule_set("rotation")
    for number, near in enumerate(nearest(rules)):
        degrees = rules.rules[number].parameters[0]
        found = {rules.rules[other].parameters[0] for other in near}
        assert found == {(degrees - 15) % 360, (degrees + 15) % 360}


@pytest.mark.parametrize("distractors", ["family", "near", "any+near"])
def test_the_right_rule_and_the_wrong_one_are_equally_likely(distractors):
    drawn = pairs("scale+reflection", distractors)
    forth = sum(str(f) < str(g) for f, g in drawn)
    # Of 4,000 fair coins, five standard deviations are 158.
    assert abs(forth - len(drawn) / 2) < 160


def test_several_kinds_take_turns():
    near = {(f, g) for f, g in pairs("rotation", "near")}
    share = np.mean([pair in near for pair in pairs("rotation", "near+any")])
    # Half are near, and of the others 2 in 23.
    assert share == pytest.approx(0.5 + 0.5 * 2 / 23, abs=0.04)


@pytest.mark.parametrize("split", ["seen", "unseen"])
def test_distractors_of_a_split(split):
    drawn = pairs("rotation+shear:unseen", split)
    assert all(f.unseen for f, _ in drawn)
    assert all(g.unseen == (split == "unseen") for _, g in drawn)


def test_puzzles_with_distractors_from_the_other_split_can_be_drawn_and_rendered():
    task = Task(
        rules="rotation:seen",
        test_rules="rotation:unseen",
        test_distractors="seen",
        train_classes=5,
        test_classes=5,
        test_count=20,
    )
    puzzles = task.test_puzzles()
    right, wrong = (
        np.array([puzzles.rules.rules[n].unseen for n in puzzles.specs[:, at]]) for at in (3, 4)
    )
    assert right.all() and not wrong.any()
    assert puzzles.render(range(20)).images.shape == (20, 7, 1, 32, 32)


@pytest.mark.parametrize(
    ("rules", "distractors", "message"),
    [
        ("rotation", "far", "far"),
        ("scale", "seen", "no seen/unseen split"),
        ("rotation", "near+", "distractors"),
    ],
)
def test_what_cannot_be_drawn_is_refused(rules, distractors, message):
    with pytest.raises(FineError, match=message):
        draw_puzzles(load_images("glyphs"), rule_set(rules), 4, seed=0, distractors=distractors)


def test_a_split_without_rules_is_refused(monkeypatch):
    whole = replace(FAMILIES["scale"], unseen=lambda factor: False)
    monkeypatch.setitem(FAMILIES, "scale", whole)
    with pytest.raises(FineError, match="held back as unseen: use distractors=any"):
        RulePairs(rule_set("scale"), "unseen")
