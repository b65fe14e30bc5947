import numpy as np
import pytest
import torch

from fine.errors import FineError
from fine.images import Images
from fine.puzzles import FIRST, KINDS, ORDERS, OTHER, RIGHT, SECOND, WRONG, Batch, draw_puzzles, seen_from, seen_through, turned
from fine.rules import Warp, rule_set


@pytest.fixture(scope="module")
def images():
    """Twelve classes of five noisy pictures, integers only, so that nothing depends on a drawing library."""
    numbers = torch.arange(60 * 32 * 32, dtype=torch.int64)
    pixels = ((numbers * 2654435761) % 4294967296 >> 24).to(torch.uint8).view(60, 1, 32, 32)
    return Images("noise", pixels, torch.arange(60) // 5, tuple("abcdefghijkl"))


@pytest.fixture(scope="module")
def puzzles(images):
    return draw_puzzles(images, rule_set("all"), 2000, seed=5)


def test_a_seed_names_the_same_puzzles_for_ever(puzzles):
    # Written down once: a change of these numbers changes every published data set.
    assert puzzles.specs[:3].tolist() == [
        [14, 47, 51, 74, 199, 22],
        [54, 22, 3, 181, 74, 22],
        [51, 18, 10, 180, 224, 13],
    ]


def test_a_puzzle_is_the_same_however_many_are_drawn(images, puzzles):
    rules = rule_set("all")
    assert np.array_equal(draw_puzzles(images, rules, 10, seed=5).specs, puzzles.specs[:10])
    assert np.array_equal(draw_puzzles(images, rules, 10, seed=5, start=990).specs, puzzles.specs[990:1000])
    assert not np.array_equal(draw_puzzles(images, rules, 10, seed=6).specs, puzzles.specs[:10])


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


def test_pictures_are_what_the_spec_says(images, puzzles):
    batch = puzzles.render(range(20))
    warp = Warp(puzzles.rules, size=32)
    for number in range(20):
        x, x1, x2, f, g, order = puzzles.specs[number].tolist()

        def made(image, rule):
            return warp(images.pixels[image : image + 1] / 255, torch.tensor([rule]))[0]

        by_kind = [made(x1, f), made(x1, g), made(x2, f), made(x2, g)]
        expected = [images.pixels[x] / 255, made(x, f), images.pixels[x1] / 255, *(by_kind[kind] for kind in ORDERS[order])]
        torch.testing.assert_close(batch.pictures[number], torch.stack(expected))
        assert ORDERS[order][batch.answers[number]] == 0


def test_answers_and_kinds_agree(puzzles):
    assert np.array_equal(puzzles.render(range(len(puzzles)))[1].numpy(), puzzles.answers)
    assert (np.take_along_axis(puzzles.kinds, puzzles.answers[:, None], 1) == KINDS.index("right")).all()


def test_every_place_is_as_likely_to_be_right(puzzles):
    # 500 expected in each of four places; five standard deviations are 5·√(2,000·¼·¾) ≈ 97.
    assert np.abs(np.bincount(puzzles.answers, minlength=4) - 500).max() < 97


def test_families_are_drawn_alike_whatever_their_size(puzzles):
    families = [puzzles.rules.rules[number].family.name for number in puzzles.specs[:, RIGHT]]
    shares = {name: families.count(name) for name in puzzles.rules.families}
    # 222 expected of each of nine; five standard deviations are 5·√(2,000·⅑·8⁄9) ≈ 70.
    assert max(abs(count - 2000 / 9) for count in shares.values()) < 70


def test_choices_that_look_alike_are_drawn_again(images):
    # A round hill of light looks the same from every side, so a puzzle about turning it has no answer.
    ticks = torch.arange(32) - 15.5
    hill = (1 - (ticks[:, None] ** 2 + ticks**2).sqrt() / 14).clamp(min=0)
    pixels = images.pixels.clone()
    pixels[:30] = (hill * 255).to(torch.uint8)
    mixed = Images("hills", pixels, images.labels, images.class_names)
    puzzles = draw_puzzles(mixed, rule_set("rotation"), 300, seed=0)
    assert (puzzles.specs[:, [SECOND, OTHER]] >= 30).all() and puzzles.attempts.max() > 1
    with pytest.raises(FineError, match="look alike"):
        draw_puzzles(mixed, rule_set("rotation"), 10, seed=0, classes=range(6))


def test_no_two_choices_show_the_same_picture(puzzles):
    choices = puzzles.render(range(500)).pictures[:, 3:].flatten(2)
    distance = torch.cdist(choices, choices, p=1) / 1024
    distance.diagonal(dim1=1, dim2=2).fill_(1)
    assert distance.min() > 0.005


def test_a_million_puzzles_are_small(puzzles):
    assert (puzzles.specs.nbytes + puzzles.attempts.nbytes) / len(puzzles) * 1e6 <= 200e6


def test_one_class_is_not_enough(images):
    with pytest.raises(FineError, match="at least 2 classes"):
        draw_puzzles(images, rule_set("rotation"), 10, seed=0, classes=[3])


def test_a_puzzle_seen_from_another_side_is_turned_as_a_whole(puzzles):
    batch = puzzles.render(range(8))
    seen = seen_from(batch, np.arange(8))
    assert torch.equal(seen.answers, batch.answers) and torch.equal(seen.pictures[0], batch.pictures[0])
    for side in range(8):
        turned = torch.rot90(batch.pictures[side], side % 4, (2, 3))
        assert torch.equal(seen.pictures[side], turned.flip(3) if side >= 4 else turned)


def test_pictures_of_a_puzzle_are_turned_each_by_itself_and_before_the_rule(puzzles):
    numbers, render = np.arange(16), puzzles.renderer()
    before, sides = puzzles.specs.copy(), np.stack([numbers % 8, numbers // 2, np.full(16, 3)], axis=1)
    batch = render(turned(puzzles, numbers, sides))
    assert np.array_equal(puzzles.specs, before)
    assert batch.answers.tolist() == puzzles.answers[numbers].tolist()
    for number, spec, kinds in zip(numbers, before, puzzles.kinds, strict=False):
        pictures = puzzles.images.pixels[spec[[FIRST, SECOND, OTHER]]][:, None] / 255
        x, new, other = seen_from(Batch(pictures, batch.answers), sides[number]).pictures[:, 0]
        rules = spec[[RIGHT, *((RIGHT, WRONG)[kind % 2] for kind in kinds)]]
        made = render.warp(torch.stack([x, *((new, other)[kind // 2] for kind in kinds)]), torch.from_numpy(rules).long())
        torch.testing.assert_close(batch.pictures[number], torch.stack([x, made[0], new, *made[1:]]))


def test_a_puzzle_seen_through_a_rule_is_seen_through_it_as_a_whole(puzzles):
    batch, warp = puzzles.render(range(4)), Warp(puzzles.rules, size=32)
    seen = seen_through(batch, warp, np.array([-1, 30, -1, 7]))
    assert torch.equal(seen.answers, batch.answers) and torch.equal(seen.pictures[::2], batch.pictures[::2])
    for puzzle, rule in ((1, 30), (3, 7)):
        assert torch.equal(seen.pictures[puzzle], warp(batch.pictures[puzzle], torch.full((7,), rule)))


@pytest.mark.parametrize("family", ["translation", "rotation", "shear"])
def test_a_seen_rule_seen_through_another_is_none_that_the_test_holds_back(family):
    # All three families are affine, so a rule is known by where it takes three corners of a picture.
    corners = torch.tensor([[-16.0, -16.0], [16.0, -16.0], [-16.0, 16.0]], dtype=torch.float64)
    ahead = torch.cat((corners, torch.ones(3, 1, dtype=torch.float64)), dim=1)

    def maps(split):
        read_from = torch.stack([rule.family.source(corners, *rule.parameters) for rule in rule_set(f"{family}:{split}").rules])
        rows = torch.linalg.solve(ahead, read_from).mT  # (n, 2, 3): [matrix | shift] of every rule
        return torch.cat((rows, torch.tensor([[[0.0, 0.0, 1.0]]], dtype=torch.float64).expand(len(rows), 1, 3)), dim=1)

    seen, unseen = maps("seen"), maps("unseen")
    lenses = seen[:, None]
    shown = (lenses @ seen @ lenses.inverse()).flatten(0, 1)  # g f g⁻¹, for all f and g
    moved = torch.einsum("nij,pj->npi", shown, ahead)[:, None] - torch.einsum("nij,pj->npi", unseen, ahead)
    assert moved.norm(dim=-1).amax(-1).min() > 2  # pixels, at the corner that tells most


def test_a_quarter_turn_of_a_rotation_puzzle_keeps_its_rule(images):
    # Turning commutes with turning, so a rule that is held back from training stays held back.
    puzzles = draw_puzzles(images, rule_set("rotation"), 24, seed=1)
    seen = seen_from(puzzles.render(range(24)), np.full(24, 1))
    remade = Warp(puzzles.rules, size=32)(seen.pictures[:, 0], torch.from_numpy(puzzles.specs[:, RIGHT]).long())
    torch.testing.assert_close(seen.pictures[:, 1], remade, rtol=1e-3, atol=1e-3)
