"""Backbones of the default model: linear and residual ones, and the paper's with more columns."""

import pytest
import torch
from torch import Tensor

from fine.errors import FineError
from fine.models.backbones import LinearBackbone, ResidualBackbone, make_backbone
from fine.models.memory import FunctionalMemory
from fine.models.paper import MLP, NICE


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def random(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64)


def make_memory(rows_in: int, rows_out: int) -> FunctionalMemory:
    options = {"slots": 8, "ridge": 1e-3, "analogy": "least-squares", "keys": "shared"}
    return FunctionalMemory(rows_in, rows_out, **options)


def make(name: str, *, layers: int = 4, rows: int = 6) -> torch.nn.Module:
    return make_backbone(name, rows=rows, layers=layers, make_memory=make_memory).double()


@torch.no_grad()
def test_every_residual_layer_comes_nearer_to_y():
    backbone = make("residual")
    x, y = random(3, 6, 4), random(3, 6, 4)
    state, missing = x, [float((y - x).norm())]
    for t, weight in enumerate(backbone.compose(x, y)):
        state = backbone.layer(t, weight, state)
        missing.append(float((y - state).norm()))
    assert missing == sorted(missing, reverse=True) and missing[-1] < 0.9 * missing[1]


def test_a_residual_backbone_does_nothing_where_nothing_happened():
    backbone = make("residual")
    x, new = random(3, 6, 4), random(3, 6, 4)
    torch.testing.assert_close(backbone.run(backbone.compose(x, x), new), new)


def test_all_residual_layers_read_one_memory():
    backbone = make("residual", layers=3)
    assert len(backbone.memories) == 1
    assert backbone.memory(0) is backbone.memory(1) is backbone.memory(2)


@pytest.mark.parametrize("name", ["linear", "residual"])
def test_the_function_of_a_linear_backbone_is_one_matrix(name):
    backbone = make(name)
    weights = backbone.compose(random(3, 6, 4), random(3, 6, 4))
    x = random(3, 6, 5)
    torch.testing.assert_close(backbone.matrix(weights) @ x, backbone.run(weights, x))


@pytest.mark.parametrize("layers", [1, 4, 5])
@pytest.mark.parametrize("columns", [1, 8])
def test_nice_is_invertible_with_any_number_of_columns(layers, columns):
    backbone = make("nice", layers=layers, rows=16)
    x, y, new = (random(3, 16, columns) for _ in range(3))
    weights = backbone.compose(x, y)
    close = {"rtol": 1e-9, "atol": 1e-9}
    torch.testing.assert_close(backbone.invert(weights, backbone.run(weights, new)), new, **close)
    torch.testing.assert_close(backbone.run(weights, backbone.invert(weights, new)), new, **close)


@pytest.mark.parametrize(
    ("name", "layers", "kind"),
    [
        ("linear", 2, LinearBackbone),
        ("residual", 2, ResidualBackbone),
        ("nice", 2, NICE),
        ("nice", 0, MLP),
        ("mlp", 2, MLP),
    ],
)
def test_backbones_are_made_by_name(name, layers, kind):
    assert type(make(name, layers=layers)) is kind


@pytest.mark.parametrize(
    ("name", "layers", "message"),
    [
        ("nicee", 2, "did you mean 'nice'"),
        ("linear", -1, "a backbone cannot have -1 layers: give 0 or more"),
        ("residual", 0, "a residual backbone cannot have 0 layers: give 1 to 1000"),
        ("residual", 1001, "give 1 to 1000"),
    ],
)
def test_what_cannot_be_built_is_refused(name, layers, message):
    with pytest.raises(FineError, match=message):
        make(name, layers=layers)
