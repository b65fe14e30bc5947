"""Slots of few numbers are read as the products of their factors."""

import pytest
import torch

from fine.errors import FineError
from fine.models.fine import FINE, FINEConfig
from fine.models.low_rank import make_factors
from fine.models.surgery import memories

FORMS = [("rank-1", 16 + 16), ("rank-4", 4 * (16 + 16)), ("kronecker", 4 * 4 + 4 * 4)]


def make(form: str = "") -> FINE:
    torch.manual_seed(0)
    return FINE(FINEConfig(slots=4, slot_form=form), channels=1, size=32).eval()


@pytest.mark.parametrize(("form", "numbers"), FORMS)
def test_slots_are_the_products_of_their_factors(form, numbers):
    (memory,) = memories(make(form))
    assert sum(p.numel() for p in memory.parameters()) == 2 * 4 * numbers
    left, right = memory.values.left, memory.values.right
    for slot in range(4):
        if form == "kronecker":
            product = torch.kron(left[slot], right[slot])
        else:
            product = left[slot] @ right[slot]
        torch.testing.assert_close(memory.value_matrices()[slot], product)


@pytest.mark.parametrize(("form", "numbers"), FORMS)
def test_a_model_reads_factors_as_it_reads_matrices(form, numbers):
    small, whole = make(form), make()
    (memory,) = memories(small)
    state = {k: v for k, v in small.state_dict().items() if "memories" not in k}
    state["backbone.memories.0.values"] = memory.value_matrices()
    state["backbone.memories.0.keys"] = memory.key_matrices()
    whole.load_state_dict(state)
    images = torch.rand(3, 7, 1, 32, 32)
    with torch.no_grad():
        torch.testing.assert_close(small(images), whole(images))


@pytest.mark.parametrize(("form", "numbers"), FORMS)
def test_slots_start_with_the_norm_they_are_given(form, numbers):
    factors = make_factors(form, 5, rows_out=16, rows_in=16, norm=3.0)
    assert factors.left.numel() + factors.right.numel() == 5 * numbers
    torch.testing.assert_close(factors().flatten(1).norm(dim=1), torch.full((5,), 3.0))


def test_a_kronecker_slot_need_not_be_square():
    factors = make_factors("kronecker", 2, rows_out=12, rows_in=16, norm=1.0)
    assert factors().shape == (2, 12, 16)
    torch.testing.assert_close(factors()[1], torch.kron(factors.left[1], factors.right[1]))


@pytest.mark.parametrize("form", ["rank-17", "rank-0", "rank", "full"])
def test_a_form_that_slots_cannot_have_is_refused(form):
    with pytest.raises(FineError, match="rank"):
        make(form)
