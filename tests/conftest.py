"""What tests share. Tests of real pictures need FINE_DATA; FINE_REQUIRE_DATA=1 turns their skipping into failing."""

import os
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from PIL import Image

from fine import cli
from fine.images.official import OFFICIAL


class Outcome(NamedTuple):
    """How a command ended, and what it said."""

    code: int
    out: str
    err: str


@pytest.fixture
def fine(monkeypatch, capsys):
    """Run a command in this process, as the shell would: fine("puzzles", "--count", 2)."""

    def call(*arguments: object) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["fine", *map(str, arguments)])
        capsys.readouterr()
        code: object = 0
        try:
            cli.main()
        except SystemExit as stop:
            code = stop.code or 0
        return Outcome(code, *capsys.readouterr())

    return call


@pytest.fixture
def noisy_pictures(tmp_path) -> Path:
    """A folder of noise in four classes, which is there sooner than glyphs."""
    noise = np.random.default_rng(0)
    for label in "abcd":
        (tmp_path / "pictures" / label).mkdir(parents=True)
        for number in range(3):
            pixels = noise.integers(256, size=(32, 32), dtype=np.uint8)
            Image.fromarray(pixels).save(tmp_path / "pictures" / label / f"{number}.png")
    return tmp_path / "pictures"


@pytest.fixture(scope="session")
def data_root() -> Path:
    """A data root with all official files in it."""
    root = Path(os.environ.get("FINE_DATA", "")).absolute()
    missing = [file for source in OFFICIAL.values() for file in source.files if not (root / file).is_file()]
    if os.environ.get("FINE_DATA") and not missing:
        return root
    reason = f"real pictures are needed: set FINE_DATA to a data root with {', '.join(missing) or 'the official files'}"
    if os.environ.get("FINE_REQUIRE_DATA") == "1":
        pytest.fail(reason)
    pytest.skip(reason)
