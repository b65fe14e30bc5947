"""Known functions: puzzles grouped by what explains them, and products that explain a pair."""

import pytest
import torch
from torch import Tensor

from fine.models import known_functions as module
from fine.models.fine import FINE, FINEConfig
from fine.models.known_functions import (
    KnownFunctions,
    group_by_function,
    log_distance,
    log_residual,
    regress,
)

COUNT, PUZZLES = 3, 60


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


@pytest.fixture
def grids() -> list[FINE]:
    """Two grids with matrices of 16 × 16 and 64 × 64; nothing is encoded here."""
    coarse = FINEConfig(embedding_size=64, columns=4, slots=2)
    fine = FINEConfig(embedding_size=256, columns=4, slots=1)
    return [FINE(config, channels=1, size=32).eval() for config in (coarse, fine)]


@pytest.fixture
def rules(grids) -> list[Tensor]:
    """Three rotations of the rows on each grid: orthogonal, so that nothing is lost."""
    return [
        torch.linalg.qr(torch.randn(COUNT, grid.encoder.rows, grid.encoder.rows)).Q
        for grid in grids
    ]


def pairs(matrices: list[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
    """Two pairs for each puzzle: x (n, 2, rows, 4), and what matrices (n, rows, rows) make of x."""
    x = [torch.randn(len(m), 2, m.shape[1], 4) for m in matrices]
    return x, [m[:, None] @ image for m, image in zip(matrices, x, strict=True)]


@torch.no_grad()
def learned(grids: list[FINE], rules: list[Tensor]) -> KnownFunctions:
    known = KnownFunctions(COUNT, rows=[grid.encoder.rows for grid in grids])
    which = torch.arange(PUZZLES) % COUNT
    known.learn(grids, *pairs([matrices[which] for matrices in rules]))
    return known


@torch.no_grad()
def test_puzzles_are_grouped_by_their_rule_without_being_told_it(grids, rules):
    which = torch.arange(PUZZLES) % COUNT
    (x, _), (y, _) = pairs([matrices[which] for matrices in rules])
    groups = group_by_function(grids[0], x, y, count=COUNT)
    assert len({(int(a), int(b)) for a, b in zip(groups, which, strict=True)}) == COUNT


@torch.no_grad()
def test_each_function_is_known_on_both_grids_and_so_is_its_inverse(grids, rules):
    known = learned(grids, rules)
    order = [
        int((rules[0] - matrix).square().sum((1, 2)).argmin())
        for matrix in known.matrices[0][:COUNT]
    ]
    assert sorted(order) == [0, 1, 2]  # every rule once
    for matrices, expected in zip(known.matrices, rules, strict=True):
        functions, inverses = matrices.split(COUNT)
        # Near them, and not at them, because of the ridge.
        torch.testing.assert_close(functions, expected[order], atol=0.05, rtol=0)
        torch.testing.assert_close(inverses, expected[order].mT, atol=0.05, rtol=0)


@torch.no_grad()
def test_a_product_of_known_rules_is_found_though_no_slot_spans_it(grids, rules):
    known = learned(grids, rules)
    product = [matrices[2] @ matrices[1].T for matrices in rules]  # one rule undone, then another
    x, y = pairs([matrix[None].expand(5, -1, -1) for matrix in product])
    hint_x, hint_y = ([image[:, 0] for image in side] for side in (x, y))
    functions, residual = known.explain(grids, hint_x, hint_y)
    best = residual.argmin(1)
    each = torch.arange(len(best))
    for found, new, result in zip(functions, x, y, strict=True):
        # They do the same to an image that was not shown.
        missed = (found[each, best] @ new[:, 1] - result[:, 1]).square().sum()
        assert missed < 0.02 * result[:, 1].square().sum()


@torch.no_grad()
def test_residuals_are_shares_of_y_on_all_grids_together(grids):
    y = [torch.randn(2, grid.encoder.rows, 4) for grid in grids]
    nothing = [torch.zeros_like(image)[:, None] for image in y]
    torch.testing.assert_close(log_residual(grids, nothing, y), torch.zeros(2, 1))
    half = [image[:, None] / 2 for image in y]  # a quarter of the squares on either grid
    torch.testing.assert_close(
        log_residual(grids, half, y), torch.full((2, 1), 1 / 16).log(), atol=1e-4, rtol=1e-4
    )
    exact = log_distance(grids, y, y)
    assert exact.isfinite().all()


@torch.no_grad()
def test_before_training_only_the_identity_is_known(grids):
    known = KnownFunctions(COUNT, rows=[grid.encoder.rows for grid in grids])
    for matrices in known.matrices:
        assert (matrices == torch.eye(matrices.shape[-1])).all()
        assert len(matrices) == 2 * COUNT
    x = [torch.randn(2, grid.encoder.rows, 4) for grid in grids]
    functions, residual = known.explain(grids, x, x)
    assert functions[0].shape == (2, module.BEST, 16, 16)
    assert (residual < -20).all()  # nothing is missed


@torch.no_grad()
def test_fewer_puzzles_than_functions_leave_some_the_identity(grids, rules):
    known = KnownFunctions(COUNT, rows=[grid.encoder.rows for grid in grids])
    known.learn(grids, *pairs([matrices[:1].expand(1, -1, -1) for matrices in rules]))
    changed = [(matrix != torch.eye(16)).any().item() for matrix in known.matrices[0]]
    assert changed == [True, False, False, True, False, False]


def test_a_regression_has_the_answer_of_the_normal_equations():
    x, y = torch.randn(2, 7, 5, 3, dtype=torch.float64)
    before, after = (side.transpose(0, 1).flatten(1) for side in (x, y))
    gram = before @ before.T
    ridge = module.RIDGE * gram.diagonal().mean() * torch.eye(5, dtype=torch.float64)
    torch.testing.assert_close(regress(x, y), after @ before.T @ torch.linalg.inv(gram + ridge))
