"""Functions known by their rule do to folders what the command does."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import fine
from fine.errors import FineError
from fine.inference import Registered, RuleFunction
from fine.rules import FAMILIES, Rule
from fine.rules.rule_map import RuleMap

MIRROR = RuleFunction(Registered(RuleMap((Rule(FAMILIES["reflection"], (1, 0)),)), ((0, 0),), 0.0))
PARTLY = RuleFunction(
    Registered(RuleMap((Rule(FAMILIES["black-white"], (0, 0, 1)),)), ((0, 0, 0),), 0.0)
)


@pytest.fixture
def photos(tmp_path) -> Path:
    (tmp_path / "photos").mkdir()
    for number in range(3):
        noise = np.random.default_rng(number).integers(256, size=(20, 30), dtype=np.uint8)
        Image.fromarray(noise).save(tmp_path / "photos" / f"{number}.png")
    return tmp_path / "photos"


def read(path: Path) -> np.ndarray:
    with Image.open(path) as image:
        return np.asarray(image).astype(int)


def test_a_folder_or_some_files(photos, tmp_path):
    assert MIRROR.apply(photos, tmp_path / "done").done == 3
    assert MIRROR.apply([photos / "0.png", str(photos / "1.png")], str(tmp_path / "two")).done == 2
    assert sorted(path.name for path in (tmp_path / "two").glob("*.png")) == ["0.png", "1.png"]
    mirrored = np.flip(read(photos / "0.png"), 1)
    axis = int((read(tmp_path / "done" / "0.png") == mirrored).all())
    for number in range(3):
        name = f"{number}.png"
        assert np.array_equal(read(tmp_path / "done" / name), np.flip(read(photos / name), axis))


def test_a_part_that_becomes_negative(photos, tmp_path):
    PARTLY.apply(photos, tmp_path / "done", jobs=1)
    before, after = read(photos / "0.png"), read(tmp_path / "done" / "0.png")
    assert np.array_equal(after[:, :15], before[:, :15])
    assert np.array_equal(after[:, 15:], 255 - before[:, 15:])


def test_a_function_from_a_file_does_the_same(photos, tmp_path):
    MIRROR.save(tmp_path / "mirror.json")
    MIRROR.apply(photos, tmp_path / "one")
    fine.load_function(tmp_path / "mirror.json").apply(photos, tmp_path / "other")
    for path in (tmp_path / "one").glob("*.png"):
        assert path.read_bytes() == (tmp_path / "other" / path.name).read_bytes()


def test_what_no_rule_explains_is_not_applied(photos, tmp_path):
    poor = RuleFunction(Registered(MIRROR.rule.rule, ((0, 0),), 0.6))
    with pytest.raises(FineError, match="residual of 60%"):
        poor.apply(photos, tmp_path / "done")
    assert not (tmp_path / "done").exists()


def test_ctrl_c_is_ctrl_c(photos, tmp_path):
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        MIRROR.apply(photos, tmp_path / "done", jobs=1, progress=stop)
    assert MIRROR.apply(photos, tmp_path / "done").skipped >= 1
