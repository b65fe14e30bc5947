"""The puzzles of an epoch as a model sees them: the same for one seed and epoch, in any batches."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from fine.puzzles import Puzzles
from fine.training import Training
from fine.training.embedding_cache import EmbeddingCache
from fine.training.feed import Feed

CPU = torch.device("cpu")
NUMBERS = np.arange(32)
AUGMENTED = [
    Training(augment_images="turns"),
    Training(augment_images="edges+strokes+mask"),
    Training(augment_images="all"),
    Training(augment_images="all", unaugmented=0.5),
    Training(augment_puzzles=4),
    Training(augment_puzzles=8),
    Training(conjugate=0.5),
    Training(augment_images="all", augment_puzzles=8, conjugate=0.5),
]


@pytest.fixture(scope="module")
def puzzles(tiny) -> Puzzles:
    return replace(tiny.task, rules="affine").training_puzzles()


def test_without_augmentation_puzzles_are_shown_as_they_are(puzzles):
    batch, expected = Feed(puzzles, Training(), 3, CPU)(NUMBERS), puzzles.render(range(32))
    assert torch.equal(batch.images, expected.images)
    assert torch.equal(batch.answers, expected.answers)


@pytest.mark.parametrize("training", AUGMENTED)
def test_augmentation_depends_on_seed_epoch_and_number_only(puzzles, training):
    whole = Feed(puzzles, training, 3, CPU)(NUMBERS)
    reversed_order = Feed(puzzles, training, 3, CPU)(NUMBERS[::-1].copy())
    torch.testing.assert_close(reversed_order.images.flip(0), whole.images, rtol=0, atol=1e-5)
    halves = [Feed(puzzles, training, 3, CPU)(half).images for half in np.split(NUMBERS, 2)]
    torch.testing.assert_close(torch.cat(halves), whole.images, rtol=0, atol=1e-5)
    other_epoch = Feed(puzzles, training, 4, CPU)(NUMBERS)
    other_seed = Feed(puzzles, replace(training, seed=1), 3, CPU)(NUMBERS)
    for other in (other_epoch, other_seed):
        assert not torch.equal(other.images, whole.images)
        assert torch.equal(other.answers, whole.answers)


def test_images_turn_as_they_always_did_whatever_else_happens_to_them(puzzles):
    """The bits of turns are those of runs that had no other part."""
    turned = Feed(puzzles, Training(augment_images=True), 3, CPU)(NUMBERS).images
    assert torch.equal(
        Feed(puzzles, Training(augment_images="turns"), 3, CPU)(NUMBERS).images, turned
    )
    framed = Feed(puzzles, Training(augment_images="turns+frame"), 3, CPU)(NUMBERS).images
    inside = (..., slice(6, 26), slice(6, 26))
    assert torch.equal(framed[:, 0][inside], turned[:, 0][inside])
    assert not torch.equal(framed, turned)


@pytest.mark.parametrize("training", [Training(augment_puzzles=4), Training(augment_puzzles=8)])
def test_symmetries_of_puzzles_keep_every_pixel(puzzles, training):
    shown, plain = Feed(puzzles, training, 0, CPU)(NUMBERS), puzzles.render(range(32))
    sorted_pixels = [batch.images.flatten(2).sort(dim=2).values for batch in (shown, plain)]
    assert torch.equal(*sorted_pixels)


def test_the_share_of_conjugated_puzzles_is_the_one_asked_for(tiny):
    puzzles = replace(tiny.task, rules="black-white", train_count=400).training_puzzles()
    numbers = np.arange(400)
    shown = Feed(puzzles, Training(conjugate=0.25), 0, CPU)(numbers).images
    moved = (shown != puzzles.render(range(400)).images).flatten(1).any(1).float().mean()
    spread = 4 * (0.25 * 0.75 / 400) ** 0.5  # four standard deviations
    assert abs(moved - 0.25) < spread


@pytest.mark.parametrize("parts", ["all", "turns", "edges+strokes"])
def test_some_puzzles_stay_as_they_are_and_the_others_become_what_they_always_did(tiny, parts):
    puzzles = replace(tiny.task, train_count=400).training_puzzles()
    numbers, plain = np.arange(400), puzzles.render(range(400)).images
    everything = Feed(puzzles, Training(augment_images=parts), 0, CPU)(numbers).images
    training = Training(augment_images=parts, unaugmented=0.25)
    shown = Feed(puzzles, training, 0, CPU)(numbers).images
    left = (shown == plain).flatten(1).all(1)
    assert torch.equal(shown[~left], everything[~left])
    by_chance = (everything == plain).flatten(1).all(1).float().mean()
    share = 0.25 + 0.75 * by_chance
    assert abs(left.float().mean() - share) < 4 * (share * (1 - share) / 400) ** 0.5


def test_a_cache_holds_the_embeddings_of_the_puzzles(puzzles, tiny):
    torch.manual_seed(0)
    model = tiny.start()
    cache = EmbeddingCache(model, puzzles, CPU, batch=20)
    numbers = np.array([5, 63, 0])
    images, answers = puzzles.render(numbers.tolist())
    with torch.no_grad():
        embeddings = model.eval().encode(images)
    torch.testing.assert_close(cache(numbers).images, embeddings)
    assert torch.equal(cache(numbers).answers, answers)
