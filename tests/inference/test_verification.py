"""Laws of verification: a rule is found on the pixels, or it is said that none is."""

import random

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from PIL import Image, ImageDraw, ImageFont

from fine import draw_answer, explain, function, read_image, rule_set, solve, solve_many
from fine.inference.doubts import NONE_FITS, SHOWS_NOTHING, UNKNOWN_RULE
from fine.inference.drawn import under_rules
from fine.inference.puzzle_images import ReadPuzzle
from fine.inference.rule_candidates import FoundRule
from fine.inference.verification import EXPLAINED, look, only_made
from fine.rules import apply_rules
from support import drawn_anew
from support.other_renderers import (
    FAMILIES,
    KINDS,
    MIXED,
    RENDERERS,
    far_rule,
    make_puzzle,
    random_rule,
)
from support.pillow_puzzles import puzzle, shape

RULE = FoundRule((), "", (), difference=0.001)


@pytest.fixture(scope="module")
def photographs() -> np.ndarray:
    """Smooth noise that fills its frame, as a photograph does."""
    rng = np.random.default_rng(0)
    large = [
        Image.fromarray(rng.integers(256, size=(9, 9), dtype=np.uint8)).resize((64, 64), 3)
        for _ in range(12)
    ]
    return np.stack([np.asarray(image) / 255 for image in large])


@pytest.mark.parametrize("near", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_puzzles_of_another_make_are_solved(default_model, photographs, kind, near):
    """benchmarks/other_renderers.py has the numbers; here are two of each."""
    for number in (2, 6):
        made = make_puzzle(kind, "pillow", number=number, near=near, photographs=photographs)
        answer = solve(default_model, made.x, made.y, made.new, made.choices)
        assert answer.index == made.answer and answer.verified, number
        assert made.family in ("reflection", "translation") and not answer.doubts


@pytest.mark.slow
@pytest.mark.parametrize("near", [False, True])
@pytest.mark.parametrize("renderer", RENDERERS)
@pytest.mark.parametrize("kind", KINDS)
def test_puzzles_of_all_families_on_and_off_the_grid_are_solved(
    default_model, photographs, kind, renderer, near
):
    """95 % far and 85 % near are promised; of eight, that is all of them and all but one."""
    if renderer == "scipy":
        pytest.importorskip("scipy")
    made = [
        make_puzzle(kind, renderer, number=number, near=near, photographs=photographs)
        for number in range(10, 18)
    ]
    assert {one.on_grid for one in made} == {False, True}
    assert {one.family for one in made} >= {"rotation", "scale", "shear"}
    asked = [(one.x, one.y, one.new, one.choices) for one in made]
    answers = solve_many(default_model, asked)
    wrong = [one.answer != answer.index for one, answer in zip(made, answers, strict=True)]
    assert sum(wrong) <= (1 if near else 0)


def test_the_choice_that_the_verified_rule_makes_is_taken(glyph_model):
    """Whatever the network says; and it is the rule that explain and draw_answer name."""
    for number in range(0, 20, 3):
        (x, y, new, *choices), place = puzzle(number)
        answer = solve(glyph_model, x, y, new, choices)
        assert answer.verified and answer.index == place
        assert answer.evidence.made[0] == place and answer.rule is not None
        assert answer.probabilities[place] == max(answer.probabilities)
        assert sum(answer.probabilities) == pytest.approx(1)


@pytest.mark.parametrize("kind", drawn_anew.KINDS)
def test_shapes_that_are_drawn_anew_are_solved(glyph_model, kind):
    """And explain names a rule that makes the choice which solve takes, and no other one."""
    for number, near in ((3, False), (5, True)):
        made = drawn_anew.make_puzzle(kind, number=number, near=near)
        answer = solve(glyph_model, made.x, made.y, made.new, made.choices)
        assert answer.index == made.answer and answer.verified, number
        named = explain(glyph_model, made.x, made.y, k=1)[0]
        drawn = under_rules(read_image(made.new), named.rules)
        away = [float((drawn - read_image(choice)).abs().mean()) for choice in made.choices]
        assert away.index(min(away)) == answer.index


def mirrored_in_itself(image: Image.Image) -> Image.Image:
    """The left half of an image, and its mirror image as the right half."""
    side = image.width
    left = image.crop((0, 0, side // 2, side))
    whole = image.copy()
    whole.paste(left.transpose(Image.Transpose.FLIP_LEFT_RIGHT), (side - side // 2, 0))
    return whole


@pytest.mark.slow
def test_solve_and_explain_agree_where_the_hint_fits_several_rules(default_model):
    """A hint that is its own mirror image was turned by 180°, or mirrored: both make a choice."""
    for number in range(12):
        x, new = (
            mirrored_in_itself(shape(random.Random(number))),
            shape(random.Random(100 + number)),
        )
        y = x.transpose(Image.Transpose.FLIP_TOP_BOTTOM)
        choices = [new.rotate(180), new.transpose(Image.Transpose.FLIP_TOP_BOTTOM), new, x]
        answer = solve(default_model, x, y, new, choices)
        assert answer.index in (0, 1) and answer.doubts == (SHOWS_NOTHING,)
        alone = explain(default_model, x, y, k=1)[0]
        asked = explain(default_model, x, y, new, choices, k=1)[0]
        assert asked == answer.rule
        for name in (alone, asked):
            drawn = under_rules(read_image(new), name.rules)
            away = [float((drawn - read_image(choice)).abs().mean()) for choice in choices]
            assert away.index(min(away)) == answer.index, number


def test_explain_reads_the_images_of_a_puzzle_as_solve_does(default_model, drawing):
    """A drawing as the hint, and a new image without any paper."""
    noise = np.random.default_rng(0).integers(256, size=(9, 9), dtype=np.uint8)
    new = Image.fromarray(noise).resize(drawing.size, Image.Resampling.BICUBIC)
    choices = [new.rotate(90 * turns) for turns in range(4)]
    answer = solve(default_model, drawing, drawing.rotate(90), new, choices)
    named = explain(default_model, drawing, drawing.rotate(90), new, choices)
    assert answer.index == 1 and answer.verified and named[0] == answer.rule
    assert sum(name.probability for name in named) == pytest.approx(1, abs=0.01)


@pytest.mark.slow
def test_solve_explain_draw_and_the_function_say_the_same(glyph_model):
    for number in (1, 3, 12):
        (x, y, new, *choices), place = puzzle(number)
        answer = solve(glyph_model, x, y, new, choices)
        f = function(x, y, model=glyph_model)
        assert f.choose(new, choices) == answer and answer.index == place
        assert answer.rule is not None and answer.verified
        first = explain(glyph_model, x, y, k=1)[0]
        assert first.family == answer.rule.family and f.nearest(k=1)[0] == first
        assert first.parameters == pytest.approx(answer.rule.parameters, abs=0.1)
        drawn = draw_answer(glyph_model, x, y, new, rules=answer.rule.family)
        pixels = torch.from_numpy(np.asarray(choices[place]) / np.float32(255))
        assert (drawn.pixels[0] - pixels).abs().mean() < 0.03


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["letters", "photographs"])
def test_an_image_turned_and_moved_at_once_is_explained(glyph_model, photographs, kind):
    """The network of this model has never seen a mix."""
    made = make_puzzle(kind, "pillow", number=4, near=True, photographs=photographs, families=MIXED)
    answer = solve(glyph_model, made.x, made.y, made.new, made.choices)
    assert answer.verified and answer.index == made.answer and not answer.doubts
    assert answer.rule is not None and answer.rule.family == "any-mix"
    assert "rotation" in answer.rule.label and "translation" in answer.rule.label
    first = explain(glyph_model, made.x, made.y, k=1)[0]
    assert first.family == "any-mix"
    assert first.parameters == pytest.approx(answer.rule.parameters, abs=0.1)
    drawn = draw_answer(glyph_model, made.x, made.y, made.new, rules="all")
    right = np.asarray(made.choices[made.answer].convert("L")) / 255
    assert np.abs(drawn.pixels[0].numpy() - right).mean() < 0.03


@pytest.mark.slow
def test_mixes_are_tried_only_where_they_are_among_the_rules(glyph_model):
    made = make_puzzle("letters", "pillow", number=4, near=True, families=MIXED)
    hints = ReadPuzzle.read(made.x, made.y, None, ())
    assert look(hints).found and look(hints, rules="universal").found
    assert not look(hints, rules="rotation+translation").found


RED, GREEN, BLUE = (200, 60, 60), (40, 128, 60), (40, 60, 200)


def coloured(letter: str, colour: tuple[int, int, int], degrees: float = 0) -> Image.Image:
    image = Image.new("RGB", (96, 96), (250, 245, 225))  # on yellowish paper
    font = ImageFont.load_default(64)
    ImageDraw.Draw(image).text((48, 48), letter, font=font, fill=colour, anchor="mm")
    return image.rotate(degrees, Image.Resampling.BICUBIC, fillcolor=(250, 245, 225))


def test_a_choice_in_the_wrong_colour_is_not_taken(glyph_model):
    """Red and green are as dark as each other, so a model of grey images cannot tell."""
    choices = [coloured("R", colour, angle) for angle in (50, 80) for colour in (GREEN, RED)]
    hint = coloured("F", RED), coloured("F", RED, 50)
    answer = solve(glyph_model, *hint, coloured("R", RED), choices)
    assert answer.verified and answer.letter == "B" and not answer.doubts
    grey = solve(glyph_model, *hint, coloured("R", RED), choices, verify=False)
    assert grey.probabilities[0] == pytest.approx(grey.probabilities[1], abs=0.05)


def test_a_change_of_colour_is_explained_by_no_movement(glyph_model):
    hint = ReadPuzzle.read(coloured("F", RED), coloured("F", BLUE), None, ())
    assert not look(hint).found
    same = ReadPuzzle.read(coloured("F", RED), coloured("F", RED, 90), None, ())
    assert look(same).found[0].label == "rotation 90°"


def test_the_negative_of_a_colour_is_the_opposite_colour():
    x = torch.rand(3, 48, 48, generator=torch.Generator().manual_seed(0))
    x = F.avg_pool2d(x, 9, 1, 4)
    y = apply_rules(x, [rule_set("black-white").rules[0]])
    found = look(ReadPuzzle(1, (x, y))).found[0]
    assert found.rules[0].family.name == "black-white" and found.difference < 0.01


def test_what_is_drawn_has_the_shape_of_the_new_image(glyph_model, drawing):
    wide = drawing.resize((80, 50))
    drawn = draw_answer(glyph_model, drawing, drawing.rotate(180), wide, rules="square")
    assert drawn.rules[0].label == "square 180°" and drawn.image.size == (80, 50)
    difference = np.abs(np.asarray(drawn.image) / 255 - np.asarray(wide.rotate(180)) / 255)
    assert difference.mean() < 0.01


def test_the_network_alone_is_kept_apart(glyph_model):
    (x, y, new, *choices), _ = puzzle(3)
    both = solve(glyph_model, x, y, new, choices)
    alone = solve(glyph_model, x, y, new, choices, verify=False)
    assert both.model_probabilities == alone.model_probabilities
    assert both.model_index == alone.index and not alone.verified and alone.rule is None


def test_parameters_between_the_grid_points_are_found_with_their_errors(drawing):
    turned = drawing.rotate(37.2, resample=Image.Resampling.BICUBIC, fillcolor=255)
    found = look(ReadPuzzle.read(drawing, turned, None, ())).found[0]
    assert found.rules[0].family.name == "rotation"
    assert found.rules[0].parameters[0] == pytest.approx(37.2, abs=0.5)
    assert 0 < found.errors[0] < 1 and found.difference < EXPLAINED


@pytest.mark.slow
def test_a_hint_that_no_rule_explains_is_said_to_be_one(glyph_model):
    (x, _, new, *choices), _ = puzzle(1)
    other = shape(random.Random(77))
    answer = solve(glyph_model, x, other, new, choices)
    assert not answer.verified and not answer.evidence.found and UNKNOWN_RULE in answer.doubts


def test_a_missing_answer_is_noticed(glyph_model):
    (x, y, new, *choices), place = puzzle(0)
    wrong = [choice for number, choice in enumerate(choices) if number != place]
    answer = solve(glyph_model, x, y, new, wrong)
    assert answer.doubts == (NONE_FITS,) and not answer.verified and answer.rule is not None


def test_a_round_hint_that_was_turned_shows_nothing(glyph_model, drawing):
    ring = Image.new("L", (96, 96), 255)
    ImageDraw.Draw(ring).ellipse([20, 20, 75, 75], outline=0, width=6)
    choices = [drawing.rotate(90 * turns, fillcolor=255) for turns in range(4)]
    answer = solve(glyph_model, ring, ring.rotate(90), drawing, choices)
    assert answer.doubts == (SHOWS_NOTHING,)
    assert len(answer.evidence.possible) > 1 and answer.evidence.ambiguity > 0.1


def test_a_second_hint_tells_what_a_round_one_cannot(glyph_model, drawing):
    ring = Image.new("L", (96, 96), 255)
    ImageDraw.Draw(ring).ellipse([20, 20, 75, 75], outline=0, width=6)
    other = shape(random.Random(8))
    choices = [drawing.rotate(90 * turns, fillcolor=255) for turns in range(4)]
    hints = [ring, other], [ring.rotate(90), other.rotate(90, fillcolor=255)]
    answer = solve(glyph_model, *hints, drawing, choices)
    assert answer.index == 1 and answer.verified and not answer.doubts


@pytest.mark.parametrize(
    ("differences", "made"),
    [
        ((0.4, 0.001, 0.5), 1),
        ((0.4, 0.2, 0.5), -1),  # none is near
        ((0.001, 0.0011, 0.5), -1),  # two are
        ((0.002, 0.03, 0.5), 0),  # both are near, but one is far nearer
    ],
)
def test_a_rule_makes_one_choice_or_none(differences, made):
    assert only_made(differences, RULE) == made


@pytest.mark.parametrize("rule", rule_set("square").rules, ids=str)
def test_the_symmetries_of_the_square_are_told_apart(rule, drawing):
    x = torch.from_numpy(np.asarray(drawing) / np.float32(255))[None]
    y = apply_rules(x, [rule], background=torch.ones(1))
    (found, *others) = look(ReadPuzzle.read(x, y, None, ()), rules="square").found
    assert found.rules == (rule,) and not others


def test_rules_of_another_make_are_of_the_family_they_say():
    rng = random.Random(0)
    for family in (*FAMILIES, *MIXED):
        made = random_rule(family, rng, on_grid=False)
        assert made[0] == family and len(far_rule(FAMILIES, rng, on_grid=True)[1]) == 6
