"""The distribution of residuals: learned from samples, and who it tells apart."""

import torch
from torch import Tensor
from torch.distributions import MultivariateNormal

from fine.models.residual_distribution import ResidualDistribution

ROWS, COLUMNS = 3, 2


def make(groups: int) -> ResidualDistribution:
    return ResidualDistribution(groups, rows=ROWS, columns=COLUMNS)


def random_covariance(size: int, seed: int) -> Tensor:
    root = torch.randn(size, size, generator=torch.Generator().manual_seed(seed))
    return root @ root.T + 0.5 * torch.eye(size)


def drawn(count: int, *, seed: int, scale: float = 1.0) -> tuple[Tensor, MultivariateNormal]:
    """Matrices whose rows and columns vary together, and the distribution they are drawn from."""
    mean = torch.randn(ROWS, COLUMNS, generator=torch.Generator().manual_seed(seed))
    rows, columns = random_covariance(ROWS, seed + 1), random_covariance(COLUMNS, seed + 2)
    normal = MultivariateNormal(mean.flatten(), scale * torch.kron(rows, columns))
    torch.manual_seed(seed)
    return normal.sample((count,)).view(count, ROWS, COLUMNS), normal


def test_a_distribution_is_found_from_what_was_drawn_of_it():
    distribution = make(2)
    residuals, normal = drawn(20_000, seed=0)
    distribution.learn(1, residuals)
    mean = distribution.mean[1].flatten()
    torch.testing.assert_close(mean, normal.mean, atol=0.1, rtol=0.05)
    rows, columns = distribution.row_covariance[1], distribution.column_covariance[1]
    covariance = torch.kron(rows, columns)
    torch.testing.assert_close(covariance, normal.covariance_matrix, atol=0.2, rtol=0.1)
    assert torch.equal(distribution.row_covariance[0], torch.eye(ROWS))  # has learned nothing


def test_the_likelihood_is_that_of_the_distribution():
    distribution, normals = make(2), []
    for group, seed in enumerate((0, 10)):
        residuals, normal = drawn(20_000, seed=seed, scale=1 + group)
        distribution.learn(group, residuals)
        normals.append(normal)
    asked, _ = drawn(50, seed=20)
    found = distribution.log_likelihood(asked[:, None].expand(-1, 2, -1, -1))
    exact = torch.stack([normal.log_prob(asked.flatten(1)) for normal in normals], dim=1)
    # Likelihoods are known up to a constant, so only their difference can be compared.
    difference, expected = found[:, 1] - found[:, 0], exact[:, 1] - exact[:, 0]
    torch.testing.assert_close(difference, expected, atol=0.5, rtol=0.1)


def test_a_pair_belongs_to_the_group_that_leaves_such_residuals_and_not_the_smallest():
    distribution = make(2)
    torch.manual_seed(0)
    distribution.learn(0, torch.randn(500, ROWS, COLUMNS) * torch.tensor([1.0, 0.01]))
    distribution.learn(1, torch.randn(500, ROWS, COLUMNS) * torch.tensor([0.01, 1.0]))
    large, small = torch.tensor([[2.0, 0.0]] * ROWS), torch.tensor([[0.5, 0.0]] * ROWS)
    residuals = torch.stack((large, small))[None]
    assert distribution.log_likelihood(residuals).argmax() == 0
    assert make(2).log_likelihood(residuals).argmax() == 1  # before anything is learned


def test_several_hints_count_as_often_as_there_are():
    distribution = make(2)
    distribution.learn(1, drawn(100, seed=3)[0])
    one, other = torch.randn(4, 2, ROWS, COLUMNS), torch.randn(4, 2, ROWS, COLUMNS)
    both = distribution.log_likelihood(torch.cat((one, other), dim=-1))
    apart = distribution.log_likelihood(one) + distribution.log_likelihood(other)
    torch.testing.assert_close(both, apart)


def test_residuals_that_never_vary_give_finite_likelihoods():
    distribution = make(1)
    distribution.learn(0, torch.zeros(5, ROWS, COLUMNS))
    assert torch.isfinite(distribution.log_likelihood(torch.ones(2, 1, ROWS, COLUMNS))).all()


def test_damaged_numbers_do_not_stop_the_model():
    distribution = make(2)
    distribution.row_covariance[0] = -1
    distribution.column_covariance[1] = float("nan")
    assert distribution.log_likelihood(torch.ones(4, 2, ROWS, COLUMNS)).shape == (4, 2)
