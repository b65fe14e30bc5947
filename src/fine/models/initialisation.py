"""Starting weights: orthonormal slots of memories; layers as Webb et al. (2021) started them.

with filled_later():
    model = make_model("fine", channels=1, size=32)     # whose weights then come from a file
"""

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from typing import TypeVar

import torch
from torch import Tensor, nn

Layer = TypeVar("Layer", nn.Linear, nn.Conv2d)
_FILLED_LATER = ContextVar("filled_later", default=False)


@contextlib.contextmanager
def filled_later() -> Iterator[None]:
    """Leave out what takes long to compute: the weights of the model will come from a file."""
    before = _FILLED_LATER.set(True)
    try:
        yield
    finally:
        _FILLED_LATER.reset(before)


def orthonormal(slots: int, rows_out: int, rows_in: int) -> Tensor:
    """Random matrices of norm 1, orthogonal to each other if there are at most o × i."""
    flat = torch.empty(slots, rows_out * rows_in)
    if _FILLED_LATER.get():
        flat.normal_()  # as many random numbers as below, so that all that follow are the same
    else:
        nn.init.orthogonal_(flat)
    return flat.view(slots, rows_out, rows_in)


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
