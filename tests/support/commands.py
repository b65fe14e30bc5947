"""What tests of commands share."""

import json
import re
import sys
from pathlib import Path

import numpy as np
from PIL import Image

PROGRAM = (sys.executable, "-m", "fine")
SMALL = ("--train-count", "64", "--test-count", "40", "--epochs", "2", "--batch", "16")
TINY = (*SMALL, "--set", "slots=4")
"""A training of seconds; the fixture `trained` has made the same one in Python."""


def image_folder(folder: Path, *, classes: int = 4, colour: bool = False) -> Path:
    """A folder of noise, which no two rules make alike."""
    random = np.random.default_rng(0)
    for label in range(classes):
        (folder / f"class{label}").mkdir(parents=True)
        for number in range(3):
            pixels = random.integers(256, size=(32, 32, 3 if colour else 1), dtype=np.uint8)
            image = Image.fromarray(pixels if colour else pixels[:, :, 0])
            image.save(folder / f"class{label}/{number}.png")
    return folder


def puzzle_count(out: str) -> int:
    """How many puzzles a command says it has tested on."""
    return int(re.search(r"([\d,]+) test puzzles", out)[1].replace(",", ""))


def change_config(folder: Path, **changes: object) -> None:
    """Write other values into the config.json of a run."""
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, **changes}))
