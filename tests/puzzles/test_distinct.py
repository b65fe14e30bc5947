"""Whether choices look different: by rendered images and by a glance, which agree."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from fine.images import load_images
from fine.puzzles import FIRST, OTHER, RIGHT, WRONG
from fine.puzzles.distinct import VISIBLE, Glance, all_distinct
from fine.puzzles.rendering import Renderer
from fine.randomness import random_below
from fine.rules import rule_set

COUNT = 2_000


@pytest.fixture(scope="module")
def judged():
    """Random specs with the verdict of a glance, of rendered images, and their least difference.

    Patchwork is the family with the most rules that do almost the same to an image.
    """
    images, rules = load_images("glyphs"), rule_set("patchwork")
    number = np.arange(COUNT)
    shown = [random_below(800, number, column) for column in range(3)]  # of 40 classes
    rule = [random_below(len(rules), number, column) for column in (3, 4)]
    order = random_below(24, number, 5)
    specs = np.stack((*shown, *rule, order), axis=1).astype(np.int32)
    specs = specs[(specs[:, FIRST] != specs[:, OTHER]) & (specs[:, RIGHT] != specs[:, WRONG])]
    glance = Glance(images, rules).distinct(specs)
    render = Renderer(images, rules)
    rendered, least = [], []
    for chunk in np.array_split(specs, 8):
        choices = render(chunk).images[:, 3:]
        rendered.append(all_distinct(choices))
        views = F.avg_pool2d(choices[:, :, 0], 2).flatten(2)
        difference = torch.cdist(views, views, p=1) / views.shape[-1]
        difference.diagonal(dim1=1, dim2=2).fill_(1)
        least.append(difference.amin((1, 2)))
    return glance, torch.cat(rendered).numpy(), torch.cat(least).numpy()


@pytest.mark.slow
def test_a_glance_and_rendered_images_agree_on_nearly_all_puzzles(judged):
    glance, rendered, _ = judged
    assert (glance == rendered).mean() > 0.99
    # not only because nearly all puzzles are fine: of those that are not, most are found by both
    both = (~glance & ~rendered).sum()
    assert both > 20 and both > 0.75 * (~glance | ~rendered).sum()


def test_they_disagree_only_close_to_the_limit(judged):
    glance, rendered, least = judged
    disagreeing = least[glance != rendered]
    assert ((disagreeing > VISIBLE / 2) & (disagreeing < VISIBLE * 2)).all()


def test_rendered_images_are_distinct_if_no_two_are_closer_than_the_limit(judged):
    _, rendered, least = judged
    clear = np.abs(least - VISIBLE) > 1e-6  # cdist and the sum of differences round differently
    assert ((least >= VISIBLE) == rendered)[clear].all()


def test_one_pair_that_looks_alike_is_enough():
    images = torch.arange(4).view(1, 4, 1, 1, 1).expand(1, 4, 3, 8, 8) / 4
    assert all_distinct(images).tolist() == [True]
    images = images.clone()
    images[:, 3] = images[:, 1] + VISIBLE / 2
    assert all_distinct(images).tolist() == [False]


def test_a_glance_refuses_one_rule_twice_and_one_image_twice(images, puzzles):
    glance = Glance(images, puzzles.rules)
    specs = puzzles.specs[:3].copy()
    assert glance.distinct(specs).all()
    specs[1, OTHER] = specs[1, FIRST]
    specs[2, WRONG] = specs[2, RIGHT]
    assert glance.distinct(specs).tolist() == [True, False, False]


def test_a_glance_does_not_depend_on_the_other_puzzles(images, puzzles):
    glance = Glance(images, puzzles.rules)
    some = puzzles.specs[:20]
    one_by_one = [glance.distinct(spec[None])[0] for spec in some]
    assert np.array_equal(one_by_one, glance.distinct(some))


def test_no_two_choices_of_a_puzzle_show_the_same_image(puzzles):
    choices = puzzles.render(range(500)).images[:, 3:].flatten(2)
    distance = torch.cdist(choices, choices, p=1) / 1024
    distance.diagonal(dim1=1, dim2=2).fill_(1)
    assert distance.min() > 0.005
