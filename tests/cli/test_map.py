"""`fine map`: every set of rules has a map."""

from pathlib import Path

import pytest


@pytest.mark.slow
@pytest.mark.parametrize("name", ["map.html", "map.png"])
def test_rules_that_are_for_pretraining_only_can_be_drawn(fine, name):
    options = ("--rules", "patchwork", "--count", 8, "--layout", "principal")
    code, out, err = fine("map", *options, "--out", name)
    assert code == 0 and not err and f"written to {name}" in out and Path(name).exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--out", "map.pdf"], "'map.pdf': the name must end in .html, .png or .svg"),
        (["--layout", "umpa"], "did you mean 'umap'?"),
        (["--rules", "patchwrk"], "did you mean 'patchwork'?"),
        (["--count", 1], "count is 1: give at least 2"),
        (["all-glyfs"], "did you mean 'all-glyphs'?"),
    ],
)
def test_an_impossible_map_is_refused(refused, options, message):
    assert message in refused("map", *options)
