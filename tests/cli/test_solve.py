"""`fine solve`: files are read once, and every set of rules can be drawn from."""

import json
from collections import Counter
from pathlib import Path

import pytest

from fine.inference import puzzle_images
from support.commands import image_folder


@pytest.fixture
def files(workplace) -> list[Path]:
    """x, y, the new one, and two choices."""
    folder = image_folder(workplace / "mine")
    return sorted(folder.rglob("*.png"))[:5]


def test_every_file_is_read_once_whatever_is_asked_about_it(fine, files, monkeypatch):
    opened: Counter[str] = Counter()
    read = puzzle_images.read_image

    def spy(source: object) -> object:
        if isinstance(source, Path):
            opened[source.name] += 1
        return read(source)

    for module in ("puzzle_images", "drawn"):
        monkeypatch.setattr(f"fine.inference.{module}.read_image", spy)
    options = ("--explain", "--candidates", "rotation", "--out", "answer.png")
    assert fine("solve", *files, *options).code == 0
    assert sum(opened.values()) == len(files)


@pytest.mark.slow
def test_an_answer_can_be_drawn_from_rules_that_are_for_pretraining_only(fine, files):
    options = ("--candidates", "patchwork", "--out", "answer.png", "--json")
    code, out, err = fine("solve", *files, *options)
    assert code == 0 and not err and Path("answer.png").exists()
    drawn = json.loads(out)["drawn"]
    assert {rule["family"] for rule in drawn["rules"]} == {"patchwork"}
    assert "patchwork" in fine("solve", *files[:3], "--candidates", "patchwork").out
