"""Augmentation: a puzzle stays a puzzle, whether each image is moved or all of them together."""

import numpy as np
import pytest
import torch

from fine.geometry.d4 import D4
from fine.images import load_images
from fine.images.augmentation import PARTS, ImageAugmentation
from fine.puzzles import FIRST, OTHER, RIGHT, SECOND, WRONG, draw_puzzles
from fine.puzzles.augmentation import DRAWN, augment_images, augment_puzzles, conjugate
from fine.puzzles.distinct import all_distinct
from fine.randomness import random_bits
from fine.rules import Warp, rule_set


def test_every_symmetry_can_be_drawn_and_the_first_four_are_rotations():
    assert sorted(DRAWN.tolist()) == list(range(8))
    assert DRAWN[:4].tolist() == [0, 1, 2, 3]


def test_a_puzzle_is_moved_as_a_whole(puzzles):
    batch = puzzles.render(range(8))
    moved = augment_puzzles(batch, np.arange(8))
    assert torch.equal(moved.answers, batch.answers)
    assert torch.equal(moved.images[0], batch.images[0])
    for draw in range(8):
        rotated = torch.rot90(batch.images[draw], draw % 4, (2, 3))
        expected = rotated.flip(3) if draw >= 4 else rotated
        assert torch.equal(moved.images[draw], expected)


def test_a_moved_puzzle_is_about_the_conjugated_rule(puzzles):
    """If y = f(x), then moving by g gives g y = (g f g⁻¹)(g x), and the same for the choices."""
    batch, warp = puzzles.render(range(8)), Warp(puzzles.rules, size=32)
    moved = augment_puzzles(batch, np.arange(8))
    for number, spec in enumerate(puzzles.specs[:8].tolist()):
        element = int(DRAWN[number])

        def conjugated(image, rule, element=element):
            before = D4.move(D4.inverse(element), image)
            return D4.move(element, warp(before[None], torch.tensor([rule]))[0])

        x, y, x_new, *choices = moved.images[number]
        torch.testing.assert_close(conjugated(x, spec[RIGHT]), y)
        torch.testing.assert_close(
            conjugated(x_new, spec[RIGHT]), choices[int(moved.answers[number])]
        )
    assert all_distinct(moved.images[:, 3:]).all()


def test_images_are_moved_each_by_itself_and_before_the_rule(puzzles):
    numbers, render = np.arange(16), puzzles.renderer()
    before = puzzles.specs.copy()
    draws = np.stack([numbers % 8, numbers // 2, np.full(16, 3)], axis=1)
    batch = render(augment_images(puzzles, numbers, draws))
    assert np.array_equal(puzzles.specs, before)
    assert batch.answers.tolist() == puzzles.answers[numbers].tolist()
    for number in numbers:
        spec, kinds = before[number], puzzles.kinds[number]
        plain = puzzles.images.pixels[spec[[FIRST, SECOND, OTHER]]] / 255
        x, new, other = D4.move_each(plain, torch.from_numpy(DRAWN[draws[number]]))
        rules = spec[[RIGHT, *((RIGHT, WRONG)[kind % 2] for kind in kinds)]]
        objects = torch.stack([x, *((new, other)[kind // 2] for kind in kinds)])
        y, *choices = render.warp(objects, torch.from_numpy(rules).long())
        torch.testing.assert_close(batch.images[number], torch.stack([x, y, new, *choices]))


def test_choices_of_augmented_images_still_look_different():
    glyphs = load_images("glyphs")
    puzzles = draw_puzzles(glyphs, rule_set("all"), 500, seed=5, classes=range(40))
    numbers = np.arange(500)
    draws = np.stack([numbers % 8, numbers // 8 % 8, numbers // 64], axis=1)
    render, specs = puzzles.renderer(), augment_images(puzzles, numbers, draws)
    everything = ImageAugmentation(PARTS)
    for shown in (render, render.augmented(everything, random_bits(numbers))):
        # These images were not compared when the puzzle was drawn, so a few may look alike.
        assert all_distinct(shown(specs).images[:, 3:]).float().mean() > 0.98


def test_drawing_nothing_moves_nothing(puzzles):
    numbers = np.arange(5)
    specs = augment_images(puzzles, numbers, np.zeros((5, 3), dtype=np.int64))
    assert np.array_equal(specs, puzzles.specs[:5])
    batch = puzzles.render(numbers)
    assert torch.equal(augment_puzzles(batch, np.zeros(5, dtype=np.int64)).images, batch.images)


def test_a_quarter_turn_of_a_rotation_puzzle_keeps_its_rule(images):
    # Rotations commute, so a rule that is held back from training stays held back.
    puzzles = draw_puzzles(images, rule_set("rotation"), 24, seed=1)
    moved = augment_puzzles(puzzles.render(range(24)), np.full(24, 1)).images
    rules = torch.from_numpy(puzzles.specs[:, RIGHT]).long()
    remade = Warp(puzzles.rules, size=32)(moved[:, 0], rules)
    torch.testing.assert_close(moved[:, 1], remade, rtol=1e-3, atol=1e-3)


def test_a_puzzle_under_a_rule_is_warped_as_a_whole(puzzles):
    batch, warp = puzzles.render(range(4)), Warp(puzzles.rules, size=32)
    warped = conjugate(batch, warp, np.array([-1, 30, -1, 7]))
    assert torch.equal(warped.answers, batch.answers)
    assert torch.equal(warped.images[::2], batch.images[::2])
    for puzzle, rule in ((1, 30), (3, 7)):
        expected = warp(batch.images[puzzle], torch.full((7,), rule))
        assert torch.equal(warped.images[puzzle], expected)


@pytest.mark.parametrize("family", ["translation", "rotation", "shear"])
def test_a_conjugated_seen_rule_is_no_unseen_rule(family):
    # All three families are affine, so three corners of an image are enough to know a rule.
    corners = torch.tensor([[-16.0, -16.0], [16.0, -16.0], [-16.0, 16.0]], dtype=torch.float64)
    homogeneous = torch.cat((corners, torch.ones(3, 1, dtype=torch.float64)), dim=1)

    def maps(split):
        """The rules as matrices (n, 3, 3)."""
        rules = rule_set(f"{family}:{split}").rules
        sources = torch.stack([rule.family.source(corners, *rule.parameters) for rule in rules])
        rows = torch.linalg.solve(homogeneous, sources).mT  # (n, 2, 3)
        last = torch.tensor([[[0.0, 0.0, 1.0]]], dtype=torch.float64)
        return torch.cat((rows, last.expand(len(rows), 1, 3)), dim=1)

    seen, unseen = maps("seen"), maps("unseen")
    by = seen[:, None]
    conjugated = (by @ seen @ by.inverse()).flatten(0, 1)  # g f g⁻¹ for all f and g
    ends = torch.einsum("nij,pj->npi", conjugated, homogeneous)[:, None]
    forbidden = torch.einsum("nij,pj->npi", unseen, homogeneous)
    furthest_corner = (ends - forbidden).norm(dim=-1).amax(-1)
    assert furthest_corner.min() > 2  # units
