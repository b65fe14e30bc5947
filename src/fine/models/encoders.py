"""Encoders: a batch of images in, a batch of embeddings out.

    encoder = make_encoder("p4m-cnn", channels=1, size=32, embedding_size=256, columns=16)
    embeddings = encoder(images)       # (b, 1, 32, 32) -> (b, rows, columns), here (b, 16, 16)

The function that FINE composes acts on the rows of an embedding, and treats all columns alike. One
column is the paper's vector. An encoder has ``rows``, ``columns`` and ``row_permutations``, int64
(group elements, rows): how rotations and mirrors of an image permute the rows of its embedding.
It is None where the encoder is not equivariant.
"""

import math
from functools import partial
from itertools import pairwise
from typing import TypedDict

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from fine.errors import FineError, unknown
from fine.geometry.d4 import C4, D4
from fine.models.group_convolution import GroupBatchNorm, GroupBias, GroupConv, output_size
from fine.models.initialisation import kaiming
from fine.models.string_encoder import StringEncoder

LARGEST_EMBEDDING = 2**14
"""Size of the embedding of an image; those of the experiments have up to 1,024."""


class Strided(TypedDict):
    """The shape of a strided convolution."""

    kernel: int
    stride: int
    padding: int


def halvings(size: int, places: int) -> list[Strided]:
    """Strided convolutions that each halve an image, from this size down to places × places."""
    convolutions: list[Strided] = []
    sizes = [size]
    while sizes[-1] > 1:
        # An odd size needs an odd kernel for its grid to stay centred.
        kernel = 3 if sizes[-1] % 2 else 4
        convolutions.append({"kernel": kernel, "stride": 2, "padding": 1})
        sizes.append(output_size(sizes[-1], **convolutions[-1]))
    if places not in sizes[1:]:
        reached = ", ".join(f"{side}×{side}" for side in sizes[1:])
        raise FineError(
            f"an encoder that halves images of {size}×{size} cannot end on {places}×{places} "
            f"places: choose one of {reached}"
        )
    return convolutions[: sizes.index(places)]


class P4CNN(nn.Module):
    """Strided p4 convolutions down to 2×2 places, and nothing fully connected.

    Columns are channels, rows are places × orientations; where there are fewer columns than
    channels, the channels of a column follow one another. A quarter turn of the image permutes the
    rows and leaves the columns alone.
    """

    WIDTH = 8  # channels of the hidden layers
    PLACES = 2

    def __init__(self, *, channels: int, size: int, embedding_size: int, columns: int):
        super().__init__()
        self.columns, self.rows = columns, embedding_size // columns
        self.per_channel = C4.order * self.PLACES**2  # numbers of an embedding from one channel
        last = embedding_size // self.per_channel
        if last * self.per_channel != embedding_size or last % columns:
            raise FineError(
                f"an embedding of {embedding_size} in {columns} columns does not fit a p4-CNN that "
                f"ends on {self.PLACES}×{self.PLACES} places with 4 orientations: embedding_size "
                f"must be a multiple of {self.per_channel * columns}"
            )
        strided = halvings(size, self.PLACES)
        widths = [self.WIDTH] * (len(strided) - 1) + [last]
        layers: list[nn.Module] = []
        for number, (shape, width) in enumerate(zip(strided, widths, strict=True)):
            lifting = number == 0
            layers += [
                GroupConv(C4, channels_in=channels, channels_out=width, lifting=lifting, **shape),
                GroupBatchNorm(C4, width),
                nn.ReLU(),
            ]
            channels = width
        self.layers = nn.Sequential(*layers[:-1])  # no ReLU at the end: embeddings may be negative
        self.row_permutations = _of_all_rows(_place_by_place(self.PLACES), self.rows)

    def forward(self, images: Tensor) -> Tensor:  # (b, channels, size, size) -> (b, rows, columns)
        return _as_embedding(self.layers(images), self.per_channel, self.columns)


class P4MCNN(nn.Module):
    """Strided p4m convolutions down to a grid of places, where the orientations are pooled.

    Columns are channels, rows are places: 4×4 of them, or as many as make the rows a square. What a
    channel sees is the same however the image is rotated or mirrored; only where it sees it
    changes. So a rule that moves things does the same to every column, as a composed function does.
    A fine grid is reached in few halvings: ``depth`` adds convolutions on it.
    """

    WIDTH = 8  # channels of the hidden layers

    def __init__(
        self, *, channels: int, size: int, embedding_size: int, columns: int, depth: int = 0
    ):
        super().__init__()
        self.columns, self.rows = columns, embedding_size // columns
        places = math.isqrt(self.rows)
        if columns == 1 or places * places != self.rows:
            places = 4  # and several channels share a column
        self.per_channel = places * places  # numbers of an embedding from one channel
        if self.rows % self.per_channel:
            raise FineError(
                f"an embedding of {embedding_size} in {columns} columns does not fit a p4m-CNN: "
                f"its {self.rows} rows should be a square of places, such as 64 for 8×8, or a "
                "multiple of 16 for 4×4"
            )
        layers: list[nn.Module] = []
        on_the_grid = Strided(kernel=3, stride=1, padding=1)
        for number, shape in enumerate([*halvings(size, places), *[on_the_grid] * depth]):
            # The first layer has the largest maps and the simplest things to see: half the channels
            # will do, and a bias will; a normalisation would cost as much as the convolution.
            first = number == 0
            width = self.WIDTH // 2 if first else self.WIDTH
            layers += [
                GroupConv(D4, channels_in=channels, channels_out=width, lifting=first, **shape),
                GroupBias(D4, width) if first else GroupBatchNorm(D4, width),
                nn.ReLU(),
            ]
            channels = width
        last = embedding_size // self.per_channel
        pooled = GroupConv(D4, channels_in=channels, channels_out=last, pooling=True, **on_the_grid)
        # No ReLU at the end: embeddings may be negative.
        self.layers = nn.Sequential(*layers, pooled, nn.BatchNorm2d(last))
        self.row_permutations = _of_all_rows(D4.pixel_permutations(places), self.rows)

    def forward(self, images: Tensor) -> Tensor:  # (b, channels, size, size) -> (b, rows, columns)
        return _as_embedding(self.layers(images), self.per_channel, self.columns)


def _as_embedding(maps: Tensor, per_channel: int, columns: int) -> Tensor:
    """Feature maps (b, …, h, w) -> embeddings (b, rows, columns), channel below channel."""
    by_place = maps.permute(0, 2, 3, 1)  # (b, h, w, orientations × channels)
    by_channel = by_place.reshape(len(maps), per_channel, -1, columns)  # channels of a column third
    return by_channel.transpose(1, 2).reshape(len(maps), -1, columns)


def _place_by_place(places: int) -> Tensor:  # (elements, places² × orientations)
    """How C4 permutes a feature map that is stored place by place, orientations fastest."""
    by_orientation = C4.feature_permutations(places).view(C4.order, C4.order, -1)
    by_place = by_orientation.mT  # (elements, places², orientations): where each number comes from
    orientation, place = by_place // places**2, by_place % places**2
    return (place * C4.order + orientation).flatten(1)


def _of_all_rows(permutations: Tensor, rows: int) -> Tensor:  # (g, n) -> (g, rows)
    """How all rows of an embedding are permuted, if the n rows of each channel are like this."""
    starts = torch.arange(0, rows, permutations.shape[1])
    return (starts[:, None] + permutations[:, None]).flatten(1)


class ResidualBlock(nn.Module):
    """Two 3×3 convolutions beside a 1×1 shortcut, halving the image."""

    def __init__(self, channels_in: int, channels_out: int):
        super().__init__()
        self.shortcut = nn.Conv2d(channels_in, channels_out, 1, stride=2, bias=False)
        self.first = nn.Conv2d(channels_in, channels_out, 3, stride=2, padding=1, bias=False)
        self.first_norm = nn.BatchNorm2d(channels_out)
        self.second = nn.Conv2d(channels_out, channels_out, 3, padding=1, bias=False)
        self.second_norm = nn.BatchNorm2d(channels_out)

    def forward(self, maps: Tensor) -> Tensor:  # (b, i, h, w) -> (b, o, h / 2, w / 2)
        inner = F.relu(self.first_norm(self.first(maps)))
        return F.relu(self.second_norm(self.second(inner)) + self.shortcut(maps))


class ResNet(nn.Module):
    """Three residual blocks and a linear layer."""

    row_permutations = None

    def __init__(self, *, channels: int, size: int, embedding_size: int, columns: int):
        super().__init__()
        self.columns, self.rows = columns, embedding_size // columns
        widths = (channels, 16, 32, 32)
        self.blocks = nn.Sequential(*(ResidualBlock(*pair) for pair in pairwise(widths)))
        for _ in self.blocks:
            size = -(-size // 2)
        self.head = nn.Linear(32 * size * size, embedding_size)

    def forward(self, images: Tensor) -> Tensor:  # (b, channels, size, size) -> (b, rows, columns)
        return _in_columns(self.head(self.blocks(images).flatten(1)), self.columns)


class MLP(nn.Module):
    """Two fully connected layers."""

    HIDDEN = 256

    row_permutations = None

    def __init__(self, *, channels: int, size: int, embedding_size: int, columns: int):
        super().__init__()
        self.columns, self.rows = columns, embedding_size // columns
        self.layers = nn.Sequential(
            nn.Flatten(),
            nn.Linear(channels * size * size, self.HIDDEN),
            nn.ReLU(),
            nn.Linear(self.HIDDEN, embedding_size),
        )

    def forward(self, images: Tensor) -> Tensor:  # (b, channels, size, size) -> (b, rows, columns)
        return _in_columns(self.layers(images), self.columns)


class ConvNet(nn.Module):
    """The encoder of Webb et al. (2021): three strided convolutions, two fully connected layers.

    A ReLU follows each of them.
    """

    WIDTH = 32
    HIDDEN = 256

    row_permutations = None

    def __init__(self, *, channels: int, size: int, embedding_size: int, columns: int):
        super().__init__()
        self.columns, self.rows = columns, embedding_size // columns
        layers: list[nn.Module] = []
        for channels_in in (channels, self.WIDTH, self.WIDTH):
            convolution = nn.Conv2d(channels_in, self.WIDTH, 4, stride=2, padding=1)
            layers += [kaiming(convolution), nn.ReLU()]
            size //= 2
        layers += [
            nn.Flatten(),
            kaiming(nn.Linear(self.WIDTH * size * size, self.HIDDEN)),
            nn.ReLU(),
        ]
        layers += [kaiming(nn.Linear(self.HIDDEN, embedding_size)), nn.ReLU()]
        self.layers = nn.Sequential(*layers)

    def forward(self, images: Tensor) -> Tensor:  # (b, channels, size, size) -> (b, rows, columns)
        return _in_columns(self.layers(images), self.columns)


def _in_columns(numbers: Tensor, columns: int) -> Tensor:  # (b, d) -> (b, rows, columns)
    """Vectors as matrices, column by column."""
    return numbers.unflatten(1, (columns, -1)).mT


AnyEncoder = P4CNN | P4MCNN | ResNet | MLP | ConvNet | StringEncoder

ENCODERS: dict[str, type[AnyEncoder]] = {
    "p4-cnn": P4CNN,
    "p4m-cnn": P4MCNN,
    "resnet": ResNet,
    "mlp": MLP,
    "conv": ConvNet,
    "strings": StringEncoder,
}


def make_encoder(
    name: str, *, channels: int, size: int, embedding_size: int, columns: int, depth: int = 0
) -> AnyEncoder:
    """The encoder called ``name``, for images of this shape and embeddings of this many numbers.

    Only the p4m-CNN has a ``depth``, its further convolutions.
    """
    if name not in ENCODERS:
        raise unknown("encoder", name, ENCODERS)
    if columns < 1 or embedding_size < 1 or embedding_size % columns:
        raise FineError(
            f"an embedding of {embedding_size} numbers cannot have {columns} columns: columns must "
            "divide it"
        )
    if embedding_size > LARGEST_EMBEDDING:
        raise FineError(
            f"an embedding of {embedding_size} numbers is too large: give an embedding_size of at "
            f"most {LARGEST_EMBEDDING:,}"
        )
    if depth < 0 or (depth and name != "p4m-cnn"):
        raise FineError(
            f"an encoder_depth of {depth} does not fit the encoder {name}: give 0, or more with "
            "encoder=p4m-cnn"
        )
    make = partial(P4MCNN, depth=depth) if name == "p4m-cnn" else ENCODERS[name]
    return make(channels=channels, size=size, embedding_size=embedding_size, columns=columns)
