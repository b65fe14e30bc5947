"""Gradients are derivatives: of every part with weights, and of every model as a whole."""

import pytest
import torch
from torch import Tensor, nn

from fine.geometry.d4 import C4, D4
from fine.models import MODELS
from fine.models.backbones import BACKBONES, make_backbone
from fine.models.comparison.hyper_net import HyperBackbone
from fine.models.comparison.sequence import ContextNorm
from fine.models.comparison.transformer import Attention
from fine.models.group_convolution import GroupBatchNorm, GroupBias, GroupConv
from fine.models.memory import ANALOGIES, FunctionalMemory
from fine.models.orbit import SYMMETRIES
from fine.models.paper import QUERIES, WeightedDistance
from support.small_models import SMALL, small_model

BUILT_IN = set(MODELS)  # before any test has registered its own


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def check_gradients(module: nn.Module, *inputs: Tensor) -> None:
    """Gradients of all inputs and weights agree with finite differences, in double precision."""
    module = module.double()
    for parameter in module.parameters():  # away from 0 and 1, which hide mistakes
        parameter.data += 0.1 * torch.randn_like(parameter)
    names = [name for name, _ in module.named_parameters()]
    values = [*inputs, *(parameter.detach() for parameter in module.parameters())]

    def function(*values: Tensor) -> Tensor:
        weights = dict(zip(names, values[len(inputs) :], strict=True))
        return torch.func.functional_call(module, weights, values[: len(inputs)])

    arguments = [value.double().requires_grad_() for value in values]
    assert torch.autograd.gradcheck(function, arguments, fast_mode=len(names) > 4)


READINGS = [*(("similarity", query) for query in QUERIES), ("least-squares", "solve")]


@pytest.mark.parametrize("symmetry", SYMMETRIES)
@pytest.mark.parametrize(("analogy", "method"), READINGS)
@pytest.mark.parametrize("slots", [0, 2])
@pytest.mark.parametrize("columns", [1, 3])
def test_memory(symmetry, analogy, method, slots, columns):
    memory = FunctionalMemory(
        *(4, 4),
        slots=slots,
        ridge=0.1,
        analogy=analogy,
        method=method,
        permutations=C4.pixel_permutations(2),  # four rows are the pixels of a 2 × 2 image
        symmetry=symmetry,
    )
    check_gradients(memory, torch.randn(2, 4, columns), torch.randn(2, 4, columns))


class ComposeAndApply(nn.Module):
    """A backbone from an example pair and a new embedding to the guess."""

    def __init__(self, backbone: nn.Module):
        super().__init__()
        self.backbone = backbone

    def forward(self, x: Tensor, y: Tensor, new: Tensor) -> Tensor:
        return self.backbone.run(self.backbone.compose(x, y), new)


@pytest.mark.parametrize("name", BACKBONES)
@pytest.mark.parametrize("analogy", ANALOGIES)
def test_backbone(name, analogy):
    def memory(rows_in: int, rows_out: int) -> nn.Module:
        return FunctionalMemory(rows_in, rows_out, slots=2, ridge=0.1, analogy=analogy)

    backbone = make_backbone(name, rows=4, layers=3, make_memory=memory)
    check_gradients(ComposeAndApply(backbone), *(torch.randn(2, 4, 2) for _ in range(3)))


def test_backbone_of_a_hyper_net():
    backbone = HyperBackbone(rows=4, columns=2, layers=3, slots=2)
    check_gradients(ComposeAndApply(backbone), *(torch.randn(2, 4, 2) for _ in range(3)))


@pytest.mark.parametrize("group", [C4, D4], ids=["C4", "D4"])
@pytest.mark.parametrize("options", [{"lifting": True}, {}, {"pooling": True}], ids=str)
def test_group_convolution(group, options):
    shape = {"channels_in": 1, "channels_out": 2, "kernel": 4, "stride": 2, "padding": 1}
    convolution = GroupConv(group, **shape, **options)
    orientations = 1 if options.get("lifting") else group.order
    check_gradients(convolution, torch.randn(2, orientations, 4, 4))


@pytest.mark.parametrize("group", [C4, D4], ids=["C4", "D4"])
@pytest.mark.parametrize("layer", [GroupBatchNorm, GroupBias])
@pytest.mark.parametrize("training", [True, False])
def test_layers_after_a_group_convolution(group, layer, training):
    check_gradients(layer(group, 2).train(training), torch.randn(3, 2 * group.order, 2, 2))


def test_distance_normalisation_and_attention():
    check_gradients(WeightedDistance(rows=3, columns=2), torch.randn(4, 3, 2), torch.randn(4, 3, 2))
    check_gradients(ContextNorm(5), torch.randn(2, 7, 5))
    check_gradients(Attention(8, 2), torch.randn(2, 7, 8))


@pytest.mark.parametrize("name", SMALL)
def test_whole_model(name):
    """Along one random direction of all weights together, as a step of training moves them."""
    model = small_model(name).double().eval()
    parameters = list(model.parameters())
    for parameter in parameters:
        parameter.data += 0.05 * torch.randn_like(parameter)
    images = torch.rand(2, 7, 1, 32, 32).double()
    directions = [torch.randn_like(parameter) for parameter in parameters]
    gradients = torch.autograd.grad(model(images).logsumexp(1).sum(), parameters)
    pairs = zip(gradients, directions, strict=True)
    along = sum((gradient * direction).sum() for gradient, direction in pairs)

    @torch.no_grad()
    def moved(step: float) -> Tensor:
        for parameter, direction in zip(parameters, directions, strict=True):
            parameter += step * direction
        result = model(images).logsumexp(1).sum()
        for parameter, direction in zip(parameters, directions, strict=True):
            parameter -= step * direction
        return result

    step = 1e-7
    measured = (moved(step) - moved(-step)) / (2 * step)
    torch.testing.assert_close(along, measured, rtol=1e-4, atol=1e-5)


def test_every_model_is_checked():
    assert set(SMALL) == BUILT_IN
