"""Backbones of the default model: small networks whose weights are composed from one example pair.

    backbone = make_backbone("linear", rows=16, layers=1, make_memory=make_memory)
    weights = backbone.compose(x, y)           # reads the memories, layer by layer
    backbone.run(weights, new)                 # the network with those weights
    backbone.matrix(weights)                   # the same as one matrix, if it is linear

NICE and MLP are the paper's (paper.py). Linear and residual backbones are one matrix.
"""

import torch
from torch import Tensor, nn

from fine.errors import FineError, unknown
from fine.models.paper import MLP, NICE, Backbone, MakeMemory, Weights

BACKBONES = ("linear", "residual", "mlp", "nice")


class MatrixBackbone(Backbone):
    """A backbone of linear layers, whose function is one matrix."""

    def matrix(self, weights: Weights) -> Tensor:  # (b, rows, rows)
        """The function as one matrix."""
        first = weights[0]
        identity = torch.eye(first.shape[-1], dtype=first.dtype, device=first.device)
        return self.run(weights, identity)


class LinearBackbone(MatrixBackbone):
    """A single linear map, looked up for y itself."""

    layers = 1

    def __init__(self, *, rows: int, make_memory: MakeMemory):
        super().__init__()
        self.memories = nn.ModuleList([make_memory(rows, rows)])

    def pseudo_output(self, t: int, x: Tensor, y: Tensor) -> Tensor:
        return y

    def layer(self, t: int, weight: Tensor, x: Tensor) -> Tensor:
        return weight @ x

    def matrix(self, weights: Weights) -> Tensor:
        return weights[0]


class ResidualBackbone(MatrixBackbone):
    """Layers that each make the change still to be made: x ← x + W x, with W looked up for y − x.

    All layers read one memory, so that a rule beyond the span of its slots takes several steps.
    """

    def __init__(self, *, rows: int, layers: int, make_memory: MakeMemory):
        super().__init__()
        if not 1 <= layers <= 1000:
            raise FineError(f"a residual backbone cannot have {layers} layers: give 1 to 1000")
        self.layers = layers
        self.memories = nn.ModuleList([make_memory(rows, rows)])

    def memory(self, t: int) -> nn.Module:
        return self.memories[0]

    def pseudo_output(self, t: int, x: Tensor, y: Tensor) -> Tensor:
        return y - x

    def layer(self, t: int, weight: Tensor, x: Tensor) -> Tensor:
        return x + weight @ x


def make_backbone(name: str, *, rows: int, layers: int, make_memory: MakeMemory) -> Backbone:
    """The backbone of this name; residual and NICE have ``layers``, and NICE with 0 is the MLP."""
    if name not in BACKBONES:
        raise unknown("backbone", name, BACKBONES)
    if layers < 0:
        raise FineError(f"a backbone cannot have {layers} layers: give 0 or more")
    if name == "residual":
        return ResidualBackbone(rows=rows, layers=layers, make_memory=make_memory)
    if name == "linear":
        return LinearBackbone(rows=rows, make_memory=make_memory)
    if name == "mlp" or layers == 0:
        return MLP(rows=rows, make_memory=make_memory)
    return NICE(rows=rows, layers=layers, make_memory=make_memory)
