"""Where pictures come from: one small module per source, one ``load_images(name)`` for all of them.

images = load_images("glyphs")                 # or omniglot, cifar100, mnist, folder:path/to/pictures
images.pixels                                  # uint8 (n, channels, size, size), ink bright on dark
"""

import functools
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path

import torch
from torch import Tensor

from fine.errors import FineError, unknown
from fine.images.official import OFFICIAL, find_data_root

SOURCES = (*OFFICIAL, "glyphs", "folder:PATH")
"""The names load_images takes, as shown to a user."""
SIZES = (32, 28)
"""The picture sizes every source comes in; the first is the default."""


@dataclass(frozen=True)
class Images:
    """Pictures with their classes, the same for every source."""

    name: str
    """The source they came from."""
    pixels: Tensor
    """uint8 (n, channels, size, size); one channel for grey, three for colour."""
    labels: Tensor
    """int64 (n,): the class of each picture, an index into class_names."""
    class_names: tuple[str, ...]

    def with_channels(self, channels: int) -> "Images":
        """The same pictures in grey (1) or colour (3), so that a model trained on one can be tested on the other."""
        if channels not in (1, 3):
            raise FineError(f"pictures cannot have {channels} channels: choose 1 (grey) or 3 (colour)")
        if channels == self.pixels.shape[1]:
            return self
        if channels == 3:
            return replace(self, pixels=self.pixels.expand(-1, 3, -1, -1).contiguous())
        # In parts: 60,000 colour pictures as int32 would be three quarters of a gigabyte at once.
        return replace(self, pixels=torch.cat([_luminance(part) for part in torch.split(self.pixels, 4096)]))


def _luminance(colour: Tensor) -> Tensor:  # (n, 3, h, w) -> (n, 1, h, w)
    """ITU-R 601 brightness, in whole numbers so that it rounds the same everywhere."""
    red, green, blue = colour.to(torch.int32).unbind(1)
    return torch.div(299 * red + 587 * green + 114 * blue + 500, 1000, rounding_mode="floor").to(torch.uint8)[:, None]


def load_images(name: str, *, size: int = 32, data_root: Path | str | None = None) -> Images:
    """All pictures of a source, ``size`` pixels square. Repeated calls share one tensor: do not write into it.

    The files of omniglot, cifar100 and mnist are looked for under ``data_root``, else under FINE_DATA, else in the
    user's cache folder. Nothing is downloaded here: ``fine data download NAME`` does that.
    """
    if size not in SIZES:
        raise FineError(f"image size {size} is not offered: choose one of {', '.join(map(str, SIZES))}")
    kind, colon, path = name.partition(":")
    if kind == "folder":
        if not path:
            raise FineError("the source 'folder' needs a path: write folder:PATH, with one subfolder per class")
        return import_module("fine.images.folder").load(path, size=size)
    if colon or name not in (*OFFICIAL, "glyphs"):
        raise unknown("image source", name, SOURCES)
    return _load(name, size, find_data_root(data_root))


@functools.lru_cache(maxsize=4)
def _load(name: str, size: int, root: Path) -> Images:
    source = import_module(f"fine.images.{name}")  # late, so that a source costs nothing until it is used
    if name == "glyphs":
        return source.load(size=size)
    if name == "omniglot":  # 32,460 PNGs take seconds to decode
        files = [root / file for file in OFFICIAL[name].files]
        return import_module("fine.images.decoded").decoded_once(name, size, files, source.load)
    return source.load(size=size, data_root=root)
