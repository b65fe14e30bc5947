"""What tests of benchmarks share: a bundled model."""

import pytest

import fine
from fine.models import paper


@pytest.fixture(scope="package")
def glyph_model() -> paper.FINE:
    return fine.load("all-glyphs")
