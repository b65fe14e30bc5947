"""Laws of maps: similar functions lie near each other, every time in the same places."""

import json
import re
from importlib.util import find_spec

import numpy as np
import pytest
import torch
from PIL import Image

import fine as library
from fine import FineError
from fine.analysis.function_map import function_vectors, lay_out, make_function_map
from fine.models import make_model
from fine.rules import Warp, rule_set


@pytest.mark.slow
def test_a_map_shows_the_vectors_that_functions_have(pairs):
    model = library.load("all-glyphs")
    expected = library.function(*pairs, model=model).vector()
    # Finding the ink rounds a little.
    torch.testing.assert_close(function_vectors(model, *pairs), expected, rtol=0, atol=0.02)


@pytest.mark.slow
def test_a_map_is_the_same_every_time_and_keeps_families_together(task):
    model = library.load("all-glyphs")
    made, again = (make_function_map(model, task, count=20, layout="principal") for _ in range(2))
    assert torch.equal(made.points, again.points) and made.layout == "principal"
    assert made.families == ["rotation"] * 20 + ["scale"] * 20
    assert made.points.amin() == 0 and made.points.amax() == 1
    # By chance half of the neighbours are of the same family, with a standard deviation of 8 %.
    assert made.nearest_is_alike(made.vectors).float().mean() > 0.65
    y = Warp(rule_set("rotation+scale"), size=32)(made.x, torch.tensor(made.numbers))
    assert torch.equal(y, made.y)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["fine-nice", "fine-mlp"])
def test_the_papers_models_have_maps(name, task):
    model = make_model(name, channels=1, size=32)
    made = make_function_map(model, task, count=4, layout="principal")
    assert made.points.shape == (8, 2) and made.points.isfinite().all()


@pytest.mark.parametrize(
    ("rules", "count", "message"),
    [("rotation", 1, "at least 2 functions"), ("rotation", 2, "2 functions make no map")],
)
def test_a_map_of_too_little_is_refused(task, rules, count, message):
    with pytest.raises(FineError, match=message):
        make_function_map(library.load("all-glyphs"), task, rules=rules, count=count)


def test_principal_components_hold_what_differs_most():
    """Points on a slanted line in ten dimensions are laid out along one axis, in their order."""
    along = torch.linspace(-1, 1, 9)
    noise = torch.randn(9, 10, generator=torch.Generator().manual_seed(0))
    vectors = along[:, None] * torch.arange(1.0, 11.0) + 0.001 * noise
    points, layout = lay_out(vectors, "principal")
    torch.testing.assert_close(points[:, 0], (along + 1) / 2, atol=0.01, rtol=0)
    assert layout == "principal"


def test_an_unknown_layout_is_refused():
    with pytest.raises(FineError, match="unknown layout"):
        lay_out(torch.rand(5, 3), "globe")


@pytest.mark.skipif(find_spec("umap") is not None, reason="umap-learn is installed")
def test_without_umap_its_layout_is_refused():
    with pytest.raises(FineError, match="umap-learn"):
        lay_out(torch.rand(24, 6), "umap")


@pytest.mark.slow
@pytest.mark.skipif(find_spec("umap") is None, reason="umap-learn is not installed")
def test_umap_keeps_two_heaps_apart():
    noise = torch.randn(24, 6, generator=torch.Generator().manual_seed(0))
    heaps = noise + 40 * (torch.arange(24) % 2)[:, None]
    points, layout = lay_out(heaps, "umap")
    assert layout == "umap" and points.shape == (24, 2)
    even, odd = points[::2], points[1::2]
    assert torch.cdist(even, odd).min() > torch.cdist(even, even).max()


def test_the_command_draws_a_page_that_needs_no_other_file(fine, tmp_path):
    options = ("--rules", "rotation+scale", "--count", 6, "--layout", "principal")
    done = fine("map", "all-glyphs", *options, "--out", tmp_path / "map.html")
    assert done.code == 0 and "principal components" in done.out
    page = (tmp_path / "map.html").read_text(encoding="utf-8")
    assert not re.search(r'(src|href)="(?!data:)', page) and "@import" not in page
    start, end = page.index("const content = ") + 16, page.index(";\nconst { functions")
    content = json.loads(page[start:end])
    assert len(content["functions"]) == 12
    assert content["images"].startswith("data:image/png;base64,") and "content.images" in page
    assert {function["family"] for function in content["functions"]} == {"rotation", "scale"}


@pytest.mark.slow
def test_the_command_draws_an_image(fine, tmp_path):
    options = ("--rules", "rotation+scale", "--count", 6, "--layout", "principal")
    assert fine("map", "all-glyphs", *options, "--out", tmp_path / "map.png").code == 0
    assert np.asarray(Image.open(tmp_path / "map.png").convert("L")).std() > 5
    done = fine("map", "all-glyphs", "--out", tmp_path / "map.pdf")
    assert done.code == 2 and "must end in .html, .png or .svg" in done.err
