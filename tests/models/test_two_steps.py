"""Functions of two steps: products of matrices in the span of the slots, fitted together."""

from itertools import pairwise

import pytest
import torch
from torch import Tensor

from fine.models import two_steps as module
from fine.models.backbones import MatrixBackbone, make_backbone
from fine.models.fine import FINE, FINEConfig
from fine.models.least_squares import combine, fit, fit_before
from fine.models.memory import FunctionalMemory
from fine.models.two_steps import two_steps

ROWS, COLUMNS, PAIRS = 4, 6, 5


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def backbone_of(name: str, values: Tensor, ridge: float = 1e-6) -> MatrixBackbone:
    """A backbone with one memory that has these values and no orbits."""

    def make_memory(rows_in: int, rows_out: int) -> FunctionalMemory:
        memory = FunctionalMemory(
            rows_in, rows_out, slots=len(values), ridge=ridge, analogy="least-squares"
        )
        memory.values = torch.nn.Parameter(values.float())
        return memory

    backbone = make_backbone(name, rows=ROWS, layers=2, make_memory=make_memory)
    assert isinstance(backbone, MatrixBackbone)
    return backbone.double()


def pairs(function: Tensor) -> tuple[Tensor, Tensor]:
    x = torch.randn(PAIRS, ROWS, COLUMNS, dtype=torch.float64)
    return x, function @ x


IDENTITY = torch.eye(ROWS, dtype=torch.float64)
DOWN = torch.diag(torch.ones(ROWS - 1, dtype=torch.float64), -1)
"""Rows move down by one, and the last is lost."""
TWICE = (IDENTITY + DOWN / 2) @ (IDENTITY + DOWN / 2)
"""A rule beyond the span of the identity and DOWN: it also moves a quarter by two."""
SPANS = {"linear": torch.stack([IDENTITY, DOWN]), "residual": DOWN[None]}
"""Slots with which a step of each backbone is any mixture of staying and moving by one."""


@torch.no_grad()
@pytest.mark.parametrize("name", SPANS)
def test_a_rule_twice_is_beyond_the_slots_and_within_two_steps(name, monkeypatch):
    backbone, (x, y) = backbone_of(name, SPANS[name]), pairs(TWICE)
    start = IDENTITY if name == "residual" else torch.zeros_like(IDENTITY)
    one_step = start + combine(SPANS[name], fit(SPANS[name], x, y - start @ x, ridge=1e-6))
    matrices = one_step, two_steps(backbone, x, y)
    error, less = [(matrix - TWICE).norm(dim=(1, 2)) for matrix in matrices]
    assert (less < error * 2 / 3).all()  # after two sweeps; they go on towards the rule itself
    monkeypatch.setattr(module, "SWEEPS", 200)
    exact = TWICE.expand(PAIRS, ROWS, ROWS)
    torch.testing.assert_close(two_steps(backbone, x, y), exact, atol=0.02, rtol=0)


@torch.no_grad()
@pytest.mark.parametrize("name", ["linear", "residual"])
def test_each_sweep_explains_the_pair_better(name, monkeypatch):
    values = torch.randn(6, ROWS, ROWS, dtype=torch.float64)
    backbone = backbone_of(name, values)
    x, y = pairs(torch.randn(PAIRS, ROWS, ROWS, dtype=torch.float64))
    residuals = []
    for sweeps in range(4):
        monkeypatch.setattr(module, "SWEEPS", sweeps)
        residuals.append((two_steps(backbone, x, y) @ x - y).square().sum().item())
    assert all(after < before for before, after in pairwise(residuals))


def test_the_fit_before_a_matrix_is_that_of_the_products():
    values = torch.randn(3, ROWS, ROWS, dtype=torch.float64)
    then = torch.randn(PAIRS, ROWS, ROWS, dtype=torch.float64)
    x, y = pairs(torch.randn(PAIRS, ROWS, ROWS, dtype=torch.float64))
    found = fit_before(values, x, then, y, ridge=0.1)
    for number in range(PAIRS):  # for one pair, the products are slots like any others
        products = then[number] @ values
        alone = slice(number, number + 1)
        expected = fit(products, x[alone], y[alone], ridge=0.1)
        torch.testing.assert_close(found[alone], expected)


@torch.no_grad()
def test_a_mirrored_pair_gives_the_mirrored_function():
    """The orbits of the slots are closed under mirrors, and so are products of two of them."""
    model = FINE(FINEConfig(slots=2), channels=1, size=32).eval()
    x, y = torch.randn(2, 3, model.encoder.rows, 16).unbind(0)
    moved = model.encoder.row_permutations[5]
    function = two_steps(model.backbone, x, y)
    mirrored = two_steps(model.backbone, x[:, moved], y[:, moved])
    torch.testing.assert_close(mirrored, function[:, moved][:, :, moved], atol=1e-3, rtol=1e-3)
