"""Omniglot: 1,623 handwritten characters of 50 alphabets, each drawn by 20 people.

The drawings have 105 × 105 pixels of one bit, with black ink on white; here ink is bright on dark,
as in MNIST. The two official zips are read as one set: tasks split by class.
"""

import io
import re
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor

from fine.images.images import Images
from fine.images.official import OFFICIAL, damaged, reading
from fine.images.resampling import shrink
from fine.io.archives import open_zip, read_entry

_CHARACTERS = {"images_background.zip": 964, "images_evaluation.zip": 659}
_DRAWINGS = 20
_SIDE = 105
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_LARGEST = 100_000  # bytes; a drawing has a few hundred
_LARGEST_ZIP = 100_000_000  # bytes, packed and unpacked; the official zips have less than a tenth
_PIXEL_CHUNKS = {b"IHDR", b"PLTE", b"tRNS", b"IDAT", b"IEND"}  # of a PNG
_CHUNK = 1_000  # drawings decoded together: all of them would take 200 MB before they are shrunk


def load(*, size: int, data_root: Path) -> Images:
    """All drawings, sorted by alphabet, character and drawer."""
    characters: dict[str, Tensor] = {}
    for file in OFFICIAL["omniglot"].files:
        characters |= _decode(data_root / file, size)
    names = tuple(sorted(characters))
    pixels = torch.cat([characters[name] for name in names])
    labels = torch.arange(len(names)).repeat_interleave(_DRAWINGS)
    return Images("omniglot", pixels, labels, names)


def check(path: Path) -> str:
    """What a zip holds, in words, judged by its table of contents; an error if it is damaged."""
    with reading(path, "omniglot", _expected(path)), _open(path) as archive:
        characters = _contents(path, archive)
    return f"{len(characters) * _DRAWINGS:,} drawings of {len(characters):,} characters"


def _open(path: Path) -> AbstractContextManager[zipfile.ZipFile]:
    return open_zip(path, largest=_LARGEST_ZIP, expected=_expected(path))


def _expected(path: Path) -> str:
    characters = _CHARACTERS[path.name]
    drawings = characters * _DRAWINGS
    return f"a zip of {drawings:,} PNGs ({characters} characters × {_DRAWINGS} drawings)"


def _contents(path: Path, archive: zipfile.ZipFile) -> dict[str, list[zipfile.ZipInfo]]:
    """``Alphabet/character01`` -> its drawings in order; other entries are ignored."""
    characters: dict[str, list[zipfile.ZipInfo]] = {}
    drawing = re.compile(rf"{path.stem}/([^/]+/character\d+)/\d+_\d+\.png")
    for entry in sorted(archive.infolist(), key=lambda entry: entry.filename):
        if match := drawing.fullmatch(entry.filename):
            characters.setdefault(match[1], []).append(entry)
    counts = {len(drawings) for drawings in characters.values()}
    if len(characters) != _CHARACTERS[path.name] or counts != {_DRAWINGS}:
        drawings = sum(map(len, characters.values()))
        found = f"{drawings:,} PNGs of {len(characters):,} characters"
        raise damaged(path, "omniglot", _expected(path), found)
    return characters


def _decode(path: Path, size: int) -> dict[str, Tensor]:  # name -> (drawings, 1, size, size)
    with reading(path, "omniglot", _expected(path)), _open(path) as archive:
        characters = _contents(path, archive)
        entries = [entry for drawings in characters.values() for entry in drawings]
        drawings = _drawings(archive, entries)
        chunks: list[Tensor] = []
        while some := list(islice(drawings, _CHUNK)):
            chunks.append(shrink(torch.from_numpy(np.stack(some))[:, None], size))
    by_character = torch.cat(chunks).split(_DRAWINGS)
    return dict(zip(characters, by_character, strict=True))


def _drawings(
    archive: zipfile.ZipFile, entries: Sequence[zipfile.ZipInfo]
) -> Iterator[NDArray[np.uint8]]:  # (105, 105) each
    """The ink of drawing after drawing."""
    total = 0
    for entry in entries:
        content = read_entry(archive, entry, largest=_LARGEST)
        total += len(content)
        if total > _LARGEST_ZIP:  # entries may overlap, so that there is more than is in the file
            raise ValueError(f"drawings of more than {_LARGEST_ZIP:,} bytes")
        yield _ink(content, entry.filename)


def _ink(content: bytes, name: str) -> NDArray[np.uint8]:  # (105, 105)
    if not content.startswith(_SIGNATURE):
        raise ValueError(f"{name} that is not a PNG")
    with Image.open(io.BytesIO(_pixel_chunks(content)), formats=("PNG",)) as image:
        if image.size != (_SIDE, _SIDE):
            size = f"{image.width}×{image.height} pixels instead of {_SIDE}×{_SIDE}"
            raise ValueError(f"{name} of {size}")
        return 255 - np.asarray(image.convert("L"))


def _pixel_chunks(png: bytes) -> bytes:
    """A PNG without texts and colour profiles: 100 kB of these can unpack to 64 MB."""
    kept, place = [_SIGNATURE], len(_SIGNATURE)
    while place < len(png):
        length = int.from_bytes(png[place : place + 4], "big")
        start, place = place, place + length + 12  # with length, kind and checksum
        if png[start + 4 : start + 8] in _PIXEL_CHUNKS:
            kept.append(png[start:place])
    return b"".join(kept)
