"""Laws of functions on embeddings: applied, inverted, combined, raised to powers, interpolated."""

import pytest
import torch
from torch import Tensor

from fine.errors import FineError
from fine.models.embedding_functions import (
    EmbeddingFunction,
    LayeredFunction,
    MatrixFunction,
    compose_function,
)
from fine.models.fine import FINE, FINEConfig

BACKBONES = ("residual", "linear", "nice", "mlp")
every_backbone = pytest.mark.parametrize("backbone", BACKBONES)


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def random(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64)


def make(backbone: str) -> FINE:
    symmetry = "none" if backbone in ("nice", "mlp") else "conjugate"
    config = FINEConfig(backbone=backbone, symmetry=symmetry)
    return FINE(config, channels=1, size=32).double().eval()


def functions(backbone: str, count: int = 2) -> list[EmbeddingFunction]:
    """Some objects of three functions each."""
    model = make(backbone)
    return [compose_function(model, [random(3, 16, 16)], [random(3, 16, 16)]) for _ in range(count)]


@every_backbone
def test_a_function_is_that_of_the_model(backbone):
    model = make(backbone)
    x, y, new = (random(3, 16, 16) for _ in range(3))
    expected = model.apply_function(model.compose(x, y), new)
    function = compose_function(model, [x], [y])
    torch.testing.assert_close(function(new), expected)
    assert len(function) == 3
    kind = MatrixFunction if backbone in ("linear", "residual") else LayeredFunction
    assert type(function) is kind


@every_backbone
def test_several_hints_are_one_hint_with_more_columns(backbone):
    model = make(backbone)
    hints = [(random(3, 16, 16), random(3, 16, 16)) for _ in range(2)]
    x, y = ([hint[side] for hint in hints] for side in (0, 1))
    new = random(3, 16, 16)
    together = compose_function(model, [torch.cat(x, dim=2)], [torch.cat(y, dim=2)])
    torch.testing.assert_close(compose_function(model, x, y)(new), together(new))


@every_backbone
def test_functions_are_combined_one_after_the_other(backbone):
    f, g, h = functions(backbone, 3)
    new = random(3, 16, 16)
    torch.testing.assert_close(g.after(f)(new), g(f(new)))
    torch.testing.assert_close(h.after(g).after(f)(new), h.after(g.after(f))(new))


@every_backbone
def test_whole_powers_are_repetitions(backbone):
    (f,) = functions(backbone, 1)
    new = random(3, 16, 16)
    torch.testing.assert_close(f.power(0)(new), new)
    torch.testing.assert_close(f.power(1)(new), f(new))
    torch.testing.assert_close(f.power(3)(new), f(f(f(new))))


@every_backbone
def test_some_of_many_functions_are_those_functions(backbone):
    (f,) = functions(backbone, 1)
    new = random(3, 16, 16)
    torch.testing.assert_close(f[1:](new[1:]), f(new)[1:])
    torch.testing.assert_close(f[1:].vector(), f.vector()[1:])
    assert len(f[1:]) == 2


@every_backbone
def test_interpolation_goes_from_one_function_to_the_other(backbone):
    f, g = functions(backbone)
    torch.testing.assert_close(f.interpolate(g, 0).vector(), f.vector())
    torch.testing.assert_close(f.interpolate(g, 1).vector(), g.vector())
    middle = (f.vector() + g.vector()) / 2
    torch.testing.assert_close(f.interpolate(g, 0.5).vector(), middle)


# Matrices.


def test_a_matrix_that_can_be_inverted_is():
    f = MatrixFunction(torch.eye(16).double() + 0.05 * random(3, 16, 16))
    inverse = f.inverse()
    assert inverse.note == "matrix inverse"
    identity = torch.eye(16).double().expand(3, -1, -1)
    torch.testing.assert_close(f.after(inverse).matrices, identity)
    torch.testing.assert_close(f.power(-1).matrices, inverse.matrices)


def test_what_a_function_has_lost_stays_as_it_is():
    # The first row is kept and the second lost. Nothing is known about it, so it is left alone.
    f = MatrixFunction(torch.tensor([[[1.0, 0.0], [0.0, 0.0]]]))
    inverse = f.inverse()
    assert inverse.note == "least squares with a ridge"
    torch.testing.assert_close(inverse.matrices[0], torch.eye(2))


def test_a_regularised_inverse_has_the_least_cost():
    matrix, y = torch.diag(torch.tensor([1.0, 0.01])).double(), random(2, 1)
    x = MatrixFunction(matrix[None]).inverse()(y[None])[0]

    def cost(x: Tensor) -> Tensor:
        return (matrix @ x - y).square().sum() + 0.3 * (x - y).square().sum()

    assert all(cost(x) < cost(x + 0.01 * random(2, 1)) for _ in range(20))


def test_the_note_counts_both_kinds_of_inverse():
    both = MatrixFunction(torch.stack((torch.eye(4), torch.zeros(4, 4))))
    expected = "matrix inverse for 1 of 2, least squares with a ridge for the others"
    assert both.inverse().note == expected


def test_roots_make_the_whole_again():
    angle = torch.tensor(torch.pi / 2)
    quarter = torch.stack((angle.cos(), -angle.sin(), angle.sin(), angle.cos())).view(1, 2, 2)
    third = MatrixFunction(quarter).power(1 / 3)
    assert third.matrices[0, 0, 0] == pytest.approx(3**0.5 / 2, abs=1e-5)  # cos 30°
    torch.testing.assert_close(third.power(3).matrices, quarter, rtol=1e-4, atol=1e-5)


# Networks.


def test_nice_is_inverted_exactly():
    f, g = functions("nice")
    inverse, new = f.inverse(), random(3, 16, 16)
    assert inverse.note == "exact"
    torch.testing.assert_close(inverse(f(new)), new)
    torch.testing.assert_close(f(inverse(new)), new)
    torch.testing.assert_close(f.power(-2)(f(f(new))), new)
    torch.testing.assert_close(g.after(f).inverse()(g(f(new))), new)


def test_an_mlp_cannot_be_inverted_and_says_so():
    (f,) = functions("mlp", 1)
    with pytest.raises(FineError, match="cannot be inverted: use backbone=residual"):
        f.inverse()


@pytest.mark.parametrize("backbone", ["nice", "mlp"])
def test_networks_have_whole_powers_only(backbone):
    (f,) = functions(backbone, 1)
    with pytest.raises(FineError, match=r"power 0\.5 of a function that is no matrix"):
        f.power(0.5)


def test_networks_that_are_not_layered_alike_have_nothing_between_them():
    (f,) = functions("nice", 1)
    for other in (f.inverse(), f.power(2)):
        with pytest.raises(FineError, match="not layered alike"):
            f.interpolate(other, 0.5)
