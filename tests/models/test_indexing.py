"""Numbers picked by index: those of plain indexing, with gradients that are the same every time."""

import pytest
import torch
from torch import Tensor

from fine.geometry.d4 import C4, D4
from fine.models.indexing import pick
from fine.models.orbit import orbit_table

PLACES = D4.pixel_permutations(4)
CASES = {
    "lifting": ((4, 1, 16), PLACES.view(8, 1, 4, 4)),
    "p4": ((8, 8, 64), C4.feature_permutations(4).view(4, 4, 4, 4)),
    "p4m": ((8, 8, 128), D4.feature_permutations(4).view(8, 8, 4, 4)),
    "orbits": ((8, 256), orbit_table(PLACES, rows_in=16, rows_out=16, symmetry="two-sided")),
    "rows": ((3, 4), torch.randint(4, (50, 32), generator=torch.Generator().manual_seed(0))),
}
"""Shapes of numbers, and indices of which every number has several."""
cases = pytest.mark.parametrize(("shape", "indices"), CASES.values(), ids=CASES)


def gradients(shape: tuple[int, ...], indices: Tensor) -> tuple[Tensor, Tensor]:
    """The gradient of the numbers by `pick`, and by plain indexing."""
    random = torch.Generator().manual_seed(1)
    numbers = torch.randn(shape, generator=random, requires_grad=True)
    weights = torch.randn((*shape[:-1], *indices.shape), generator=random)
    (ours,) = torch.autograd.grad((pick(numbers, indices) * weights).sum(), numbers)
    (plain,) = torch.autograd.grad((numbers[..., indices] * weights).sum(), numbers)
    return ours, plain


@cases
def test_one_thread_computes_the_bits_of_plain_indexing(shape, indices, set_threads):
    set_threads(1)
    numbers = torch.randn(shape)
    assert torch.equal(pick(numbers, indices), numbers[..., indices])
    ours, plain = gradients(shape, indices)
    assert torch.equal(ours, plain)


@cases
def test_two_threads_compute_the_bits_of_one(shape, indices, set_threads):
    """Plain indexing adds to a number from both threads, in the order in which they come."""
    set_threads(1)
    one = gradients(shape, indices)[0]
    set_threads(2)
    assert all(torch.equal(gradients(shape, indices)[0], one) for _ in range(5))


def test_it_can_be_differentiated_twice():
    numbers = torch.randn(2, 4, dtype=torch.float64, requires_grad=True)
    indices = torch.tensor([[0, 1, 1], [3, 0, 0]])
    assert torch.autograd.gradgradcheck(lambda given: pick(given, indices).square(), numbers)
