"""Linear systems: solved alike by any number of threads, and never with an error."""

import pytest
import torch

from fine.models.linear_systems import cholesky, solve


@pytest.mark.parametrize("rows", [16, 160])
def test_two_threads_solve_as_one_does(rows, set_threads):
    """With 151 rows and more, torch's own threads lose pivots, and `torch.linalg.solve` fails."""
    random = torch.Generator().manual_seed(0)
    roots = torch.randn(4, rows, rows, generator=random)
    systems = (roots @ roots.mT / rows + torch.eye(rows)).requires_grad_()
    right = torch.randn(4, rows, generator=random)
    results = []
    for threads in (1, 2):
        set_threads(threads)
        solved = solve(systems, right)
        (gradient,) = torch.autograd.grad(solved.square().sum(), systems)
        results.append((solved, gradient))
        assert torch.get_num_threads() == threads
    torch.testing.assert_close((systems @ solved[..., None])[..., 0], right)
    assert torch.equal(results[0][0], results[1][0])
    torch.testing.assert_close(results[0][1], results[1][1])


def test_the_unknown_may_be_on_the_left():
    systems, wanted = torch.randn(3, 4, 4), torch.randn(3, 2, 4)
    torch.testing.assert_close(solve(systems, wanted @ systems, left=False), wanted)


@pytest.mark.parametrize("entry", [0.0, torch.nan, torch.inf])
def test_a_system_without_a_solution_has_one_that_is_not_finite(entry):
    systems = torch.stack((torch.eye(3), torch.full((3, 3), entry)))
    solved = solve(systems, torch.ones(2, 3))
    assert torch.equal(solved[0], torch.ones(3)) and not solved[1].isfinite().any()


def test_a_matrix_that_is_not_positive_definite_has_no_factor():
    matrices = torch.stack((4 * torch.eye(3), torch.diag(torch.tensor([1.0, -1.0, 1.0]))))
    factors = cholesky(matrices)
    assert torch.equal(factors[0], 2 * torch.eye(3)) and factors[1].isnan().all()
