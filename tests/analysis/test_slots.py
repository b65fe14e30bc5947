"""Laws of slots: shares are shares, and a slot that is removed leaves no trace."""

import numpy as np
import pytest
import torch
from PIL import Image

from fine import FINE, FINEConfig, FineError
from fine.analysis.function_map import function_vectors
from fine.analysis.slots import (
    memory_of,
    slot_shares,
    slot_shares_by_family,
    without_slot,
)
from fine.models import make_model


def make(**settings: object) -> FINE:
    torch.manual_seed(0)
    return FINE(FINEConfig(**settings), channels=1, size=32).eval()


@pytest.mark.parametrize("backbone", ["linear", "residual"])
def test_shares_of_slots_are_shares(backbone, pairs):
    shares = slot_shares(make(slots=5, backbone=backbone), *pairs)
    assert shares.shape == (8, 5) and (shares >= 0).all()
    # Where x stays as it is, a residual backbone has nothing to add.
    changed = (pairs[0] != pairs[1]).flatten(1).any(1)
    assert changed.sum() >= 4
    torch.testing.assert_close(shares.sum(1)[changed], torch.ones(int(changed.sum())))


def test_a_slot_is_as_much_as_it_adds(pairs):
    """With the keys of all slots but one at 0, that one makes the whole function."""
    model = make(slots=3)
    with torch.no_grad():
        memory_of(model).keys[[0, 2]] = 0
    expected = torch.tensor([[0.0, 1.0, 0.0]]).expand(8, 3)
    torch.testing.assert_close(slot_shares(model, *pairs), expected)


@torch.no_grad()
def test_a_removed_slot_was_never_there(pairs):
    model = make(slots=3)
    smaller = make(slots=2, ridge=model.config.ridge * 2 / 3)  # relative to the mean of all slots
    tensors = model.state_dict()
    for name in tensors:
        if "memories" in name:
            tensors[name] = tensors[name][[0, 2]]
    smaller.load_state_dict(tensors)
    before = model.state_dict()["backbone.memories.0.values"].clone()
    removed = without_slot(model, 1)
    expected, made = (function_vectors(each, *pairs) for each in (smaller, removed))
    torch.testing.assert_close(made, expected)
    # The model itself is left alone.
    assert torch.equal(model.state_dict()["backbone.memories.0.values"], before)
    assert not torch.allclose(function_vectors(model, *pairs), made)


def test_every_family_has_its_shares(task):
    shares = slot_shares_by_family(make(slots=4), task.test_puzzles())
    assert set(shares) == {"rotation", "scale"}
    assert all(share.shape == (4,) for share in shares.values())


def test_slots_in_groups_have_shares(pairs):
    torch.manual_seed(0)
    model = make_model("fine-grouped", channels=1, size=32, settings={"slots": 4, "groups": 2})
    shares = slot_shares(model, *pairs)
    assert shares.shape == (8, 4)
    assert ((shares > 0).sum(1) <= 2).all()  # a pair is explained by one group


@pytest.mark.parametrize(
    ("look", "message"),
    [
        (lambda: without_slot(make(slots=2), 2), "there are 2, numbered from 0"),
        (lambda: without_slot(make(slots=1), 0), "one has to be left"),
        (lambda: memory_of(make(slots=0)), "no slots to look into"),
        (lambda: memory_of(make(backbone="nice", symmetry="none")), "memories"),
        (lambda: memory_of(make_model("fine-nice", channels=1, size=32)), "a nice backbone has 2"),
        (lambda: without_slot(make_model("fine-mlp", channels=1, size=32), 0), "memories"),
    ],
)
def test_what_cannot_be_looked_into_is_refused_in_one_line(look, message):
    with pytest.raises(FineError, match=message) as problem:
        look()
    assert "\n" not in str(problem.value)


@pytest.mark.slow
def test_the_command_shows_slots(fine, tmp_path):
    out = tmp_path / "slots.png"
    options = ("--rules", "rotation", "--count", 20, "--remove", "--out", out)
    done = fine("slots", "all-glyphs", *options)
    assert done.code == 0 and "accuracy with all slots" in done.out and "rotation" in done.out
    assert np.asarray(Image.open(out).convert("L")).std() > 5
