"""Encoders: a batch of pictures in, a batch of codes out.

A code is a matrix (rows, columns). The function that FINE composes acts on the rows, and on every column alike. One column is
the paper's vector code.
"""

from typing import Protocol

import torch.nn.functional as F
from torch import Tensor, nn

from fine.errors import FineError, unknown
from fine.models.initialisation import kaiming
from fine.models.p4 import P4BatchNorm, P4Conv, output_size


class Encoder(Protocol):
    """What every encoder offers."""

    rows: int
    columns: int

    def __call__(self, pictures: Tensor) -> Tensor:
        """(b, channels, size, size) in 0..1 -> codes (b, rows, columns)."""
        ...


class P4CNN(nn.Module):
    """Strided p4 convolutions down to a small grid, and nothing fully connected.

    Columns are channels; rows are orientation × place (and the channels that share a column, where there are fewer columns
    than channels). A quarter turn of the picture permutes the rows and leaves the columns alone.
    """

    def __init__(self, *, channels: int, size: int, code: int, columns: int, width: int = 8, places: int = 2):
        super().__init__()
        self.columns, self.rows = columns, code // columns
        last = code // (4 * places * places)
        if last * 4 * places * places != code or last % columns:
            raise FineError(
                f"a code of {code} in {columns} columns does not fit a p4-CNN that ends on {places}×{places} places with 4 "
                f"orientations: the code must be a multiple of {4 * places * places * columns}"
            )
        layers: list[nn.Module] = []
        while size > places:
            # An odd size needs an odd kernel for its grid to stay centred.
            step = {"kernel": 3 if size % 2 else 4, "stride": 2, "padding": 1}
            size = output_size(size, **step)
            out = width if size > places else last
            layers += [P4Conv(channels_in=channels, channels_out=out, lifting=not layers, **step), P4BatchNorm(out), nn.ReLU()]
            channels = out
        if size != places:
            raise FineError(f"halving the picture ends at {size}×{size}, not at {places}×{places} places: choose 1, 2, 4 or 8")
        self.layers = nn.Sequential(*layers[:-1])  # no ReLU at the end: codes may be negative

    def forward(self, pictures: Tensor) -> Tensor:
        return self.layers(pictures).reshape(-1, self.columns, self.rows).transpose(1, 2)


class ResidualBlock(nn.Module):
    """Two 3×3 convolutions beside a 1×1 shortcut, halving the picture."""

    def __init__(self, channels_in: int, channels_out: int):
        super().__init__()
        self.shortcut = nn.Conv2d(channels_in, channels_out, 1, stride=2, bias=False)
        self.first = nn.Conv2d(channels_in, channels_out, 3, stride=2, padding=1, bias=False)
        self.first_norm = nn.BatchNorm2d(channels_out)
        self.second = nn.Conv2d(channels_out, channels_out, 3, padding=1, bias=False)
        self.second_norm = nn.BatchNorm2d(channels_out)

    def forward(self, maps: Tensor) -> Tensor:
        inner = F.relu(self.first_norm(self.first(maps)))
        return F.relu(self.second_norm(self.second(inner)) + self.shortcut(maps))


class ResNet(nn.Module):
    """Three residual blocks and a linear layer."""

    def __init__(self, *, channels: int, size: int, code: int, columns: int):
        super().__init__()
        self.columns, self.rows = columns, code // columns
        self.blocks = nn.Sequential(ResidualBlock(channels, 16), ResidualBlock(16, 32), ResidualBlock(32, 32))
        for _ in range(3):
            size = (size - 1) // 2 + 1
        self.head = nn.Linear(32 * size * size, code)

    def forward(self, pictures: Tensor) -> Tensor:
        return self.head(self.blocks(pictures).flatten(1)).view(-1, self.columns, self.rows).transpose(1, 2)


class MLP(nn.Module):
    """Two fully connected layers."""

    def __init__(self, *, channels: int, size: int, code: int, columns: int, hidden: int = 256):
        super().__init__()
        self.columns, self.rows = columns, code // columns
        self.layers = nn.Sequential(nn.Flatten(), nn.Linear(channels * size * size, hidden), nn.ReLU(), nn.Linear(hidden, code))

    def forward(self, pictures: Tensor) -> Tensor:
        return self.layers(pictures).view(-1, self.columns, self.rows).transpose(1, 2)


class ConvNet(nn.Module):
    """Three strided convolutions and two fully connected layers, a ReLU after each: the encoder of Webb et al. (2021)."""

    def __init__(self, *, channels: int, size: int, code: int, columns: int, width: int = 32, hidden: int = 256):
        super().__init__()
        self.columns, self.rows = columns, code // columns
        layers: list[nn.Module] = []
        for inputs in (channels, width, width):
            layers += [kaiming(nn.Conv2d(inputs, width, 4, stride=2, padding=1)), nn.ReLU()]
            size //= 2
        layers += [nn.Flatten(), kaiming(nn.Linear(width * size * size, hidden)), nn.ReLU()]
        layers += [kaiming(nn.Linear(hidden, code)), nn.ReLU()]
        self.layers = nn.Sequential(*layers)

    def forward(self, pictures: Tensor) -> Tensor:
        return self.layers(pictures).view(-1, self.columns, self.rows).transpose(1, 2)


AnyEncoder = P4CNN | ResNet | MLP | ConvNet

ENCODERS: dict[str, type[AnyEncoder]] = {"p4-cnn": P4CNN, "resnet": ResNet, "mlp": MLP, "conv": ConvNet}


def make_encoder(name: str, *, channels: int, size: int, code: int, columns: int) -> AnyEncoder:
    """The encoder called ``name`` for pictures of this shape, with codes of ``code`` numbers in ``columns`` columns."""
    if name not in ENCODERS:
        raise unknown("encoder", name, ENCODERS)
    if columns < 1 or code < 1 or code % columns:
        raise FineError(f"a code of {code} numbers cannot have {columns} columns: columns must divide it")
    return ENCODERS[name](channels=channels, size=size, code=code, columns=columns)
