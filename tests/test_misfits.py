"""Misfits: which group a pair belongs to, by what each group usually leaves of its pairs."""

import torch
from torch.distributions import MultivariateNormal

from fine.models.misfits import Misfits

ROWS, COLUMNS = 3, 2


def spread(size: int, seed: int) -> torch.Tensor:
    root = torch.randn(size, size, generator=torch.Generator().manual_seed(seed))
    return root @ root.T + 0.5 * torch.eye(size)


def drawn(count: int, *, seed: int, scale: float = 1.0) -> tuple[torch.Tensor, MultivariateNormal]:
    """Matrices of a normal distribution whose rows and columns vary together, and that distribution."""
    mean = torch.randn(ROWS, COLUMNS, generator=torch.Generator().manual_seed(seed))
    whole = scale * torch.kron(spread(ROWS, seed + 1), spread(COLUMNS, seed + 2))
    normal = MultivariateNormal(mean.flatten(), whole)
    torch.manual_seed(seed)
    return normal.sample((count,)).view(count, ROWS, COLUMNS), normal


def test_a_distribution_is_found_from_what_was_drawn_of_it():
    misfits = Misfits(2, rows=ROWS, columns=COLUMNS)
    left, normal = drawn(20_000, seed=0)
    misfits.learn(1, left)
    torch.testing.assert_close(misfits.mean[1].flatten(), normal.mean, atol=0.1, rtol=0.05)
    whole = torch.kron(misfits.row_spread[1], misfits.column_spread[1])
    torch.testing.assert_close(whole, normal.covariance_matrix, atol=0.2, rtol=0.1)
    assert torch.equal(misfits.row_spread[0], torch.eye(ROWS))  # the other group has learnt nothing


def test_likelihood_is_that_of_the_distribution():
    misfits, normals = Misfits(2, rows=ROWS, columns=COLUMNS), []
    for group, seed in enumerate((0, 10)):
        left, normal = drawn(20_000, seed=seed, scale=1 + group)
        misfits.learn(group, left)
        normals.append(normal)
    asked, _ = drawn(50, seed=20)
    found = misfits.likelihood(asked[:, None].expand(-1, 2, -1, -1))
    exact = torch.stack([normal.log_prob(asked.flatten(1)) for normal in normals], dim=1)
    torch.testing.assert_close(found[:, 1] - found[:, 0], exact[:, 1] - exact[:, 0], atol=0.5, rtol=0.1)


def test_a_pair_belongs_to_the_group_that_leaves_such_things_and_not_to_the_one_that_leaves_less():
    misfits = Misfits(2, rows=ROWS, columns=COLUMNS)
    torch.manual_seed(0)
    misfits.learn(0, torch.randn(500, ROWS, COLUMNS) * torch.tensor([1.0, 0.01]))
    misfits.learn(1, torch.randn(500, ROWS, COLUMNS) * torch.tensor([0.01, 1.0]))
    large, small = torch.tensor([[2.0, 0.0]] * ROWS), torch.tensor([[0.5, 0.0]] * ROWS)
    assert misfits.likelihood(torch.stack((large, small))[None]).argmax() == 0
    assert Misfits(2, rows=ROWS, columns=COLUMNS).likelihood(torch.stack((large, small))[None]).argmax() == 1


def test_several_hints_count_as_often_as_there_are():
    misfits = Misfits(2, rows=ROWS, columns=COLUMNS)
    misfits.learn(1, drawn(100, seed=3)[0])
    one, other = torch.randn(4, 2, ROWS, COLUMNS), torch.randn(4, 2, ROWS, COLUMNS)
    both = misfits.likelihood(torch.cat((one, other), dim=-1))
    torch.testing.assert_close(both, misfits.likelihood(one) + misfits.likelihood(other))


def test_what_never_varies_is_no_reason_to_fail():
    misfits = Misfits(1, rows=ROWS, columns=COLUMNS)
    misfits.learn(0, torch.zeros(5, ROWS, COLUMNS))
    assert torch.isfinite(misfits.likelihood(torch.ones(2, 1, ROWS, COLUMNS))).all()


def test_damaged_numbers_are_no_reason_to_fail():
    misfits = Misfits(2, rows=ROWS, columns=COLUMNS)
    misfits.row_spread[0] = -1
    misfits.column_spread[1] = float("nan")
    assert misfits.likelihood(torch.ones(4, 2, ROWS, COLUMNS)).shape == (4, 2)
