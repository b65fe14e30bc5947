"""Images with their classes, the same for every source."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from fine.errors import FineError

_CHUNK = 4096  # images: 60,000 in colour as int32 would take three quarters of a gigabyte at once


@dataclass(frozen=True, eq=False)
class Images:
    """The images of a source and the class of each.

    Examples:
        >>> import fine
        >>> images = fine.load_images("glyphs")
        >>> images.pixels.shape, images.class_names[0]
        (torch.Size([8000, 1, 32, 32]), 'glyph-0000')
        >>> images.with_channels(3).pixels.shape
        torch.Size([8000, 3, 32, 32])
    """

    name: str
    """The source they came from."""
    pixels: Tensor
    """uint8 (n, channels, size, size); one channel for grey, three for colour."""
    labels: Tensor
    """int64 (n,): the class of each image, an index into class_names."""
    class_names: tuple[str, ...]
    """The name of each class."""
    sources: Tensor | None = None
    """int64 (n,): which source each image of a mixture came from; None: all came from one."""

    def with_channels(self, channels: int) -> "Images":
        """The same images in grey (1) or colour (3), for a model trained on the other kind."""
        if channels not in (1, 3):
            raise FineError(
                f"images cannot have {channels} channels: choose 1 (grey) or 3 (colour)"
            )
        if channels == self.pixels.shape[1]:
            return self
        if channels == 3:
            return replace(self, pixels=self.pixels.expand(-1, 3, -1, -1).contiguous())
        grey = [_luminance(chunk) for chunk in self.pixels.split(_CHUNK)]
        return replace(self, pixels=torch.cat(grey))


def _luminance(colour: Tensor) -> Tensor:  # (n, 3, h, w) -> (n, 1, h, w)
    """ITU-R 601 brightness, in integers, so that it rounds the same everywhere."""
    red, green, blue = colour.to(torch.int32).unbind(1)
    thousandths = 299 * red + 587 * green + 114 * blue + 500
    return torch.div(thousandths, 1000, rounding_mode="floor").to(torch.uint8)[:, None]
