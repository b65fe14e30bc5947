"""Rendered puzzles: images are what the spec says, and answers what the order says."""

import numpy as np
import torch

from fine.puzzles import KINDS, ORDERS
from fine.rules import Warp


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
