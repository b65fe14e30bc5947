"""What tests of inference share: a bundled model, a drawing, puzzles over glyphs."""

import random

import pytest
from PIL import Image

import fine
from fine.models import paper
from support.pillow_puzzles import shape


@pytest.fixture(scope="package")
def glyph_model() -> paper.FINE:
    return fine.load("all-glyphs")


@pytest.fixture(scope="package")
def default_model() -> paper.FINE:
    return fine.load()


@pytest.fixture(scope="package")
def glyph_puzzles() -> fine.Puzzles:
    images, rules = fine.load_images("glyphs"), fine.rule_set("all")
    return fine.draw_puzzles(images, rules, 60, seed=99, classes=range(200, 260))


@pytest.fixture
def drawing() -> Image.Image:
    """Dark strokes on white."""
    return shape(random.Random(5))
