"""Laws of generated characters: an image is a function of its address, and looks like writing."""

import numpy as np
import pytest
import torch
from torch import Tensor

from fine.errors import FineError
from fine.images import glyphs

CLASSES, DRAWINGS = 200, 3


@pytest.fixture(scope="module")
def drawn() -> Tensor:
    number, drawing = (part.ravel() for part in np.mgrid[:CLASSES, :DRAWINGS])
    return glyphs.draw(number, drawing).view(CLASSES, DRAWINGS, 32, 32)


def difference(a: Tensor, b: Tensor) -> Tensor:
    """0 for equal images, 1 for images that share no ink; over the last two axes."""
    a, b = a.double(), b.double()
    return (a - b).square().sum((-2, -1)) / (a.square() + b.square()).sum((-2, -1))


def blurred(images: Tensor) -> Tensor:
    """What remains when strokes may miss each other by two pixels, as flat vectors."""
    return torch.nn.functional.avg_pool2d(
        images.double().unsqueeze(-3), 5, stride=1, padding=2
    ).flatten(-3)


def test_an_image_depends_on_its_address_alone(drawn: Tensor) -> None:
    # 300 images in shuffled order, so that they share batches with others than in the fixture.
    order = np.random.default_rng(0).permutation(CLASSES * DRAWINGS)[:300]
    number, drawing = np.divmod(order, DRAWINGS)
    assert torch.equal(
        glyphs.draw(number, drawing)[:, 0], drawn.flatten(0, 1)[torch.from_numpy(order)]
    )
    alone = glyphs.draw(np.array([199]), np.array([2]))
    assert torch.equal(alone[0, 0], drawn[199, 2])


def test_the_number_of_threads_changes_no_byte(drawn: Tensor) -> None:
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(1 if threads > 1 else 2)
        again = glyphs.draw(np.arange(CLASSES), np.zeros(CLASSES, dtype=np.int64))
    finally:
        torch.set_num_threads(threads)
    assert torch.equal(again[:, 0], drawn[:, 0])


def test_no_two_images_are_the_same(drawn: Tensor) -> None:
    assert len(drawn.flatten(2).flatten(0, 1).unique(dim=0)) == CLASSES * DRAWINGS


def test_drawings_of_a_class_are_closer_than_drawings_of_two(drawn: Tensor) -> None:
    within = difference(drawn[:, 0], drawn[:, 1]).mean()
    between = difference(drawn[:, 0], drawn[:, 1].roll(1, 0)).mean()
    assert within < between


def test_one_drawing_tells_a_class_from_nineteen_others(drawn: Tensor) -> None:
    # Ten trials of 20-way 1-shot nearest neighbour on blurred pixels: 200 answers. Guessing has an
    # accuracy of 0.05 with a standard deviation of 0.015: one half is thirty of them away.
    shot, query = blurred(drawn[:, 0]).view(10, 20, -1), blurred(drawn[:, 1]).view(10, 20, -1)
    correct = torch.cdist(query, shot).argmin(-1) == torch.arange(20)
    assert correct.double().mean() > 0.5


@pytest.mark.parametrize(
    "symmetry", [(-2, -1), (-1,), (-2,)], ids=["half turn", "mirrored", "upside down"]
)
def test_most_characters_are_asymmetric(drawn: Tensor, symmetry: tuple[int, ...]) -> None:
    # A symmetric character would differ from its mirror image no more than two drawings of it do.
    mirrored = difference(drawn[:, 0], drawn[:, 0].flip(symmetry))
    assert (mirrored > 0.3).double().mean() > 0.95
    assert mirrored.mean() > difference(drawn[:, 0], drawn[:, 1]).mean()


@pytest.mark.parametrize("size", [24, 28, 32, 64])
def test_ink_never_touches_the_border(size: int) -> None:
    # Strokes end at 0.86 of half the frame, the pen adds at most 0.056 and the soft edge half a
    # pixel. From 24 pixels on, the outermost pixel has its centre beyond: 0.916 × 12 + 0.5 < 11.5.
    inked = glyphs.draw(np.arange(100), np.arange(100), size=size)
    assert inked.shape == (100, 1, size, size) and inked.dtype == torch.uint8
    assert inked[:, 0, 1:-1, 1:-1].sum() == inked.sum()


def test_ink_is_that_of_pen_strokes(drawn: Tensor) -> None:
    # Omniglot at 32 × 32 has 3 to 13 % ink (5th to 95th percentile), 8 % on average.
    ink = drawn.double().mean((-2, -1)) / 255
    assert 0.06 < ink.mean() < 0.10
    assert ink.min() > 0.02 and ink.max() < 0.20
    assert (drawn.amax((-2, -1)) > 200).double().mean() > 0.99


def test_strokes_have_soft_edges(drawn: Tensor) -> None:
    grey = ((drawn > 0) & (drawn < 255)).sum((-2, -1)) / (drawn > 0).sum((-2, -1))
    assert grey.min() > 0.2
    assert len(drawn.unique()) == 256


def test_load_sorts_by_class_and_agrees_with_draw(drawn: Tensor) -> None:
    images = glyphs.load(classes=8, drawings=DRAWINGS)
    assert images.class_names[7] == "glyph-0007" and len(images.class_names) == 8
    assert images.labels.dtype == torch.int64
    assert images.labels.tolist() == [number for number in range(8) for _ in range(DRAWINGS)]
    assert torch.equal(images.pixels.view(8, DRAWINGS, 32, 32), drawn[:8])


def test_numbers_may_be_large_or_none() -> None:
    assert glyphs.draw(np.array([10**12]), np.array([10**12])).any()
    assert glyphs.draw(np.arange(0), np.arange(0)).shape == (0, 1, 32, 32)


def test_bad_input_is_said_in_a_line() -> None:
    with pytest.raises(FineError, match="two flat arrays of one length"):
        glyphs.draw(np.arange(3), np.arange(2))
    with pytest.raises(FineError, match="8 or more"):
        glyphs.draw(np.arange(3), np.arange(3), size=4)
