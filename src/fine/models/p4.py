"""Convolution over the group p4, all translations and quarter turns (Cohen & Welling, 2016).

A p4 feature map has four orientations a channel: (b, channels × 4, h, w), orientation fastest. Turn the picture by 90° and the
map turns with it while its orientations move on by one. That holds to the last bit of meaning only if the strided grid is
centred on the picture, so layers whose grid would not be are refused.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from fine.errors import FineError


def output_size(size: int, *, kernel: int, stride: int, padding: int) -> int:
    """The size after a strided p4 convolution, or an error if a quarter turn would not map its grid onto itself."""
    span = size + 2 * padding - kernel
    if span < 0 or span % stride:
        raise FineError(
            f"a p4 convolution with kernel {kernel}, stride {stride} and padding {padding} on size {size} is not equivariant: "
            f"size + 2·padding − kernel is {span} and must be a multiple of the stride"
        )
    return span // stride + 1


class P4Conv(nn.Module):
    """One filter bank, turned four ways: from pictures (lifting) or from p4 maps to p4 maps."""

    turns: Tensor

    def __init__(self, *, channels_in: int, channels_out: int, kernel: int, stride: int, padding: int, lifting: bool = False):
        super().__init__()
        self.stride, self.padding, self.kernel = stride, padding, kernel
        self.orientations = 1 if lifting else 4
        taps = self.orientations * kernel * kernel
        self.weight = nn.Parameter(torch.empty(channels_out, channels_in, taps))
        nn.init.kaiming_normal_(self.weight)
        # Where each tap of the filter turned r times comes from: space turns, and the orientation axis rolls along with it.
        tap = torch.arange(taps).view(self.orientations, kernel, kernel)
        turned = [torch.rot90(tap, r, dims=(1, 2)).roll(r % self.orientations, dims=0) for r in range(4)]
        self.register_buffer("turns", torch.stack(turned).flatten(1), persistent=False)  # (4, taps)

    def forward(self, maps: Tensor) -> Tensor:  # (b, channels_in × orientations, h, w) -> (b, channels_out × 4, h', w')
        out, inputs, _ = self.weight.shape
        bank = self.weight[:, :, self.turns].transpose(1, 2)  # (o, 4, i, taps)
        bank = bank.reshape(4 * out, self.orientations * inputs, self.kernel, self.kernel)
        return F.conv2d(maps, bank, stride=self.stride, padding=self.padding)


class P4BatchNorm(nn.Module):
    """Batch normalisation that treats the four orientations of a channel alike, so that quarter turns pass through it."""

    def __init__(self, channels: int):
        super().__init__()
        self.norm = nn.BatchNorm2d(channels)

    def forward(self, maps: Tensor) -> Tensor:  # (b, channels × 4, h, w), the same out
        b, c, h, w = maps.shape
        return self.norm(maps.reshape(b, c // 4, 4 * h, w)).view(b, c, h, w)
