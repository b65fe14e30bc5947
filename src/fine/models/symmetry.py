"""Networks that know the symmetries of a square: convolution over the groups p4 and p4m (Cohen & Welling, 2016).

p4 is all translations and quarter turns, p4m mirrors too. A feature map has one orientation a channel for each of the four
turns or eight turns and mirrors: (b, orientations × channels, h, w), channels fastest, and last in memory, where convolution
and normalisation are quickest. Move the picture by one of them and the map moves with it while its orientations change places.
That holds to the last bit of meaning only if the strided grid is centred on the picture, so layers whose grid would not be are
refused.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from fine.errors import FineError


@dataclass(frozen=True)
class Group:
    """Ways to move a square onto itself: quarter turns and, if ``mirrors``, each of them after a left-right mirror.

    Way number g turns counter-clockwise g times; numbers from 4 on mirror first.
    """

    mirrors: bool

    @property
    def order(self) -> int:
        """How many ways there are."""
        return 8 if self.mirrors else 4

    def move(self, way: int, grids: Tensor) -> Tensor:
        """Grids (..., h, w) moved one way."""
        return torch.rot90(grids.flip(-1) if way >= 4 else grids, way % 4, dims=(-2, -1))

    def after(self, first: int, then: int) -> int:
        """The way that one way after another comes to: a mirror undoes the turns that were made before it."""
        turns = then - first if then >= 4 else then + first
        return turns % 4 + 4 * ((first >= 4) != (then >= 4))

    def undo(self, way: int) -> int:
        """The way back."""
        return next(other for other in range(self.order) if self.after(way, other) == 0)

    def pixel_moves(self, size: int) -> Tensor:
        """int64 (ways, size²): ``picture.flatten()[moves[g]]`` is the picture, moved the way g."""
        places = torch.arange(size * size).view(size, size)
        return torch.stack([self.move(way, places).flatten() for way in range(self.order)])

    def map_moves(self, size: int) -> Tensor:
        """int64 (ways, orientations × size²): the same for a feature map, whose orientations change places too."""
        maps = torch.arange(self.order * size * size).view(self.order, size, size)
        origin = [[self.after(other, self.undo(way)) for other in range(self.order)] for way in range(self.order)]
        return torch.stack([self.move(way, maps[origin[way]]).flatten() for way in range(self.order)])


P4, P4M = Group(mirrors=False), Group(mirrors=True)


def output_size(size: int, *, kernel: int, stride: int, padding: int) -> int:
    """The size after a strided convolution, or an error if a quarter turn would not map its grid onto itself."""
    span = size + 2 * padding - kernel
    if span < 0 or span % stride:
        raise FineError(
            f"a convolution with kernel {kernel}, stride {stride} and padding {padding} on size {size} does not turn with the "
            f"picture: size + 2·padding − kernel is {span} and must be a multiple of the stride"
        )
    return span // stride + 1


class GroupConv(nn.Module):
    """One filter bank, moved all ways of a group: from pictures (lifting) or feature maps to feature maps, or to plain maps.

    A plain map (pooling) is the mean over all ways, so it has no orientations left: when the picture moves, it moves, no more.
    """

    moves: Tensor

    def __init__(
        self,
        group: Group,
        *,
        channels_in: int,
        channels_out: int,
        kernel: int,
        stride: int,
        padding: int,
        lifting: bool = False,
        pooling: bool = False,
    ):
        super().__init__()
        self.stride, self.padding, self.pooling = stride, padding, pooling
        moves = group.pixel_moves(kernel) if lifting else group.map_moves(kernel)
        self.weight = nn.Parameter(torch.empty(channels_out, channels_in, moves.shape[1]))
        nn.init.kaiming_normal_(self.weight)
        self.register_buffer("moves", moves.view(group.order, -1, kernel, kernel), persistent=False)

    def forward(self, maps: Tensor) -> Tensor:  # (b, orientations × channels_in, h, w) -> (b, ways × channels_out, h', w')
        bank = self.weight[:, :, self.moves].permute(2, 0, 3, 1, 4, 5)  # (ways, o, orientations, i, kernel, kernel)
        if self.pooling:
            bank = bank.mean(dim=0, keepdim=True)  # the mean of the maps is the map of the mean
        bank = bank.flatten(2, 3).flatten(0, 1).contiguous(memory_format=torch.channels_last)
        return F.conv2d(_channels_last(maps), bank, stride=self.stride, padding=self.padding)


def _channels_last(maps: Tensor) -> Tensor:
    """The same maps with channels last in memory, and said so by their strides even if there is only one channel."""
    return maps.permute(0, 2, 3, 1).flatten(2).unflatten(2, (-1, maps.shape[1])).permute(0, 3, 1, 2)


class GroupBias(nn.Module):
    """A number added to each channel, the same for all its orientations."""

    def __init__(self, group: Group, channels: int):
        super().__init__()
        self.orientations = group.order
        self.bias = nn.Parameter(torch.zeros(channels))

    def forward(self, maps: Tensor) -> Tensor:  # (b, orientations × channels, h, w), the same out
        return maps + self.bias.repeat(self.orientations)[:, None, None]


class GroupBatchNorm(nn.Module):
    """Batch normalisation that treats the orientations of a channel alike, so that turns and mirrors pass through it."""

    def __init__(self, group: Group, channels: int):
        super().__init__()
        self.orientations = group.order
        self.norm = nn.BatchNorm2d(channels)

    def forward(self, maps: Tensor) -> Tensor:  # (b, orientations × channels, h, w), the same out
        # With channels last in memory, orientations are but more places along a row.
        rows = (
            maps.permute(0, 2, 3, 1).unflatten(3, (self.orientations, -1)).flatten(2, 3)
        )  # (b, h, w × orientations, channels)
        rows = self.norm(rows.permute(0, 3, 1, 2)).permute(0, 2, 3, 1)
        return rows.unflatten(2, (-1, self.orientations)).flatten(3, 4).permute(0, 3, 1, 2)
