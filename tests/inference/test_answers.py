"""Laws of answers: they are the model's own, however many there are and however drawings come."""

import numpy as np
import pytest
import torch

from fine import FineError, solve, solve_many
from support.pillow_puzzles import FAMILIES, MATERIALS, puzzle, save


def probabilities_of(answers: list) -> torch.Tensor:
    return torch.tensor([answer.probabilities for answer in answers])


@pytest.mark.slow
def test_an_answer_is_that_of_the_model_on_its_own_images(glyph_model, glyph_puzzles):
    batch = glyph_puzzles.render(range(60))
    with torch.no_grad():
        wanted = glyph_model(batch.images).softmax(1)
    answers = solve_many(glyph_model, batch.images, verify=False)
    got = torch.tensor([answer.model_probabilities for answer in answers])
    # The brightest ink of a thin glyph is not quite white and becomes so, which changes little.
    assert (got - wanted).abs().max() < 0.05
    assert (got.argmax(1) == wanted.argmax(1)).float().mean() >= 0.95


@pytest.mark.slow
def test_dark_on_light_is_answered_like_light_on_dark(glyph_model, glyph_puzzles):
    images = glyph_puzzles.render(range(60)).images
    bright, dark = (probabilities_of(solve_many(glyph_model, p)) for p in (images, 1 - images))
    assert (bright - dark).abs().max() < 1e-3


def test_blank_images_are_no_trouble(glyph_model):
    for brightness in (0.0, 0.5, 1.0):
        blank = np.full((20, 20), brightness)
        answer = solve(glyph_model, blank, blank, blank, [blank, blank])
        assert answer.probabilities == pytest.approx((0.5, 0.5))


@pytest.mark.slow
def test_many_are_answered_as_one_by_one_whatever_their_numbers_of_choices(glyph_model):
    puzzles = []
    for number in range(12):
        x, y, new, *choices = puzzle(number)[0]
        puzzles.append((x, y, new, (choices * 2)[: 2 + number % 5]))
    many = solve_many(glyph_model, iter(puzzles))
    counts = [len(answer.probabilities) for answer in many]
    assert counts == [2 + number % 5 for number in range(12)]
    for answer, (x, y, new, choices) in zip(many, puzzles, strict=True):
        one = solve(glyph_model, x, y, new, choices)
        assert one.index == answer.index
        assert one.probabilities == pytest.approx(answer.probabilities, abs=1e-4)


def test_the_order_of_the_choices_does_not_matter(glyph_model):
    x, y, new, *choices = puzzle(3)[0]
    forward = solve(glyph_model, x, y, new, choices)
    backward = solve(glyph_model, x, y, new, choices[::-1])
    assert forward.probabilities == pytest.approx(backward.probabilities[::-1], abs=1e-5)
    assert sum(forward.probabilities) == pytest.approx(1) and forward.index == 3 - backward.index
    assert forward.letter == "ABCD"[forward.index]
    assert forward.probability == max(forward.probabilities)


def test_a_grey_model_takes_images_in_colour(glyph_model):
    x, y, new, *choices = puzzle(8)[0]
    colour = [image.convert("RGB") for image in (x, y, new, *choices)]
    grey = solve(glyph_model, x, y, new, choices)
    other = solve(glyph_model, *colour[:3], colour[3:])
    assert other.probabilities == pytest.approx(grey.probabilities, abs=1e-4)


@pytest.mark.parametrize("choices", [0, 1])
def test_fewer_than_two_choices_are_refused(glyph_model, choices, drawing):
    with pytest.raises(FineError, match=f"there are {choices} choices"):
        solve(glyph_model, drawing, drawing, drawing, [drawing] * choices)
    with pytest.raises(FineError, match="expected \\(n, 3 \\+ choices"):
        solve_many(glyph_model, torch.zeros(1, 3 + choices, 1, 32, 32))


def test_choices_may_come_one_at_a_time(glyph_model):
    x, y, new, *choices = puzzle(8)[0]
    listed = solve(glyph_model, x, y, new, choices)
    assert solve(glyph_model, x, y, new, (choice for choice in choices)) == listed
    with pytest.raises(FineError, match="the choices are a int: give a list of at least 2 images"):
        solve(glyph_model, x, y, new, 4)


# Puzzles in one tensor


@pytest.mark.parametrize("precision", [torch.float64, torch.float16, torch.bfloat16])
def test_puzzles_may_have_any_precision(glyph_model, glyph_puzzles, precision):
    images = glyph_puzzles.render(range(3)).images.to(precision)
    assert solve_many(glyph_model, images) == solve_many(glyph_model, images.float())


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda images: images.to_sparse(), "a torch.sparse_coo tensor of torch.float32 on 'cpu'"),
        (lambda images: images.to("meta"), "on 'meta' holds no images: give a dense one"),
        (lambda images: images.mul(255).byte(), "puzzles are of torch.uint8: give floats"),
        (lambda images: images * 255, "brightness between 0 and 1: divide them by their white"),
        (lambda images: images * torch.nan, "brightness between 0 and 1"),
        (lambda images: images.repeat(1, 1, 2, 1, 1), r"expected \(n, 3 \+ choices, channels"),
        (lambda images: images[..., :30], r"expected \(n, 3 \+ choices, channels, size, size\)"),
    ],
    ids=["sparse", "meta", "bytes", "too bright", "not numbers", "two channels", "not square"],
)
def test_puzzles_that_cannot_be_seen_are_refused_in_one_line(glyph_model, make, message):
    images = torch.rand(2, 7, 1, 32, 32)
    with pytest.raises(FineError, match=message) as refusal:
        solve_many(glyph_model, make(images))
    assert "\n" not in str(refusal.value)


def test_no_puzzles_have_no_answers(glyph_model):
    assert solve_many(glyph_model, torch.rand(0, 7, 1, 32, 32)) == []
    assert solve_many(glyph_model, []) == []


@pytest.mark.slow
def test_images_made_by_another_program_are_solved(glyph_model, tmp_path):
    """Nine in ten of 200 puzzles: PNG files drawn, rotated, moved, scaled and cut by Pillow."""
    made = [puzzle(number) for number in range(200)]
    files = [save(images, tmp_path / str(number)) for number, (images, _) in enumerate(made)]
    answers = solve_many(glyph_model, [(x, y, new, choices) for x, y, new, *choices in files])
    right = [answer.index == place for answer, (_, place) in zip(answers, made, strict=True)]
    counts = {family: sum(right[n :: len(FAMILIES)]) for n, family in enumerate(FAMILIES)}
    assert sum(right) >= 180, counts


@pytest.mark.slow
@pytest.mark.parametrize(
    "material",
    [
        "bright on black",
        "on a transparent ground",
        pytest.param("photographed", marks=pytest.mark.slow),
    ],
)
def test_it_does_not_matter_how_a_drawing_comes(glyph_model, material):
    """At least 90 of 100 puzzles are answered as the same ones in black on white are."""

    def answers(change) -> list[int]:
        puzzles = [[change(image) for image in puzzle(number)[0]] for number in range(100)]
        sources = [(x, y, new, choices) for x, y, new, *choices in puzzles]
        return [answer.index for answer in solve_many(glyph_model, sources)]

    plain, other = answers(MATERIALS["dark on white"]), answers(MATERIALS[material])
    assert sum(one == two for one, two in zip(plain, other, strict=True)) >= 90
