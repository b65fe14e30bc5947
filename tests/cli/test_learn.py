"""`fine learn`: one more rule for a trained model."""

import pytest
import torch

from fine.models.fine import FINE, FINEConfig
from fine.pretrained import load


@pytest.mark.slow
def test_a_rule_is_added_to_a_bundled_model(fine, tmp_path):
    out = tmp_path / "with-swap"
    done = fine(
        *("learn", "--from", "all-glyphs", "--known", "affine", "--rules", "swap", "--out", out),
        *("--epochs", 1, "--train-count", 64, "--test-count", 40),
    )
    assert done.code == 0, done.err
    assert "all-glyphs knows affine and learns swap" in done.out and "before" in done.out
    grown, old = load(out), load("all-glyphs")
    assert (grown.config.slots, grown.config.groups) == (32, 2)
    values = [model.backbone.memories[0].values for model in (grown, old)]
    assert torch.equal(values[0][:16], values[1])
    again = fine("learn", "--from", out, "--rules", "swap")
    assert again.code == 2 and "knows swap already" in again.err and again.err.count("\n") == 1


def test_a_folder_that_does_not_say_what_it_knows_is_refused(fine, tmp_path):
    FINE(FINEConfig(), channels=1, size=32).save_pretrained(tmp_path / "silent")
    done = fine("learn", "--from", tmp_path / "silent", "--rules", "swap")
    assert done.code == 2 and "does not say what it was trained on" in done.err
