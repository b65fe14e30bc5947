"""Omniglot: 1,623 handwritten characters of 50 alphabets, each drawn by 20 people.

The drawings have 105 × 105 pixels of one bit, with black ink on white; here ink is bright on dark,
as in MNIST. The two official zips are read as one set: tasks split by class.
"""

import io
import re
import zipfile
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor

from fine.images.images import Images
from fine.images.official import OFFICIAL, damaged, reading
from fine.images.resampling import shrink

_CHARACTERS = {"images_background.zip": 964, "images_evaluation.zip": 659}
_DRAWINGS = 20
_SIDE = 105
_LARGEST = 100_000  # bytes; a drawing has a few hundred
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
    with reading(path, "omniglot", _expected(path)), zipfile.ZipFile(path) as archive:
        characters = _contents(path, archive)
    return f"{len(characters) * _DRAWINGS:,} drawings of {len(characters):,} characters"


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
    with reading(path, "omniglot", _expected(path)), zipfile.ZipFile(path) as archive:
        characters = _contents(path, archive)
        entries = [entry for drawings in characters.values() for entry in drawings]
        chunks: list[Tensor] = []
        for start in range(0, len(entries), _CHUNK):
            ink = np.stack([_ink(archive, entry) for entry in entries[start : start + _CHUNK]])
            chunks.append(shrink(torch.from_numpy(ink)[:, None], size))
    by_character = torch.cat(chunks).split(_DRAWINGS)
    return dict(zip(characters, by_character, strict=True))


def _ink(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> NDArray[np.uint8]:  # (105, 105)
    if entry.file_size > _LARGEST:
        raise ValueError(f"{entry.filename} of {entry.file_size:,} bytes")
    content = archive.read(entry)
    if not content.startswith(b"\x89PNG"):
        raise ValueError(f"{entry.filename} that is not a PNG")
    with Image.open(io.BytesIO(content), formats=("PNG",)) as image:
        if image.size != (_SIDE, _SIDE):
            size = f"{image.width}×{image.height} pixels instead of {_SIDE}×{_SIDE}"
            raise ValueError(f"{entry.filename} of {size}")
        return 255 - np.asarray(image.convert("L"))
