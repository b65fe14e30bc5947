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


def xavier(layer: Layer) -> Layer:
    """The layer, started for no ReLU after it."""
    nn.init.xavier_normal_(layer.weight)
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)
    return layer
