"""Where images come from: one small module per source, one ``load_images(name)`` for all of them.

    images = load_images("glyphs")         # or omniglot, cifar100, mnist, folder:path/to/images
    images.pixels                          # uint8 (n, channels, size, size)

Each kind of file has one purpose:

- images.py: `Images`, the pixels and classes that every source gives; sources.py: `load_images`.
- omniglot.py, cifar100.py, mnist.py: data sets, read from the files that official.py lists.
  downloading.py fetches these files, checking.py verifies them, decoded.py caches their images.
- glyphs.py: generated characters, which glyph_skeletons.py designs.
- folder.py: your own images. decoding.py decodes their files, within what limits.py allows; jpeg.py
  tells what a JPEG file will cost, and confined.py decodes some formats in a separate process.
- strings.py: letter strings, which letters.py shows as grids; `load_strings(name)` loads them.
- resampling.py: smaller images.
"""

from fine.images.images import Images
from fine.images.sources import SIZES, SOURCES, load_images
from fine.images.strings import are_strings, load_strings

__all__ = ["SIZES", "SOURCES", "Images", "are_strings", "load_images", "load_strings"]
