"""Laws of drawn answers: a rule does what Pillow does, at the resolution of x'."""

import numpy as np
import pytest
import torch
from PIL import Image, ImageOps

from fine import draw_answer, read_image, rule_set
from fine.inference.drawn import under_rules
from fine.inference.naming import distinct_rules
from support.pillow_puzzles import puzzle

RULES = {str(rule): rule for rule in rule_set("all").rules}


@pytest.mark.parametrize(
    ("label", "pillow"),
    [
        ("reflection left-right", ImageOps.mirror),
        ("reflection top-bottom", ImageOps.flip),
        ("rotation 90°", lambda image: image.rotate(90)),
        ("rotation 180°", lambda image: image.rotate(180)),
        ("translation (0, 0)", lambda image: image),
    ],
)
def test_a_rule_at_the_resolution_of_an_image_is_what_pillow_does(label, pillow):
    noise = np.random.default_rng(0).integers(256, size=(96, 96, 3), dtype=np.uint8)
    image = Image.fromarray(noise)
    drawn = under_rules(read_image(image), [RULES[label]])
    assert (drawn - read_image(pillow(image))).abs().max() < 1e-4


@pytest.mark.parametrize("paper", [(255, 255, 255), (250, 240, 200), (0, 0, 0), (30, 40, 90)])
@pytest.mark.parametrize("label", ["translation (9, -6)", "rotation 45°", "scale ×0.5"])
def test_what_a_rule_uncovers_has_the_colour_of_the_paper(paper, label):
    image = Image.new("RGB", (64, 64), paper)
    image.paste((200, 60, 60), (20, 24, 40, 44))
    drawn = under_rules(read_image(image), [RULES[label]])
    corners = drawn[:, [0, 0, -1, -1], [0, -1, 0, -1]]
    assert torch.allclose(corners, torch.tensor(paper)[:, None] / 255, atol=1e-4)


def test_a_rule_inverts_the_brightness_of_paper_and_ink_alike():
    image = Image.new("L", (64, 64), 255)
    image.paste(0, (28, 28, 36, 36))
    read = read_image(image)
    drawn = under_rules(read, [RULES["black-white right of 0"]])[0]
    assert torch.equal(drawn[:, :32], read[0, :, :32])
    assert torch.equal(drawn[:, 32:], 1 - read[0, :, 32:])


def test_an_answer_is_drawn_without_choices(glyph_model):
    """A mirrored pair: of two mirrors the right one, in the colours and at the resolution of x'."""
    for number in range(2, 52, 5):  # puzzles of reflections
        (x, y, new, *choices), place = puzzle(number)
        drawn = draw_answer(glyph_model, x, y, new, rules="reflection")
        assert drawn.image.size == new.size and drawn.image.mode == "L"
        assert drawn.image.tobytes() == choices[place].tobytes(), number
        assert [rule.family for rule in drawn.rules] == ["reflection"] * 2
        assert sum(rule.probability for rule in drawn.rules) == pytest.approx(1)


def test_an_answer_in_colour_is_an_image_in_colour(glyph_model, drawing):
    colour = ImageOps.colorize(drawing, (10, 20, 120), (255, 250, 230))
    drawn = draw_answer(glyph_model, drawing, drawing.rotate(180), colour)
    assert drawn.image.mode == "RGB" and drawn.pixels.shape == (3, 96, 96)
    assert len(drawn.rules) == len(distinct_rules(rule_set("affine"), 32)[1])
