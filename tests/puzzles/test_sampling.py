"""Drawing puzzles: what a seed and a number fix, what differs, and what is equally likely."""

import numpy as np
import pytest
import torch

from fine.errors import FineError
from fine.images import Images, load_images
from fine.images.mixture import mix
from fine.puzzles import FIRST, OTHER, RIGHT, SECOND, WRONG, draw_puzzles
from fine.puzzles.family_first import FamilyFirst
from fine.randomness import random_bits
from fine.rules import rule_set


def test_a_seed_names_the_same_puzzles_for_ever(puzzles):
    # Written down once: a change of these numbers changes every published data set.
    assert puzzles.specs[:3].tolist() == [
        [14, 47, 51, 74, 199, 22],
        [54, 22, 3, 181, 74, 22],
        [51, 18, 10, 180, 224, 13],
    ]


def test_a_puzzle_is_the_same_however_many_are_drawn(images, puzzles):
    rules = rule_set("all")
    few = draw_puzzles(images, rules, 10, seed=5)
    late = draw_puzzles(images, rules, 10, seed=5, start=990)
    other = draw_puzzles(images, rules, 10, seed=6)
    assert np.array_equal(few.specs, puzzles.specs[:10])
    assert np.array_equal(late.specs, puzzles.specs[990:1000])
    assert not np.array_equal(other.specs, puzzles.specs[:10])


def test_objects_and_rules_differ_as_they_should(images, puzzles):
    labels = images.labels.numpy()
    first, second, other = (labels[puzzles.specs[:, column]] for column in (FIRST, SECOND, OTHER))
    assert (first != second).all() and (second != other).all()
    assert (puzzles.specs[:, FIRST] != puzzles.specs[:, OTHER]).all()
    assert (puzzles.specs[:, RIGHT] != puzzles.specs[:, WRONG]).all()


def test_only_the_given_classes_appear(images):
    puzzles = draw_puzzles(images, rule_set("rotation"), 500, seed=0, classes=[2, 7, 9])
    assert set(images.labels.numpy()[puzzles.specs[:, :3]].ravel()) == {2, 7, 9}


def test_two_classes_are_enough(images):
    puzzles = draw_puzzles(images, rule_set("rotation"), 100, seed=0, classes=[0, 1])
    assert (puzzles.specs[:, FIRST] != puzzles.specs[:, OTHER]).all()


def test_every_place_is_as_likely_to_be_right(puzzles):
    # 500 expected in each of four places; five standard deviations are 5·√(2,000·¼·¾) ≈ 97.
    assert np.abs(np.bincount(puzzles.answers, minlength=4) - 500).max() < 97


def test_a_million_puzzles_are_small(puzzles):
    assert (puzzles.specs.nbytes + puzzles.attempts.nbytes) / len(puzzles) * 1e6 <= 200e6


def test_choices_that_look_alike_are_drawn_again(images):
    # A round hill of light looks the same from every side: no puzzle can be about rotating it.
    ticks = torch.arange(32) - 15.5
    hill = (1 - (ticks[:, None] ** 2 + ticks**2).sqrt() / 14).clamp(min=0)
    pixels = images.pixels.clone()
    pixels[:30] = (hill * 255).to(torch.uint8)
    mixed = Images("hills", pixels, images.labels, images.class_names)
    puzzles = draw_puzzles(mixed, rule_set("rotation"), 300, seed=0)
    assert (puzzles.specs[:, [SECOND, OTHER]] >= 30).all() and puzzles.attempts.max() > 1
    with pytest.raises(FineError, match="look alike"):
        draw_puzzles(mixed, rule_set("rotation"), 10, seed=0, classes=range(6))


def test_what_no_puzzle_can_be_drawn_from_is_refused(images):
    rules = rule_set("rotation")
    with pytest.raises(FineError, match="at least 2 classes"):
        draw_puzzles(images, rules, 10, seed=0, classes=[3])
    with pytest.raises(FineError, match="cannot draw 0 puzzles"):
        draw_puzzles(images, rules, 0, seed=0)
    with pytest.raises(FineError, match="from number -1"):
        draw_puzzles(images, rules, 10, seed=0, start=-1)
    empty = Images("holes", images.pixels[:5], images.labels[:5], ("full", "empty"))
    with pytest.raises(FineError, match="class 'empty' of holes has no images"):
        draw_puzzles(empty, rules, 10, seed=0)


# Families first: 81 shears, 24 rotations and 2 reflections

COUNT = 30_000
LIMIT = 5 * (COUNT * 1 / 3 * 2 / 3) ** 0.5  # five standard deviations of a third of the draws


@pytest.fixture(scope="module")
def rules():
    return rule_set("shear+rotation+reflection")


@pytest.fixture(scope="module")
def bits():
    return random_bits(0, np.arange(COUNT))


def family_of(rules, numbers):
    families = np.empty(len(rules), dtype=np.int64)
    for family, members in enumerate(rules.families.values()):
        families[members] = family
    return families[numbers]


def test_each_family_has_equal_weight_whatever_its_size(rules, bits):
    drawn = FamilyFirst(rules).draw((bits, 0), (bits, 1))
    counts = np.bincount(family_of(rules, drawn), minlength=3)
    assert np.abs(counts - COUNT / 3).max() < LIMIT


def test_each_rule_of_a_family_has_equal_weight(rules, bits):
    drawn = FamilyFirst(rules).draw((bits, 0), (bits, 1))
    for members in rules.families.values():
        counts = np.array([(drawn == member).sum() for member in members])
        expected = COUNT / 3 / len(members)
        assert np.abs(counts - expected).max() < 5 * expected**0.5 + 1


def test_two_rules_differ_and_neither_comes_first(rules, bits):
    right, wrong = FamilyFirst(rules).draw_pair(bits, 0)
    assert (right != wrong).all()
    families = family_of(rules, right), family_of(rules, wrong)
    for one in families:
        assert np.abs(np.bincount(one, minlength=3) - COUNT / 3).max() < LIMIT
    # (f, g) is as likely as (g, f), or the choices alone would say which rule is right
    pairs = np.zeros((3, 3))
    np.add.at(pairs, families, 1)
    assert np.abs(pairs - pairs.T).max() < 5 * (2 * COUNT / 9) ** 0.5


def test_puzzles_draw_families_alike(puzzles):
    families = [puzzles.rules.rules[number].family.name for number in puzzles.specs[:, RIGHT]]
    counts = {name: families.count(name) for name in puzzles.rules.families}
    # 222 expected of each of nine; five standard deviations are 5·√(2,000·⅑·8⁄9) ≈ 70.
    assert max(abs(count - 2000 / 9) for count in counts.values()) < 70


# Mixtures of sources


def test_a_puzzle_over_a_mixture_shows_one_source_and_each_as_often(images):
    half = images.class_names[: len(images.class_names) // 2]
    few = images.labels < len(half)
    small = Images("small", images.pixels[few], images.labels[few], half)
    other = Images("other", images.pixels, images.labels, images.class_names)
    mixed = mix([small, other])
    drawn = draw_puzzles(mixed, rule_set("rotation"), 2000, seed=0)
    sources = mixed.sources.numpy()[drawn.specs[:, [FIRST, SECOND, OTHER]]]
    assert (sources == sources[:, :1]).all()
    assert sources[:, 0].mean() == pytest.approx(0.5, abs=0.04)
    labels = mixed.labels.numpy()[drawn.specs[:, [FIRST, SECOND]]]
    assert (labels[:, 0] != labels[:, 1]).all()


def test_each_source_of_a_mixture_needs_two_of_the_classes(images):
    one = images.labels == 0
    single = Images("single", images.pixels[one], images.labels[one], images.class_names[:1])
    with pytest.raises(FineError, match=r"every source of single.* needs at least 2 .* one has 1"):
        draw_puzzles(mix([single, images]), rule_set("rotation"), 10, seed=0)


@pytest.mark.parametrize("classes", [[0, 0], [0, 400], [0, -1]])
def test_classes_that_are_not_there_or_named_twice_are_refused(classes):
    with pytest.raises(FineError, match="numbered 0 to 399"):
        draw_puzzles(load_images("glyphs"), rule_set("swap"), 4, seed=0, classes=classes)
