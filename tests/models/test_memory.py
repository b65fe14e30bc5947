"""The memory of the default model: queries, coefficients, orbits and keys."""

import pytest
import torch
from torch import Tensor

from fine.errors import FineError
from fine.geometry.d4 import D4
from fine.models.least_squares import combine, residual
from fine.models.memory import FunctionalMemory
from fine.models.orbit import expand, orbit_table
from fine.models.paper import pseudo_inverse


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def random(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64)


def fitted(rows_in: int, rows_out: int, **options: object) -> FunctionalMemory:
    """A memory that is read by least squares."""
    usual = {"analogy": "least-squares", "ridge": 0.1}
    return FunctionalMemory(rows_in, rows_out, **{**usual, **options}).double()


# The query.


@pytest.mark.parametrize("shape", [(128, 1), (16, 8), (16, 16), (8, 16)])
@pytest.mark.parametrize("ridge", [0.0, 0.1])
def test_both_pseudo_inverses_agree(shape, ridge):
    x = random(20, *shape)
    if shape[0] == shape[1]:
        x += 8 * torch.eye(shape[0])  # a random square matrix may be nearly singular
    solved = pseudo_inverse(x, ridge=ridge)
    iterated = pseudo_inverse(x, ridge=ridge, method="iterate", iterations=60)
    torch.testing.assert_close(iterated, solved, rtol=1e-5, atol=1e-7)
    if ridge == 0:
        torch.testing.assert_close(solved, torch.linalg.pinv(x), rtol=1e-5, atol=1e-7)


def test_both_pseudo_inverses_carry_the_same_gradient():
    x = random(3, 6, 2).requires_grad_()
    gradients = []
    for method in ("solve", "iterate"):
        total = pseudo_inverse(x, ridge=0.1, method=method).square().sum()
        gradients.append(torch.autograd.grad(total, x)[0])
    torch.testing.assert_close(*gradients)
    assert torch.autograd.gradcheck(lambda x: pseudo_inverse(x, ridge=0.1), (x,))


def test_the_query_takes_x_to_y():
    memory = FunctionalMemory(16, 12, slots=3).double()
    x, y = random(4, 16, 5), random(4, 12, 5)
    torch.testing.assert_close(memory.query(x, y) @ x, y)


def test_without_slots_the_query_is_the_weight():
    memory = FunctionalMemory(6, 4, slots=0)
    x, y = torch.randn(3, 6, 2), torch.randn(3, 4, 2)
    assert torch.equal(memory(x, y), memory.query(x, y))
    assert not list(memory.parameters())


# Coefficients.


def test_a_memory_read_by_similarity_is_equations_1_and_2():
    memory = FunctionalMemory(6, 4, slots=5, ridge=0.1).double()
    x, y = random(3, 6, 2), random(3, 4, 2)
    for b in range(3):
        query = y[b] @ pseudo_inverse(x, ridge=0.1)[b]
        similarity = [(query * value).sum() / (6 * 4) ** 0.5 for value in memory.values]
        expected = sum(a * key for a, key in zip(similarity, memory.keys, strict=True))
        torch.testing.assert_close(memory(x, y)[b], expected)


def test_a_fit_has_the_coefficients_of_ridge_regression():
    memory = fitted(6, 4, slots=5)
    x, y = random(3, 6, 2), random(3, 4, 2)
    for b in range(3):
        made = torch.stack([(value @ x[b]).flatten() for value in memory.values], dim=1)
        ridge = 0.1 * made.square().sum(0).mean()
        # Ridge regression as plain least squares: one more equation a slot, √λ c = 0.
        equations = torch.cat((made, ridge.sqrt() * torch.eye(5).double()))
        targets = torch.cat((y[b].flatten(), torch.zeros(5).double()))
        coefficients = torch.linalg.lstsq(equations, targets, driver="gelsd").solution
        torch.testing.assert_close(memory.coefficients(x, y)[b], coefficients)
        torch.testing.assert_close(memory(x, y)[b], combine(memory.keys, coefficients[None])[0])


def test_embeddings_of_many_rows_are_fitted_as_those_of_few(monkeypatch):
    memory = fitted(16, 16, slots=3, permutations=D4.pixel_permutations(4))
    x, y = random(5, 16, 2).requires_grad_(), random(5, 16, 2).requires_grad_()
    few = memory.coefficients(x, y)
    monkeypatch.setattr("fine.models.least_squares.MOST_PRODUCTS", 0)
    many = memory.coefficients(x, y)
    torch.testing.assert_close(many, few)
    weights = random(*few.shape)
    inputs = (x, y, memory.values)
    of_many, of_few = (torch.autograd.grad((weights * one).sum(), inputs) for one in (many, few))
    torch.testing.assert_close(of_many, of_few)


def test_a_fit_finds_a_function_in_the_span_of_its_slots():
    memory = fitted(6, 6, slots=8, ridge=1e-9, keys="tied")
    coefficients, x, new = random(3, 8), random(3, 6, 2), random(3, 6, 2)
    hidden = torch.einsum("bs,soi->boi", coefficients, memory.values.detach())
    # Two columns are 12 equations: too few for a map of 36 unknowns, enough for 8 coefficients.
    found = memory(x, hidden @ x)
    torch.testing.assert_close(found @ new, hidden @ new, rtol=1e-5, atol=1e-5)


def test_what_is_reconstructed_and_the_residual_are_y():
    memory = fitted(6, 4, slots=5, permutations=None)
    x, y = random(3, 6, 2), random(3, 4, 2)
    left = residual(memory.all_values(), memory.coefficients(x, y), x, y)
    torch.testing.assert_close(memory.reconstruct(x, y) + left, y)


@pytest.mark.parametrize(
    ("columns", "options"),
    [
        (1, {}),
        (8, {"ridge": 0.1}),
        (8, {"ridge": 0.1, "method": "iterate"}),
        (8, {"ridge": 0.1, "analogy": "least-squares"}),
    ],
)
def test_an_embedding_of_zeros_gives_a_finite_weight_and_gradient(columns, options):
    memory = FunctionalMemory(16, 16, slots=4, **options)
    x = torch.zeros(2, 16, columns, requires_grad=True)
    weight = memory(x, torch.randn(2, 16, columns))
    weight.sum().backward()
    assert torch.isfinite(weight).all() and torch.isfinite(x.grad).all()


# Orbits.


def permutation_matrix(permutation: Tensor) -> Tensor:
    """P with (P x)_r = x_{p(r)}."""
    return torch.eye(len(permutation)).double()[permutation]


@pytest.mark.parametrize("symmetry", ["conjugate", "two-sided"])
def test_an_orbit_has_a_matrix_for_every_way_to_move_x_and_y(symmetry):
    permutations = D4.pixel_permutations(3)
    slots = random(2, 9, 9)
    table = orbit_table(permutations, rows_in=9, rows_out=9, symmetry=symmetry)
    orbits = expand(slots, table).unflatten(0, (2, -1))
    moves = [permutation_matrix(permutation) for permutation in permutations]
    if symmetry == "conjugate":
        pairs = [(move, move) for move in moves]
    else:
        pairs = [(move_y, move_x) for move_y in moves for move_x in moves]
    for slot, orbit in zip(slots, orbits, strict=True):
        expected = torch.stack([move_y @ slot @ move_x.T for move_y, move_x in pairs])
        assert torch.equal(orbit, expected)


@pytest.mark.parametrize("symmetry", ["none", "conjugate"])
def test_without_symmetry_an_orbit_is_the_slot(symmetry):
    permutations = None if symmetry == "conjugate" else D4.pixel_permutations(3)
    slots = random(2, 9, 9)
    table = orbit_table(permutations, rows_in=9, rows_out=9, symmetry=symmetry)
    assert torch.equal(expand(slots, table), slots)


@pytest.mark.parametrize("options", [{}, {"analogy": "least-squares"}])
def test_the_weight_of_a_moved_pair_is_the_moved_weight(options):
    permutations = D4.pixel_permutations(3)
    memory = FunctionalMemory(9, 9, slots=2, ridge=0.1, permutations=permutations, **options)
    memory = memory.double()
    x, y = random(4, 9, 3), random(4, 9, 3)
    weight = memory(x, y)
    for permutation in permutations:
        moved = memory(x[:, permutation], y[:, permutation])
        torch.testing.assert_close(moved, weight[:, permutation][:, :, permutation])


# Keys.


def test_shared_keys_are_the_values_and_tied_keys_start_as_them():
    kinds = ("shared", "tied", "own")
    shared, tied, own = (FunctionalMemory(4, 4, slots=3, keys=keys) for keys in kinds)
    assert set(dict(shared.named_parameters())) == {"values"}
    assert torch.equal(tied.keys, tied.values) and not torch.equal(own.keys, own.values)
    x, y = torch.randn(2, 4, 2), torch.randn(2, 4, 2)
    with torch.no_grad():
        tied.values.copy_(shared.values)
        tied.keys.copy_(shared.values)
    torch.testing.assert_close(shared(x, y), tied(x, y))


def test_an_untrained_memory_whose_tied_slots_span_everything_returns_the_query():
    permutations = torch.tensor([[0, 1, 2, 3], [1, 0, 3, 2]])
    memory = FunctionalMemory(4, 4, slots=16, keys="tied", permutations=permutations).double()
    x, y = random(3, 4, 2), random(3, 4, 2)
    # Slots are made in single precision.
    torch.testing.assert_close(memory(x, y), memory.query(x, y), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"slots": -1}, "a memory cannot have -1 slots: give 0 or more"),
        ({"method": "guess"}, "unknown pseudo-inverse 'guess'"),
        ({"analogy": "guess"}, "unknown analogy 'guess'"),
        ({"keys": "lost"}, "unknown kind of keys 'lost'"),
        ({"symmetry": "both"}, "unknown symmetry of a memory 'both'"),
        ({"analogy": "least-squares"}, "needs a ridge above 0"),
    ],
)
def test_an_option_that_will_not_do_is_refused(options, message):
    with pytest.raises(FineError, match=message):
        FunctionalMemory(4, 4, **{"slots": 2, **options})
