"""Starting weights of the comparison models, as in Webb et al. (2021): normal, and every bias 0."""

from typing import TypeVar

from torch import nn

Layer = TypeVar("Layer", nn.Linear, nn.Conv2d)


def kaiming(layer: Layer) -> Layer:
    """The layer, started for a ReLU after it."""
    nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)
    return layer


def xavier(layer: Layer, *, blocks: int = 1) -> Layer:
    """The layer, started for no ReLU after it, and each block of its outputs as a layer."""
    for block in layer.weight.chunk(blocks):
        nn.init.xavier_normal_(block)
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)
    return layer
