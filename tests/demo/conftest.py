"""The demo's app over the pretrained model of glyphs, and requests to it."""

import pytest
from starlette.testclient import TestClient

from fine.demo.app import make_app
from fine.demo.sources import images_of
from fine.demo.wire import read_png, write_png
from fine.rules import FAMILIES, Rule, apply_rules
from support.demo import MODEL


@pytest.fixture(scope="session")
def client():
    with TestClient(make_app([MODEL])) as client:
        yield client


@pytest.fixture(scope="session")
def glyphs() -> list[str]:
    pixels = images_of("glyphs", channels=1, size=32).pixels[::20]
    return [write_png(image / 255) for image in pixels]


@pytest.fixture(scope="session")
def puzzle(glyphs) -> dict[str, object]:
    """A quarter turn of one glyph; another one mirrored, turned and unchanged to choose from."""
    turn = Rule(FAMILIES["rotation"], (90.0,))
    mirror = Rule(FAMILIES["reflection"], (1.0, 0.0))
    x, new = (read_png(text) for text in glyphs[:2])
    choices = [apply_rules(new, [mirror]), apply_rules(new, [turn]), new]
    return {
        "model": MODEL,
        "x": glyphs[0],
        "y": write_png(apply_rules(x, [turn])),
        "new": glyphs[1],
        "choices": [write_png(choice) for choice in choices],
    }
