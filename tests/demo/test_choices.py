"""The choices of the page: made like those of a puzzle, different to look at, fixed by the seed."""

import pytest
import torch

from fine.demo.choices import POSSIBLE, make_choices, possible_choices
from fine.demo.sources import images_of
from fine.inference import NamedRule
from fine.puzzles import KINDS
from fine.puzzles.distinct import all_distinct
from fine.rules import FAMILIES, Rule, apply_rules, rule_set

IMAGES = images_of("glyphs", channels=1, size=32)
NEW = IMAGES.pixels[8] / 255
TURN = [Rule(FAMILIES["rotation"], (90.0,))]
BLANK = torch.zeros(1, 32, 32)


def named(*rules: Rule) -> list[NamedRule]:
    share = 1 / len(rules)
    return [NamedRule(rule.family.name, rule.parameters, str(rule), share) for rule in rules]


@pytest.mark.parametrize("seed", range(8))
def test_the_four_kinds_look_different(seed):
    options = make_choices(NEW, TURN, rule_set("all"), IMAGES, seed=seed)
    assert sorted(option.kind for option in options) == sorted(KINDS)
    assert all_distinct(torch.stack([option.image for option in options])[None])
    right = next(option for option in options if option.kind == "right")
    assert torch.equal(right.image, apply_rules(NEW, TURN)) and right.words == "turned 90° left"


def test_the_seed_fixes_the_choices_and_their_order():
    first, again, other = (
        make_choices(NEW, TURN, rule_set("all"), IMAGES, seed=seed) for seed in (3, 3, 4)
    )
    assert all(torch.equal(one.image, two.image) for one, two in zip(first, again, strict=True))
    assert [option.words for option in first] != [option.words for option in other]


def test_the_right_choice_may_be_in_any_place():
    places = set()
    for seed in range(16):
        options = make_choices(NEW, TURN, rule_set("affine"), IMAGES, seed=seed)
        places.add([option.kind for option in options].index("right"))
    assert places == {0, 1, 2, 3}


def test_a_blank_image_still_has_four_choices():
    options = make_choices(BLANK, TURN, rule_set("affine"), IMAGES, seed=0)
    assert sorted(option.kind for option in options) == sorted(KINDS)


def test_possible_choices_are_the_most_probable_rules_that_look_different():
    turns = [Rule(FAMILIES["rotation"], (angle,)) for angle in (90.0, 180.0, 270.0)]
    same = Rule(FAMILIES["rotation"], (450.0,))  # looks like 90°
    mirror = Rule(FAMILIES["reflection"], (1.0, 0.0))
    shift = Rule(FAMILIES["translation"], (6.0, 0.0))
    options = possible_choices(NEW, named(turns[0], same, *turns[1:], mirror, shift), seed=0)
    shown = {option.image.numpy().tobytes() for option in options}
    assert shown == {apply_rules(NEW, [rule]).numpy().tobytes() for rule in (*turns, mirror)}
    assert {option.kind for option in options} == {POSSIBLE}


def test_rules_that_look_alike_fill_up_the_four():
    rules = [Rule(FAMILIES["rotation"], (float(angle),)) for angle in (0, 90, 180, 270, 45)]
    options = possible_choices(BLANK, named(*rules), seed=0)
    assert len(options) == 4 and all(torch.equal(option.image, BLANK) for option in options)


@pytest.mark.parametrize("seed", range(4))
def test_a_model_of_two_rules_has_two_possible_choices(seed):
    mirrors = [Rule(FAMILIES["reflection"], way) for way in ((1.0, 0.0), (0.0, 1.0))]
    options = possible_choices(NEW, named(*mirrors), seed=seed)
    words = {option.words for option in options}
    assert words == {"mirrored left to right", "mirrored top to bottom"}
