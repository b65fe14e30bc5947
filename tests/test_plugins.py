"""Plug-ins: found by name, imported when used, and refused in one line that names the package."""

import sys
from unittest.mock import patch

import pytest
import torch

from fine.benchmarks import benchmark_names, read_benchmark
from fine.errors import FineError
from fine.images import load_images
from fine.models import MODELS, make_model
from fine.plugins import plugin_names
from fine.puzzles.task import Task
from fine.rules import FAMILIES, rule_set
from support.plugins import install

MODEL = """
from dataclasses import dataclass
import torch
from fine.models import Recipe

@dataclass(frozen=True)
class Config:
    width: int = 3

class Model(torch.nn.Module):
    def __init__(self, config, *, channels, size):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(config.width))
    def forward(self, images):
        return self.weight.sum() * images[:, 3:].mean((2, 3, 4))

MINE = Recipe(Model, Config())
PAIR = (Model, Config)
"""
FAMILY = """
from fine.rules import Family

NUDGE = Family("nudge", ((1.0,), (2.0,), (3.0,)), "{:g}".format, lambda points, by: points + by)
OTHER = 3
"""
IMAGES = """
import torch
from fine.images import Images

def load(*, size, data_root):
    pixels = torch.arange(8 * size * size).remainder(251).to(torch.uint8).view(8, 1, size, size)
    return Images("dots", pixels, torch.arange(8) // 2, tuple("abcd"))

def small(*, size, data_root):
    return Images("small", torch.zeros(2, 1, 3, 3, dtype=torch.uint8), torch.arange(2), ("a", "b"))

def broken(*, size, data_root):
    raise OSError("no such camera")
"""

BENCHMARKS = """
from fine.benchmarks import BenchmarkPuzzle

def read(path):
    x, y, new, *choices = (path / name for name in "xynab")
    return [BenchmarkPuzzle("one", "", "", (x,), (y,), new, tuple(choices), 1)]

def broken(path):
    return ["a puzzle"]
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder for packages, on the path; what they add is forgotten after the test."""
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)
    with patch.dict(MODELS), patch.dict(FAMILIES):
        yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def test_a_model_is_imported_when_its_name_is_used(folder):
    install(folder, "pack_a", source=MODEL, entries={"fine.models": "mine = pack_a:MINE"})
    assert plugin_names("fine.models") == ["mine"]
    make_model("esbn", channels=1, size=32)
    with pytest.raises(FineError, match="unknown model 'nine': did you mean 'mine'"):
        make_model("nine", channels=1, size=32)
    assert "pack_a" not in sys.modules and "mine" not in MODELS
    model = make_model("mine", channels=1, size=32, settings={"width": "5"})
    assert model.weight.shape == (5,) and model(torch.rand(2, 7, 1, 32, 32)).shape == (2, 4)
    assert "pack_a" in sys.modules


def test_images_and_rules_of_plugins_make_puzzles(folder):
    install(folder, "pack_b", source=IMAGES, entries={"fine.images": "dots = pack_b:load"})
    install(folder, "pack_c", source=FAMILY, entries={"fine.rules": "nudge = pack_c:NUDGE"})
    everything = rule_set("all").rules
    assert len(rule_set("nudge+rotation")) == 27
    assert rule_set("all").rules == everything  # whatever is installed
    task = Task.preset("dots", rules="nudge")
    assert task.image_channels == 1 and len(task.test_puzzles().render([0, 1]).images) == 2
    with pytest.raises(FineError, match=r"unknown task 'dot': did you mean 'dots'"):
        Task.preset("dot", rules="nudge")
    with pytest.raises(FineError, match=r"unknown rules 'nudgee': did you mean 'nudge'"):
        rule_set("nudgee")


@pytest.mark.parametrize(
    ("group", "value", "use", "message"),
    [
        ("fine.models", "missing:THING", "model", "No module named 'missing'"),
        ("fine.models", "pack_d:NOTHING", "model", "has no attribute 'NOTHING'"),
        ("fine.models", "pack_d:three", "model", r"expected fine.models.Recipe\(class, config\)"),
        ("fine.models", "pack_d:pair", "model", "expected an instance of a dataclass"),
        ("fine.rules", "pack_d:three", "rules", "expected a fine.rules.Family called 'mine'"),
        ("fine.images", "pack_d:three", "images", "not callable"),
        ("fine.images", "pack_d:broken", "images", "OSError: no such camera"),
        ("fine.images", "pack_d:small", "images", r"not \(2, 1, 3, 3\) and \(2,\)"),
    ],
)
def test_a_broken_plugin_is_refused_in_one_line_that_names_its_package(
    folder, group, value, use, message
):
    source = MODEL + IMAGES + "\nthree, pair = 3, PAIR\n"
    install(folder, "pack_d", source=source, entries={group: f"mine = {value}"})
    uses = {
        "model": lambda: make_model("mine", channels=1, size=32),
        "rules": lambda: rule_set("mine"),
        "images": lambda: load_images("mine"),
    }
    with pytest.raises(FineError, match=message) as refusal:
        uses[use]()
    text = str(refusal.value)
    assert "pack_d 1.0" in text and "\n" not in text and text.endswith("uninstall that package")


def test_two_packages_with_the_same_name_are_refused(folder):
    install(folder, "pack_e", source=MODEL, entries={"fine.models": "mine = pack_e:MINE"})
    install(folder, "pack_f", source=MODEL, entries={"fine.models": "mine = pack_f:MINE"})
    with pytest.raises(FineError, match=r"pack_. 1.0 and pack_. 1.0 both have a model called"):
        make_model("mine", channels=1, size=32)


def test_a_built_in_name_comes_first(folder):
    install(folder, "pack_g", source="1 / 0", entries={"fine.models": "esbn = pack_g:MINE"})
    assert type(make_model("esbn", channels=1, size=32)).__name__ == "ESBN"


def test_a_benchmark_is_read(folder, tmp_path):
    install(
        folder,
        "pack_h",
        source=BENCHMARKS,
        entries={"fine.benchmarks": "pairs = pack_h:read\nbroken = pack_h:broken"},
    )
    assert benchmark_names() == ["kiva", "folder", "broken", "pairs"]
    data = tmp_path / "data"
    data.mkdir()
    for name in "xynab":
        (data / name).touch()
    [puzzle] = read_benchmark("pairs", data)
    assert puzzle.choices == (data / "a", data / "b") and puzzle.answer == 1
    (data / "b").unlink()
    with pytest.raises(FineError, match=r"one: .*b is missing"):
        read_benchmark("pairs", data)
    with pytest.raises(FineError, match=r"'broken' of the package pack_h 1.0 .*expected Benchmark"):
        read_benchmark("broken", data)
    with pytest.raises(FineError, match=r"'pairs' of the package pack_h 1.0 .*TypeError"):
        read_benchmark("pairs", None)
    with pytest.raises(FineError, match="unknown benchmark 'pears': did you mean 'pairs'"):
        read_benchmark("pears", data)
