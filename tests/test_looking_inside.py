"""Laws of looking inside: shares of slots are shares, a slot that is gone was never there, and like functions lie together."""

import json
import re
from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pytest
import torch
from PIL import Image

import fine as library
from fine import FINE, FINEConfig, FineError, Task
from fine.functions import compose
from fine.functions.charts import chart_of, function_vectors, lay_out
from fine.functions.slots import memory_of, slot_use, use_by_family, without_slot
from fine.rules import Warp, rule_set


def make(**settings: object) -> FINE:
    torch.manual_seed(0)
    return FINE(FINEConfig(**settings), channels=1, size=32).eval()


@pytest.fixture(scope="module")
def task() -> Task:
    return replace(Task.preset("glyphs", rules="rotation+scale"), test_count=40)


@pytest.fixture(scope="module")
def pairs(task) -> tuple[torch.Tensor, torch.Tensor]:
    pictures = task.test_puzzles().render(range(8)).pictures
    return pictures[:, 0], pictures[:, 1]


@pytest.mark.parametrize("backbone", ["linear", "residual"])
def test_shares_of_slots_are_shares(backbone, pairs):
    use = slot_use(make(slots=5, backbone=backbone), *pairs)
    assert use.shape == (8, 5) and (use >= 0).all()
    changed = (pairs[0] != pairs[1]).flatten(1).any(1)  # where nothing happens, a residual backbone has nothing to add
    assert changed.sum() >= 4
    torch.testing.assert_close(use.sum(1)[changed], torch.ones(int(changed.sum())))


def test_a_slot_is_as_much_as_it_adds(pairs):
    """With the keys of all slots but one at 0, that one makes the whole function."""
    model = make(slots=3)
    memory = memory_of(model)
    with torch.no_grad():
        memory.keys[[0, 2]] = 0
    torch.testing.assert_close(slot_use(model, *pairs), torch.tensor([[0.0, 1.0, 0.0]]).expand(8, 3))


@torch.no_grad()
def test_a_removed_slot_was_never_there(pairs):
    model = make(slots=3)
    smaller = make(slots=2, ridge=model.config.ridge * 2 / 3)  # which is measured in mean squares of a slot
    tensors = {name: tensor[[0, 2]] if "memories" in name else tensor for name, tensor in model.state_dict().items()}
    smaller.load_state_dict(tensors)
    before, poorer = model.state_dict()["backbone.memories.0.values"].clone(), without_slot(model, 1)
    expected, made = (function_vectors(each, *pairs) for each in (smaller, poorer))
    torch.testing.assert_close(made, expected)
    assert torch.equal(model.state_dict()["backbone.memories.0.values"], before)  # the model itself is left alone
    assert not torch.allclose(function_vectors(model, *pairs), made)


def test_every_family_has_its_use(task):
    use = use_by_family(make(slots=4), task.test_puzzles())
    assert set(use) == {"rotation", "scale"} and all(share.shape == (4,) for share in use.values())


@pytest.mark.parametrize(
    ("look", "message"),
    [
        (lambda: without_slot(make(slots=2), 2), "there are 2, numbered from 0"),
        (lambda: without_slot(make(slots=1), 0), "one has to be left"),
        (lambda: memory_of(make(slots=0)), "no slots to look into"),
        (lambda: memory_of(make(backbone="nice", symmetry="none")), "memories"),
        (lambda: lay_out(torch.rand(5, 3), "globe"), "unknown layout"),
    ],
)
def test_what_cannot_be_looked_into_is_said_in_one_line(look, message):
    with pytest.raises(FineError, match=message):
        look()


# --- the map ----------------------------------------------------------------------------------------------------------------


def test_a_map_shows_the_vectors_functions_have(task, pairs):
    model = library.load("all-glyphs")
    torch.testing.assert_close(
        function_vectors(model, *pairs), compose(model, *pairs).vector(), rtol=0, atol=0.02
    )  # finding the ink rounds


def test_a_map_is_the_same_every_time_and_keeps_families_together(task):
    model = library.load("all-glyphs")
    chart, again = (chart_of(model, task, count=20, layout="principal") for _ in range(2))
    assert torch.equal(chart.points, again.points) and chart.layout == "principal"
    assert chart.families == ["rotation"] * 20 + ["scale"] * 20
    assert chart.points.amin() == 0 and chart.points.amax() == 1
    # Half of the neighbours would be of the same family by chance, with a standard deviation of 8 %.
    assert chart.kept_together(chart.vectors).float().mean() > 0.65
    made = Warp(rule_set("rotation+scale"), size=32)(chart.x, torch.tensor(chart.numbers))
    assert torch.equal(made, chart.y)


def test_principal_components_hold_what_differs_most():
    """Points on a slanted line in ten dimensions are laid out along one axis, in their order."""
    along = torch.linspace(-1, 1, 9)
    vectors = along[:, None] * torch.arange(1.0, 11.0) + 0.001 * torch.randn(9, 10, generator=torch.Generator().manual_seed(0))
    points, layout = lay_out(vectors, "principal")
    torch.testing.assert_close(points[:, 0], (along + 1) / 2, atol=0.01, rtol=0)
    assert layout == "principal"


def test_umap_keeps_two_heaps_apart():
    if find_spec("umap") is None:
        with pytest.raises(FineError, match="umap-learn"):
            lay_out(torch.rand(24, 6), "umap")
        pytest.skip("umap-learn is not installed")
    heaps = torch.randn(24, 6, generator=torch.Generator().manual_seed(0)) + 40 * (torch.arange(24) % 2)[:, None]
    points, layout = lay_out(heaps, "umap")
    assert layout == "umap" and points.shape == (24, 2)
    even, odd = points[::2], points[1::2]
    assert torch.cdist(even, odd).min() > torch.cdist(even, even).max()


def test_the_command_draws_a_page_that_needs_nothing_else(fine, tmp_path):
    options = ("--rules", "rotation+scale", "--count", 6, "--layout", "principal")
    done = fine("map", "all-glyphs", *options, "--out", tmp_path / "map.html")
    assert done.code == 0 and "principal components" in done.out
    page = (tmp_path / "map.html").read_text(encoding="utf-8")
    assert not re.search(r'(src|href)="(?!data:)', page) and "@import" not in page
    content = json.loads(page[page.index("const content = ") + 16 : page.index(";\nconst { functions")])
    assert len(content["functions"]) == 12 and content["pictures"].startswith("data:image/png;base64,")
    assert {function["family"] for function in content["functions"]} == {"rotation", "scale"}
    assert fine("map", "all-glyphs", *options, "--out", tmp_path / "map.png").code == 0
    assert np.asarray(Image.open(tmp_path / "map.png").convert("L")).std() > 5
    done = fine("map", "all-glyphs", "--out", tmp_path / "map.pdf")
    assert done.code == 2 and "must end in .html, .png or .svg" in done.err


def test_the_command_shows_slots(fine, tmp_path):
    done = fine("slots", "all-glyphs", "--rules", "rotation", "--count", 20, "--remove", "--out", tmp_path / "slots.png")
    assert done.code == 0 and "accuracy with all slots" in done.out and "rotation" in done.out
    assert np.asarray(Image.open(tmp_path / "slots.png").convert("L")).std() > 5
