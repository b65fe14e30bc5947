"""Images by the name of their source.

images = load_images("glyphs")             # or omniglot, cifar100, mnist, folder:path/to/images
images = load_images("mnist", size=28, data_root="path/to/data")
images = load_images("glyphs+omniglot")    # both of them
"""

import functools
from pathlib import Path
from typing import Protocol

import torch

from fine.errors import FineError, unknown
from fine.images import cifar100, cutouts, folder, glyphs, mnist, omniglot
from fine.images.decoded import decoded_once
from fine.images.images import Images
from fine.images.mixture import mix, parts_of
from fine.images.official import OFFICIAL, find_data_root
from fine.plugins import Plugin, find_plugin, plugin_names

SOURCES = (*OFFICIAL, "cutouts", "glyphs", "folder:PATH")
"""The names that load_images takes, as users write them."""
PLUGINS = "fine.images"
"""The group of entry points by which other packages announce a function such as `glyphs.load`."""
SIZES = (32, 28)
"""The image sizes that every source comes in; the first is the default."""


class OfficialReader(Protocol):
    """What the module of an official source offers."""

    def load(self, *, size: int, data_root: Path) -> Images:
        """All images of the source."""
        ...

    def check(self, path: Path) -> str:
        """What one of its files holds, in words; an error if the file is damaged."""
        ...


READERS: dict[str, OfficialReader] = {
    "omniglot": omniglot,
    "cifar100": cifar100,
    "mnist": mnist,
}
"""The module of each official source."""


def load_images(name: str, *, size: int = 32, data_root: Path | str | None = None) -> Images:
    """All images of a source, ``size`` pixels square.

    The files of omniglot, cifar100 and mnist are read from ``data_root``, else from FINE_DATA, else
    from the user's cache folder. Nothing is downloaded: ``fine data download NAME`` does that.
    Repeated calls share one tensor, so do not write into it.

    Args:
        name: omniglot, cifar100, mnist, cutouts (of cifar100), glyphs, or folder:PATH with one
            subfolder per class; several joined by + are a mixture.
        size: Width and height of the images: 32 or 28.
        data_root: Folder of the official files.

    Examples:
        >>> import fine
        >>> fine.load_images("glyphs").pixels.dtype
        torch.uint8
    """
    if size not in SIZES:
        sizes = ", ".join(map(str, SIZES))
        raise FineError(f"image size {size} is not offered: choose one of {sizes}")
    if len(parts := parts_of(name)) > 1:
        return mix([load_images(part, size=size, data_root=data_root) for part in parts])
    kind, colon, path = name.partition(":")
    if kind == "folder":
        if not path:
            raise FineError(
                "the source 'folder' needs a path: write folder:PATH, with one subfolder per class"
            )
        return folder.load(path, size=size)  # not cached, because its files may change
    if not colon and name not in SOURCES and (plugin := find_plugin(PLUGINS, name)):
        return _load_plugin(plugin, size, find_data_root(data_root))
    if colon or name not in SOURCES:
        raise unknown("image source", name, (*SOURCES, *plugin_names(PLUGINS)))
    return _load(name, size, find_data_root(data_root))


@functools.lru_cache(maxsize=4)
def _load(name: str, size: int, root: Path) -> Images:
    if name == "glyphs":
        return glyphs.load(size=size)
    if name == "cutouts":
        return cutouts.load(size=size, data_root=root)

    def load() -> Images:
        return READERS[name].load(size=size, data_root=root)

    if name == "omniglot":  # its 32,460 PNGs take seconds to decode
        files = [root / file for file in OFFICIAL[name].files]
        return decoded_once(name, size, files, load)
    return load()


@functools.lru_cache(maxsize=4)
def _load_plugin(plugin: Plugin, size: int, root: Path) -> Images:
    """The images of another package, if they are what every source gives."""
    load = plugin.load()
    try:
        images = load(size=size, data_root=root)
    except FineError:
        raise
    except Exception as problem:  # whatever the code of others does
        raise plugin.refuse(f"{type(problem).__name__}: {problem}") from problem
    if not isinstance(images, Images) or images.pixels.dtype != torch.uint8:
        raise plugin.refuse("expected fine.Images with pixels of uint8")
    count, channels, *shape = images.pixels.shape
    if channels not in (1, 3) or shape != [size, size] or images.labels.shape != (count,):
        raise plugin.refuse(
            f"expected pixels (n, 1 or 3, {size}, {size}) and n labels, not "
            f"{tuple(images.pixels.shape)} and {tuple(images.labels.shape)}"
        )
    return images
