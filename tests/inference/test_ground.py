"""Laws of the ground: ink is bright on black whatever the paper; photographs are left alone."""

import numpy as np
import pytest
import torch

import fine
from fine.inference.ground import as_ink, find_ground
from fine.inference.puzzle_images import fitted, prepared
from support.pillow_puzzles import puzzle


@pytest.mark.parametrize(
    ("paper", "pen"), [(1.0, 0.0), (0.7, 0.2), (0.55, 0.35), (0.1, 0.8), (0.0, 1.0)]
)
def test_ink_is_bright_on_black_whatever_paper_and_pen(paper, pen):
    glyphs = fine.load_images("glyphs").pixels[:24].float().div(255).view(12, 2, 1, 32, 32)
    drawn = paper + glyphs * (pen - paper)
    assert (as_ink(drawn, find_ground(drawn)) - glyphs).abs().max() < 0.05


@pytest.mark.parametrize("angle", range(0, 360, 45))
def test_light_that_falls_from_one_side_changes_nothing(glyph_model, angle):
    """Paper is twice as bright on one side as on the other, as in a photograph beside a window."""
    down, across = np.mgrid[-1:1:96j, -1:1:96j]
    slope = across * np.cos(np.radians(angle)) + down * np.sin(np.radians(angle))
    light = 0.6 + 0.13 * slope
    images = [np.asarray(image) / 255 for image in puzzle(0)[0]]
    lit = [(0.1 + 0.9 * image) * light for image in images]
    difference = prepared(glyph_model, lit) - prepared(glyph_model, images)
    assert difference.abs().mean() < 0.02


def test_photographs_that_fill_their_frame_stay_as_they_are():
    ramp = torch.linspace(0, 1, 32).expand(1, 2, 3, 32, 32)
    noise = torch.rand(4, 2, 3, 32, 32, generator=torch.Generator().manual_seed(0))
    for images in (ramp, noise):
        assert torch.equal(as_ink(images, find_ground(images)), images)


def test_one_decision_holds_for_all_images_of_a_puzzle(glyph_model, glyph_puzzles):
    """An image that a rule made a negative must stay one, though its border says otherwise."""
    images = glyph_puzzles.render(range(10)).images
    images[:, 1] = 1 - images[:, 1]
    assert (fitted(glyph_model, 1 - images) - images).abs().max() < 0.05


def test_a_model_of_colour_images_takes_for_paper_what_all_images_have():
    model = fine.FINE(fine.FINEConfig(), channels=3, size=32)
    white = torch.ones(1, 7, 3, 32, 32)
    white[..., 10:20, 10:20] = 0.2
    black = fitted(model, white)
    assert black[..., 10:20, 10:20].min() > 0.99 and black[..., :9, :].abs().max() < 0.01
    white[:, 1, ..., :6] = 0  # what a rule has uncovered is black, so white was a wall
    assert torch.equal(fitted(model, white), white)
