"""Networks with weights of their own for every sample, against one network at a time."""

import pytest
import torch
from torch import Tensor, nn
from torch.func import functional_call

import fine
from fine.errors import FineError


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


class TwoInputs(nn.Module):
    """Takes two tensors, gives two, and uses one weight twice."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 4)
        self.norm = nn.LayerNorm(4)

    def forward(self, one: Tensor, two: Tensor) -> tuple[Tensor, Tensor]:
        return self.norm(self.inner(one)), self.inner(two).relu()


NETWORKS = {
    "conv": (
        lambda: nn.Sequential(
            nn.Conv2d(1, 3, 3), nn.GroupNorm(3, 3), nn.ReLU(), nn.Conv2d(3, 2, 3)
        ),
        lambda: torch.randn(5, 1, 8, 8).double(),
    ),
    "two inputs": (
        TwoInputs,
        lambda: (torch.randn(5, 4).double(), torch.randn(5, 6, 4).double()),
    ),
    "attention": (
        lambda: nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, dropout=0.0),
        lambda: torch.randn(5, 3, 8).double(),
    ),
}


def slow(composed: nn.Module, weights: dict[str, Tensor], inputs: object) -> list:
    """One network after the other."""
    outputs = []
    for n in range(5):
        own = {name: weight[n] for name, weight in weights.items()}
        parts = inputs if isinstance(inputs, tuple) else (inputs,)
        outputs.append(functional_call(composed.network, own, tuple(p[n : n + 1] for p in parts)))
    return outputs


@pytest.mark.parametrize("name", NETWORKS)
def test_one_pass_gives_what_one_network_at_a_time_gives(name):
    make, draw = NETWORKS[name]
    network, inputs = make().double(), draw()
    memory = fine.WeightMemory(network, rows=6, slots=4).double()
    composed = fine.compose_weights(network, memory)
    x, y = torch.randn(2, 5, 6, 9).double()
    fast = composed(inputs, x, y)
    expected = slow(composed, composed.compose(x, y), inputs)
    if isinstance(fast, tuple):
        for n, part in enumerate(fast):
            torch.testing.assert_close(part, torch.cat([out[n] for out in expected]))
        fast, expected = fast[1], [out[1] for out in expected]
    torch.testing.assert_close(fast, torch.cat(expected))
    wanted = list(composed.parameters())
    assert {*network.parameters()} <= {*wanted}
    gradients = [
        torch.autograd.grad(out.square().sum(), wanted, retain_graph=True, allow_unused=True)
        for out in (fast, torch.cat(expected))
    ]
    torch.testing.assert_close(*gradients)


def test_weights_are_the_networks_own_and_a_combination_of_changes():
    network = nn.Linear(3, 2)
    memory = fine.WeightMemory(network, rows=4, slots=3)
    x, y = torch.randn(2, 5, 4, 7)
    weights = memory(network, x, y)
    for n, a in enumerate(memory.coefficients(x, y)):
        for name, changes in zip(memory.names, memory.changes, strict=True):
            change = sum(share * slot for share, slot in zip(a, changes, strict=True))
            torch.testing.assert_close(weights[name][n], getattr(network, name) + change)


def test_coefficients_are_those_of_the_slot_that_made_the_pair():
    memory = fine.WeightMemory(nn.Linear(3, 2), rows=4, slots=3, ridge=1e-6)
    x = torch.randn(1, 4, 50)
    for slot in range(3):
        y = memory.pairs.values[slot] @ x
        found = memory.coefficients(x, y)
        torch.testing.assert_close(found, torch.eye(3)[slot : slot + 1], atol=1e-2, rtol=0)


def test_only_some_weights_can_be_composed():
    network = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 2))
    memory = fine.WeightMemory(network, rows=4, slots=3, only=["1.weight"])
    weights = memory(network, *torch.randn(2, 5, 4, 7))
    assert {name: weight.shape for name, weight in weights.items()} == {"1.weight": (5, 2, 3)}
    composed = fine.compose_weights(network, memory)
    assert composed(torch.rand(5, 3), *torch.randn(2, 5, 4, 7)).shape == (5, 2)


def test_any_module_may_be_the_memory():
    class OneScale(nn.Module):
        def forward(self, network: nn.Module, scale: Tensor) -> dict[str, Tensor]:
            return {"weight": scale[:, None, None] * network.weight}

    network = nn.Linear(3, 2, bias=False)
    inputs, scale = torch.rand(4, 3), torch.arange(4.0)
    outputs = fine.compose_weights(network, OneScale())(inputs, scale)
    torch.testing.assert_close(outputs, scale[:, None] * network(inputs))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: fine.compose_weights(nn.ReLU(), nn.Identity()), "a ReLU has no weights"),
        (
            lambda: fine.compose_weights(nn.Sequential(nn.BatchNorm1d(3)), nn.Identity()),
            "'0' normalises over a batch",
        ),
        (lambda: fine.WeightMemory(nn.Linear(1, 1), rows=0, slots=3), "0 rows and 3 slots"),
        (
            lambda: fine.WeightMemory(nn.Linear(1, 1), rows=1, slots=1, only=["wieght"]),
            "unknown parameter of the network 'wieght': did you mean 'weight'",
        ),
    ],
)
def test_what_cannot_be_composed_is_refused_in_one_line(make, message):
    with pytest.raises(FineError, match=message) as refusal:
        make()
    assert "\n" not in str(refusal.value)


def test_weights_that_do_not_fit_are_refused():
    class Wrong(nn.Module):
        def forward(self, network: nn.Module, name: str, weight: Tensor) -> dict[str, Tensor]:
            return {name: weight}

    composed = fine.compose_weights(nn.Linear(3, 2), Wrong())
    with pytest.raises(FineError, match=r"the shape \(2, 3\): expected \(b, 2, 3\)"):
        composed(torch.rand(2, 3), "weight", torch.rand(2, 3))
    with pytest.raises(FineError, match="unknown parameter"):
        composed(torch.rand(2, 3), "weigth", torch.rand(2, 2, 3))
