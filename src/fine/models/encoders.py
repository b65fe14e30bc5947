"""Encoders: a batch of pictures in, a batch of codes out.

A code is a matrix (rows, columns). The function that FINE composes acts on the rows, and on every column alike. One column is
the paper's vector code.
"""

import math
from typing import Protocol, TypedDict

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from fine.errors import FineError, unknown
from fine.models.initialisation import kaiming
from fine.models.string_encoder import StringEncoder
from fine.models.symmetry import P4, P4M, GroupBatchNorm, GroupBias, GroupConv, output_size


class Encoder(Protocol):
    """What every encoder offers."""

    rows: int
    columns: int
    row_moves: Tensor | None
    """int64 (ways, rows): how the turns and mirrors an encoder knows of permute the rows of its codes; None: it knows none."""

    def __call__(self, pictures: Tensor) -> Tensor:
        """(b, channels, size, size) in 0..1 -> codes (b, rows, columns)."""
        ...


class Step(TypedDict):
    """A strided convolution."""

    kernel: int
    stride: int
    padding: int


def halvings(size: int, places: int) -> list[Step]:
    """The strided convolutions that take a picture of this size down to places × places, each halving it."""
    steps: list[Step] = []
    while size > places:
        # An odd size needs an odd kernel for its grid to stay centred.
        steps.append({"kernel": 3 if size % 2 else 4, "stride": 2, "padding": 1})
        size = output_size(size, **steps[-1])
    if size != places:
        raise FineError(f"halving the picture ends at {size}×{size}, not at {places}×{places} places: choose 1, 2, 4 or 8")
    return steps


class P4CNN(nn.Module):
    """Strided p4 convolutions down to a small grid, and nothing fully connected.

    Columns are channels; rows are place × orientation (for each of the channels that share a column, where there are fewer
    columns than channels). A quarter turn of the picture permutes the rows and leaves the columns alone.
    """

    def __init__(self, *, channels: int, size: int, code: int, columns: int, width: int = 8, places: int = 2):
        super().__init__()
        self.columns, self.rows = columns, code // columns
        self.share = P4.order * places * places  # numbers of a code from one channel
        last = code // self.share
        if last * self.share != code or last % columns:
            raise FineError(
                f"a code of {code} in {columns} columns does not fit a p4-CNN that ends on {places}×{places} places with 4 "
                f"orientations: the code must be a multiple of {self.share * columns}"
            )
        steps = halvings(size, places)
        layers: list[nn.Module] = []
        for number, step in enumerate(steps):
            out = width if number < len(steps) - 1 else last
            convolution = GroupConv(P4, channels_in=channels, channels_out=out, lifting=number == 0, **step)
            layers += [convolution, GroupBatchNorm(P4, out), nn.ReLU()]
            channels = out
        self.layers = nn.Sequential(*layers[:-1])  # no ReLU at the end: codes may be negative
        # A map is stored place by place, all orientations of a place together.
        moves = P4.map_moves(places).view(P4.order, P4.order, -1).mT  # (ways, places², orientations)
        moves = (moves % places**2 * P4.order + moves // places**2).flatten(1)
        self.row_moves = _of_all_rows(moves, self.rows)

    def forward(self, pictures: Tensor) -> Tensor:
        return _as_code(self.layers(pictures), self.share, self.columns)


class P4MCNN(nn.Module):
    """Strided p4m convolutions down to a grid of places, where the orientations are pooled, and nothing fully connected.

    Columns are channels, rows are places (4×4 of them, for each of the channels that share a column, where the rows are no
    square). What a channel sees is the same whichever way the picture is turned or mirrored; only where it sees it changes. So
    a rule that moves things about does the same to every column, as the composed function does.
    """

    def __init__(self, *, channels: int, size: int, code: int, columns: int, width: int = 8):
        super().__init__()
        self.columns, self.rows = columns, code // columns
        places = math.isqrt(self.rows)
        if columns == 1 or places * places != self.rows:
            places = 4
        self.share = places * places  # numbers of a code from one channel
        if self.rows % self.share:
            raise FineError(
                f"a code of {code} in {columns} columns does not fit a p4m-CNN: its {self.rows} rows should be a square of "
                f"places, such as 64 for 8×8, or a multiple of 16 for 4×4"
            )
        layers: list[nn.Module] = []
        for number, step in enumerate(halvings(size, places)):
            # The first layer has the largest maps and the simplest things to see: half the channels do, and a bias instead of
            # the normalisation, which would take as long as the convolution.
            out = width if number else width // 2
            convolution = GroupConv(P4M, channels_in=channels, channels_out=out, lifting=number == 0, **step)
            layers += [convolution, GroupBatchNorm(P4M, out) if number else GroupBias(P4M, out), nn.ReLU()]
            channels = out
        if not layers:
            raise FineError(f"a p4m-CNN needs fewer than {size}×{size} places: choose 4×4 or 8×8, 16 or 64 rows")
        out = code // self.share
        last = GroupConv(P4M, channels_in=channels, channels_out=out, kernel=3, stride=1, padding=1, pooling=True)
        self.layers = nn.Sequential(*layers, last, nn.BatchNorm2d(out))  # no ReLU at the end: codes may be negative
        self.row_moves = _of_all_rows(P4M.pixel_moves(places), self.rows)

    def forward(self, pictures: Tensor) -> Tensor:
        return _as_code(self.layers(pictures), self.share, self.columns)


def _as_code(maps: Tensor, share: int, columns: int) -> Tensor:  # (b, …, h, w) -> (b, rows, columns)
    """Feature maps as codes, where each channel has ``share`` numbers: the channels of a column, one below the other."""
    by_channel = maps.permute(0, 2, 3, 1).reshape(len(maps), share, -1, columns)  # (b, share, channels of a column, columns)
    return by_channel.transpose(1, 2).reshape(len(maps), -1, columns)


def _of_all_rows(moves: Tensor, rows: int) -> Tensor:  # (ways, share) -> (ways, rows)
    """How the rows of a code move, where the numbers of each of the channels of a column move like this."""
    return (torch.arange(0, rows, moves.shape[1])[:, None] + moves[:, None]).flatten(1)


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

    row_moves = None

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

    row_moves = None

    def __init__(self, *, channels: int, size: int, code: int, columns: int, hidden: int = 256):
        super().__init__()
        self.columns, self.rows = columns, code // columns
        self.layers = nn.Sequential(nn.Flatten(), nn.Linear(channels * size * size, hidden), nn.ReLU(), nn.Linear(hidden, code))

    def forward(self, pictures: Tensor) -> Tensor:
        return self.layers(pictures).view(-1, self.columns, self.rows).transpose(1, 2)


class ConvNet(nn.Module):
    """Three strided convolutions and two fully connected layers, a ReLU after each: the encoder of Webb et al. (2021)."""

    row_moves = None

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


AnyEncoder = P4CNN | P4MCNN | ResNet | MLP | ConvNet | StringEncoder

ENCODERS: dict[str, type[AnyEncoder]] = {
    "p4-cnn": P4CNN,
    "p4m-cnn": P4MCNN,
    "resnet": ResNet,
    "mlp": MLP,
    "conv": ConvNet,
    "strings": StringEncoder,
}


def make_encoder(name: str, *, channels: int, size: int, code: int, columns: int) -> AnyEncoder:
    """The encoder called ``name`` for pictures of this shape, with codes of ``code`` numbers in ``columns`` columns."""
    if name not in ENCODERS:
        raise unknown("encoder", name, ENCODERS)
    if columns < 1 or code < 1 or code % columns:
        raise FineError(f"a code of {code} numbers cannot have {columns} columns: columns must divide it")
    return ENCODERS[name](channels=channels, size=size, code=code, columns=columns)
