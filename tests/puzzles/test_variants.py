"""Variants of a puzzle: what each shows, asks and hides, and that nothing leaks into its hints."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from fine.errors import FineError
from fine.puzzles import (
    FIRST,
    KINDS,
    OTHER,
    PLAIN,
    RIGHT,
    SECOND,
    WRONG,
    Task,
    Variant,
    draw_puzzles,
    make_variant,
)
from fine.puzzles.distinct import all_distinct
from fine.puzzles.variant_kinds import MORE, VARIANTS
from fine.puzzles.variants import VariantPuzzles, draw_variant
from fine.rules import Warp, rule_set

HINTS, BACKWARDS = Variant("hints", 3), Variant("backwards")
CHAINS = [Variant("chain", 2), Variant("chain", 3)]
ODD = Variant("odd-one-out", 4)
WITH_CHOICES = [HINTS, BACKWARDS, *CHAINS]


@pytest.fixture(scope="module")
def task() -> Task:
    return Task(rules="rotation+translation", train_classes=40, test_classes=40, test_count=60)


@pytest.fixture(scope="module")
def warp(task) -> Warp:
    return Warp(task.test_puzzles().rules, size=32)


def shown(puzzles, warp: Warp, image: int, *rules: int) -> torch.Tensor:
    """An image under rules, one after the other."""
    result = puzzles.images.pixels[image : image + 1] / 255
    for rule in rules:
        result = warp(result, torch.tensor([rule]))
    return result[0]


# Every variant


@pytest.mark.parametrize("variant", [*WITH_CHOICES, ODD], ids=str)
def test_a_puzzle_is_the_same_however_many_are_drawn(task, variant):
    some = replace(task, test_count=20).test_puzzles(variant)
    assert np.array_equal(task.test_puzzles(variant).specs[:20], some.specs)


@pytest.mark.parametrize("variant", [*WITH_CHOICES, ODD], ids=str)
def test_the_six_integers_are_those_of_the_plain_puzzle(task, variant):
    puzzles = task.test_puzzles(variant)
    assert np.array_equal(puzzles.specs[:, :MORE], task.test_puzzles().specs)
    assert puzzles.specs.shape[1] == MORE + variant.kind.columns


@pytest.mark.parametrize("variant", WITH_CHOICES, ids=str)
def test_four_choices_are_one_of_each_kind_and_the_answer_is_right(task, variant):
    puzzles = task.test_puzzles(variant)
    batch = puzzles.render(range(60))
    assert batch.images.shape == (60, 2 * variant.hints + 1 + 4, 1, 32, 32)
    assert np.array_equal(np.sort(puzzles.kinds, axis=1), np.tile(range(len(KINDS)), (60, 1)))
    assert np.array_equal(batch.answers.numpy(), puzzles.answers)
    assert (puzzles.kinds[np.arange(60), puzzles.answers] == KINDS.index("right")).all()
    assert puzzles.chances == task.test_puzzles().chances


@pytest.mark.parametrize("variant", WITH_CHOICES, ids=str)
def test_no_two_choices_look_alike(task, variant):
    choices = task.test_puzzles(variant).render(range(60)).images[:, -4:].flatten(2)
    distance = torch.cdist(choices, choices, p=1) / 1024
    distance.diagonal(dim1=1, dim2=2).fill_(1)
    assert distance.min() > 0.005


@pytest.mark.parametrize("variant", [HINTS, *CHAINS], ids=str)
def test_hints_are_of_other_classes_than_the_image_asked_about(task, variant):
    puzzles = task.test_puzzles(variant)
    labels = puzzles.images.labels.numpy()
    spec = torch.from_numpy(puzzles.specs).long()
    images = variant.kind.shown(spec)[0].numpy()
    assert images.shape == (60, variant.hints)
    assert (labels[images] != labels[puzzles.specs[:, [SECOND]]]).all()
    assert (images != puzzles.specs[:, [OTHER]]).all()
    assert set(labels[images].ravel()) <= set(task.testing_classes)


# Hints


def test_one_hint_is_the_plain_puzzle(task):
    plain = task.test_puzzles()
    assert type(task.test_puzzles(PLAIN)) is type(plain)
    drawn = draw_variant(plain, PLAIN, classes=task.testing_classes)
    assert isinstance(drawn, VariantPuzzles) and np.array_equal(drawn.specs, plain.specs)
    assert torch.equal(drawn.render(range(9)).images, plain.render(range(9)).images)


def test_a_second_hint_changes_nothing_else(task):
    plain = task.test_puzzles().render(range(9))
    more = task.test_puzzles(Variant("hints", 2)).render(range(9))
    assert torch.equal(more.images[:, :2], plain.images[:, :2])
    assert torch.equal(more.images[:, 4:], plain.images[:, 2:])
    assert torch.equal(more.answers, plain.answers)


def test_all_hints_show_one_rule(task, warp):
    puzzles = task.test_puzzles(Variant("hints", 4))
    batch = puzzles.render(range(10))
    assert np.array_equal(puzzles.hidden, puzzles.specs[:, RIGHT])
    for number, spec in enumerate(puzzles.specs[:10].tolist()):
        for hint, image in enumerate((spec[FIRST], *spec[MORE:])):
            x, y = batch.images[number, 2 * hint : 2 * hint + 2]
            torch.testing.assert_close(x, shown(puzzles, warp, image))
            torch.testing.assert_close(y, shown(puzzles, warp, image, spec[RIGHT]))


# Backwards


def test_backwards_the_hidden_rule_takes_the_answer_to_what_is_shown(task, warp):
    puzzles = task.test_puzzles(BACKWARDS)
    batch = puzzles.render(range(20))
    for number, spec in enumerate(puzzles.specs[:20].tolist()):
        hidden = int(puzzles.hidden[number])
        x, y, y_new, *choices = batch.images[number]
        torch.testing.assert_close(x, shown(puzzles, warp, spec[FIRST]))
        torch.testing.assert_close(y, shown(puzzles, warp, spec[FIRST], hidden))
        expected = shown(puzzles, warp, spec[SECOND], spec[RIGHT], hidden)
        torch.testing.assert_close(y_new, expected)
        answer = choices[int(batch.answers[number])]
        torch.testing.assert_close(answer, shown(puzzles, warp, spec[SECOND], spec[RIGHT]))


def test_backwards_the_choices_look_different_under_the_hidden_rule_too(task, warp):
    puzzles = task.test_puzzles(BACKWARDS)
    choices = puzzles.render(range(60)).images[:, 3:]
    hidden = torch.from_numpy(puzzles.hidden).long().repeat_interleave(4)
    assert all_distinct(warp(choices.flatten(0, 1), hidden).view_as(choices)).all()


# Chains


def test_a_chain_applies_its_rules_in_the_order_of_the_hints(task, warp):
    puzzles = task.test_puzzles(Variant("chain", 3))
    batch = puzzles.render(range(20))
    places = set()
    for number in range(20):
        spec = puzzles.specs[number].tolist()
        place, *links = spec[MORE:]
        images, right, wrong = links[::2], links[1::2], links[1::2]
        images.insert(place, spec[FIRST])
        right.insert(place, spec[RIGHT])
        wrong.insert(place, spec[WRONG])
        places.add(place)
        for hint, (image, rule) in enumerate(zip(images, right, strict=True)):
            y = batch.images[number, 2 * hint + 1]
            torch.testing.assert_close(y, shown(puzzles, warp, image, rule))
        by_kind = [
            shown(puzzles, warp, image, *rules)
            for image in (spec[SECOND], spec[OTHER])
            for rules in (right, wrong)
        ]
        choices = torch.stack([by_kind[kind] for kind in puzzles.kinds[number]])
        torch.testing.assert_close(batch.images[number, 7:], choices)
    assert places == {0, 1, 2}


# The odd one out


def test_all_pairs_but_one_follow_the_rule(task, warp):
    puzzles = task.test_puzzles(ODD)
    batch = puzzles.render(range(12))
    assert batch.images.shape == (12, 8, 1, 32, 32)
    for number, spec in enumerate(puzzles.specs[:12].tolist()):
        images = (spec[FIRST], spec[SECOND], spec[OTHER], *spec[MORE + 1 :])
        assert len(set(images)) == 4
        for pair, image in enumerate(images):
            rule = spec[WRONG] if pair == batch.answers[number] else spec[RIGHT]
            x, y = batch.images[number, 2 * pair : 2 * pair + 2]
            torch.testing.assert_close(x, shown(puzzles, warp, image))
            torch.testing.assert_close(y, shown(puzzles, warp, image, rule))


def test_the_odd_one_is_right_and_all_others_are_wrong(task):
    puzzles = task.test_puzzles(ODD)
    assert puzzles.kinds.shape == (60, 4) and (puzzles.kinds.sum(axis=1) == 3).all()
    assert np.array_equal(puzzles.answers, puzzles.specs[:, MORE])
    assert np.array_equal(puzzles.render(range(60)).answers.numpy(), puzzles.answers)
    assert puzzles.chances == {"blind": 1 / 4}
    assert not puzzles.variant.kind.asks


def test_the_odd_one_is_anywhere(task):
    counts = np.bincount(replace(task, test_count=400).test_puzzles(ODD).answers, minlength=4)
    # 100 each are expected, with a standard deviation of 8.7; this is beyond four of them.
    assert counts.min() > 65 and counts.max() < 135


# Corrupted hints


def test_noise_and_squares_corrupt_the_hints_and_nothing_else(task):
    clean = task.test_puzzles().render(range(20)).images
    noisy = task.test_puzzles(Variant(noise=0.3)).render(range(20)).images
    covered = task.test_puzzles(Variant(covered=0.25)).render(range(20)).images
    assert torch.equal(noisy[:, 2:], clean[:, 2:]) and torch.equal(covered[:, 2:], clean[:, 2:])
    changed = (noisy[:, :2] != clean[:, :2]).float().mean()
    assert changed == pytest.approx(0.3, abs=0.02)  # 40,960 pixels: four deviations are 0.009
    hints = clean[:, :2]
    assert (covered[:, :2] <= hints).all() and (covered[:, :2] < hints).flatten(1).any(1).all()


def test_a_square_covers_its_share_of_a_white_image(task):
    puzzles = task.test_puzzles(Variant(covered=0.25))
    white = replace(puzzles.images, pixels=torch.full_like(puzzles.images.pixels, 255))
    hint = replace(puzzles, images=white).render(range(20)).images[:, 0]
    assert ((hint == 0).float().mean((1, 2, 3)) == 0.25).all()


# Names and limits


@pytest.mark.parametrize(
    ("name", "default"), [("hints", 1), ("backwards", 1), ("chain", 2), ("odd-one-out", 4)]
)
def test_a_variant_has_defaults_of_its_own(name, default):
    by = "swapped" if name == "backwards" else "inverse"
    assert make_variant(name) == Variant(name, default, by=by)
    assert make_variant(name).kind.name == name and VARIANTS[name].default == default


def test_variants_are_named_for_people():
    assert [str(variant) for variant in (PLAIN, HINTS, BACKWARDS, *CHAINS, ODD)] == [
        "1 hint",
        "3 hints",
        "backwards, by inverse",
        "a chain of 2",
        "a chain of 3",
        "the odd one out of 4",
    ]
    assert str(Variant(noise=0.05, covered=0.1)) == "1 hint, 5% noise, 10% covered"


def test_a_variant_describes_its_rules():
    rules = ("hidden", "right", "wrong")
    assert HINTS.kind.describe(rules) == BACKWARDS.kind.describe(rules) == "hidden"
    assert CHAINS[0].kind.describe(rules) == "hidden and others"
    assert ODD.kind.describe(rules) == "right, except one: wrong"


def test_no_two_variants_share_random_numbers():
    addresses = [kind.address for kind in VARIANTS.values()]
    assert len(set(addresses)) == len(addresses) and 3 not in addresses  # 3 corrupts hints


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": "sideways"}, "unknown variant 'sideways'"),
        ({"name": "chain", "hints": 1}, "give 2 to 10"),
        ({"name": "backwards", "hints": 2}, "give 1"),
        ({"name": "odd-one-out", "hints": 2}, "give 3 to 10"),
        ({"noise": 1.0}, "less than 1"),
        ({"covered": -0.1}, "at least 0"),
        ({"name": "backwards", "by": "magic"}, "unknown way to solve backwards 'magic'"),
    ],
)
def test_a_variant_that_does_not_exist_is_refused_in_one_line(arguments, message):
    with pytest.raises(FineError, match=message):
        Variant(**arguments)


def test_hints_that_can_only_be_of_the_class_asked_about_are_refused(images):
    puzzles = draw_puzzles(images, rule_set("rotation"), 5, seed=0)
    asked = images.labels[puzzles.specs[0, SECOND]].item()
    with pytest.raises(FineError, match="hints of the class of x'"):
        draw_variant(puzzles[:1], HINTS, classes=[asked])
