"""Rendered puzzles: images are what the spec says, and answers what the order says."""

import numpy as np
import torch

from fine.images.augmentation import ImageAugmentation, read_parts
from fine.puzzles import FIRST, KINDS, ORDERS, OTHER, RIGHT, SECOND, WRONG, Variant
from fine.puzzles.variants import draw_variant
from fine.randomness import random_bits
from fine.rules import Warp

EDGES = ImageAugmentation(read_parts("edges+strokes+frame+contrast"))


def test_images_are_what_the_spec_says(images, puzzles):
    batch = puzzles.render(range(20))
    warp = Warp(puzzles.rules, size=32)

    def made(image, rule):
        return warp(images.pixels[image : image + 1] / 255, torch.tensor([rule]))[0]

    for number in range(20):
        x, x1, x2, f, g, order = puzzles.specs[number].tolist()
        by_kind = [made(x1, f), made(x1, g), made(x2, f), made(x2, g)]
        choices = [by_kind[kind] for kind in ORDERS[order]]
        expected = [images.pixels[x] / 255, made(x, f), images.pixels[x1] / 255, *choices]
        torch.testing.assert_close(batch.images[number], torch.stack(expected))
        assert ORDERS[order][batch.answers[number]] == 0


def test_answers_and_kinds_agree(puzzles):
    assert np.array_equal(puzzles.render(range(len(puzzles))).answers.numpy(), puzzles.answers)
    right = np.take_along_axis(puzzles.kinds, puzzles.answers[:, None], axis=1)
    assert (right == KINDS.index("right")).all()
    assert (np.sort(puzzles.kinds, axis=1) == range(4)).all()


def test_a_batch_is_what_its_puzzles_are_alone(puzzles):
    together = puzzles.render([3, 1, 4])
    for place, number in enumerate((3, 1, 4)):
        alone = puzzles.render([number])
        torch.testing.assert_close(together.images[place], alone.images[0])
        assert together.answers[place] == alone.answers[0]


def test_a_part_of_the_puzzles_is_puzzles(puzzles):
    part = puzzles[5:8]
    assert len(part) == 3 and np.array_equal(part.answers, puzzles.answers[5:8])
    assert torch.equal(part.render([1]).images, puzzles.render([6]).images)
    assert part.texts([0]) is None


def test_a_puzzle_over_augmented_images_is_a_puzzle(puzzles):
    """y is f(x) of the augmented x, and the choices are made from the augmented x' and x''."""
    bits, render = random_bits(1, np.arange(24)), puzzles.renderer()
    plain = puzzles.render(range(24))
    batch = render.augmented(EDGES, bits)(puzzles.specs[:24])
    assert torch.equal(batch.answers, plain.answers)
    assert (batch.images[:, [0, 2]] != plain.images[:, [0, 2]]).flatten(2).any(2).all(1).any()
    for number, spec in enumerate(puzzles.specs[:24]):
        images = spec[[FIRST, SECOND, OTHER]]
        own = random_bits(bits[number], images)
        x, new, other = EDGES(puzzles.images.pixels[images] / 255, own)
        kinds = puzzles.kinds[number]
        rules = spec[[RIGHT, *((RIGHT, WRONG)[kind % 2] for kind in kinds)]]
        objects = torch.stack([x, *((new, other)[kind // 2] for kind in kinds)])
        y, *choices = render.warp(objects, torch.from_numpy(rules).long())
        torch.testing.assert_close(batch.images[number], torch.stack([x, y, new, *choices]))
    assert torch.equal(puzzles.render(range(24)).images, plain.images)  # for one batch only


def test_x_and_new_images_are_augmented_each_by_itself(puzzles):
    bits = random_bits(1, np.arange(200))
    strokes = ImageAugmentation(("strokes",))
    images = puzzles.renderer().augmented(strokes, bits)(puzzles.specs[:200]).images
    plain = puzzles.render(range(200)).images
    first, second = ((images != plain)[:, place].flatten(1).any(1).float() for place in (0, 2))
    spread = 4 * (0.25 * 0.75 / 200) ** 0.5  # four standard deviations
    assert abs((first * second).mean() - 0.25) < spread  # half of each, independently


def test_an_image_that_a_variant_shows_twice_is_augmented_once(puzzles):
    """x' by itself and as the answer; every hint before and after the rule."""
    variant = draw_variant(puzzles[:24], Variant("hints", hints=2), classes=range(12))
    bits, render = random_bits(1, np.arange(24)), variant.renderer()
    batch = render.augmented(EDGES, bits)(variant.specs)
    hidden = torch.from_numpy(variant.hidden).long()
    for hint in (0, 2):
        made = render.warp(batch.images[:, hint], hidden)
        torch.testing.assert_close(batch.images[:, hint + 1], made)
    right = batch.images[torch.arange(24), 5 + batch.answers]
    torch.testing.assert_close(right, render.warp(batch.images[:, 4], hidden))
    assert not torch.equal(batch.images, render(variant.specs).images)
