"""Group convolution over p4 and p4m, equivariant to the symmetries of the square.

    lift = GroupConv(D4, channels_in=1, channels_out=8, kernel=4, stride=2, padding=1, lifting=True)
    maps = lift(images)                            # (b, 1, 32, 32) -> (b, 8 × 8, 16, 16)

p4 is all translations and rotations by 90°, p4m has mirrors too (Cohen & Welling, 2016). A feature
map has, for each channel, one orientation per element of the group, 4 or 8: (b, orientations ×
channels, h, w), channels fastest. Channels are last in memory, where convolution and normalisation
are fastest. Move the image by a group element, and the map moves with it while its orientations are
permuted. That is exact only if the strided grid is centred on the image: see `output_size`.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from fine.errors import FineError
from fine.geometry.d4 import SquareGroup
from fine.models.indexing import pick


def output_size(size: int, *, kernel: int, stride: int, padding: int) -> int:
    """The size after a strided convolution; an error if a rotation would not keep its grid."""
    span = size + 2 * padding - kernel
    if span < 0 or span % stride:
        raise FineError(
            f"a convolution with kernel {kernel}, stride {stride} and padding {padding} on size "
            f"{size} is not equivariant: size + 2·padding − kernel is {span} and must be a "
            "multiple of the stride"
        )
    return span // stride + 1


class GroupConv(nn.Module):
    """One filter bank, moved by every element of a group: from images (lifting) or feature maps.

    The result is a feature map, or (pooling) its mean over the orientations, which moves with the
    image and has no orientations left.
    """

    permutations: Tensor  # (elements, orientations in, kernel, kernel): the bank moved by each

    def __init__(
        self,
        group: SquareGroup,
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
        permute = group.pixel_permutations if lifting else group.feature_permutations
        permutations = permute(kernel)
        self.weight = nn.Parameter(torch.empty(channels_out, channels_in, permutations.shape[1]))
        nn.init.kaiming_normal_(self.weight)
        permutations = permutations.view(group.order, -1, kernel, kernel)
        self.register_buffer("permutations", permutations, persistent=False)

    def forward(self, maps: Tensor) -> Tensor:  # (b, orientations × i, h, w) -> (b, g × o, h', w')
        bank = pick(self.weight, self.permutations)  # (o, i, g, orientations, kernel, kernel)
        bank = bank.permute(2, 0, 3, 1, 4, 5)  # (g, o, orientations, i, kernel, kernel)
        if self.pooling:
            bank = bank.mean(dim=0, keepdim=True)  # the mean of the maps is the map of the mean
        bank = bank.flatten(2, 3).flatten(0, 1).contiguous(memory_format=torch.channels_last)
        return F.conv2d(_channels_last(maps), bank, stride=self.stride, padding=self.padding)


def _channels_last(maps: Tensor) -> Tensor:
    """The same maps with channels last in memory, and strides that say so even of one channel."""
    by_pixel = maps.permute(0, 2, 3, 1)  # (b, h, w, channels)
    return by_pixel.flatten(2).unflatten(2, (-1, maps.shape[1])).permute(0, 3, 1, 2)


class GroupBias(nn.Module):
    """A number added to each channel, the same for all its orientations."""

    def __init__(self, group: SquareGroup, channels: int):
        super().__init__()
        self.orientations = group.order
        self.bias = nn.Parameter(torch.zeros(channels))

    def forward(self, maps: Tensor) -> Tensor:  # (b, orientations × channels, h, w), the same out
        return maps + self.bias.repeat(self.orientations)[:, None, None]


class GroupBatchNorm(nn.Module):
    """Batch normalisation that treats the orientations of a channel alike: it stays equivariant."""

    def __init__(self, group: SquareGroup, channels: int):
        super().__init__()
        self.orientations = group.order
        self.norm = nn.BatchNorm2d(channels)

    def forward(self, maps: Tensor) -> Tensor:  # (b, orientations × channels, h, w), the same out
        # With channels last in memory, orientations are only more pixels along a row.
        by_pixel = maps.permute(0, 2, 3, 1).unflatten(3, (self.orientations, -1))
        rows = by_pixel.flatten(2, 3)  # (b, h, w × orientations, channels)
        rows = self.norm(rows.permute(0, 3, 1, 2)).permute(0, 2, 3, 1)
        return rows.unflatten(2, (-1, self.orientations)).flatten(3, 4).permute(0, 3, 1, 2)
