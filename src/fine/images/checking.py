"""The files of a data root: ``status`` looks at all of them, ``verify`` reads one in full."""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fine.errors import FineError
from fine.images.official import LARGEST_FILE, OFFICIAL, find_data_root, official_source
from fine.images.sources import READERS
from fine.io.untrusted import open_regular


@dataclass(frozen=True)
class FileStatus:
    """One official file under the data root."""

    source: str
    path: Path
    state: Literal["present", "missing", "damaged"]
    size: int
    """Bytes on disk."""
    detail: str
    """What it holds if present, else what is wrong and what to do."""


@dataclass(frozen=True)
class Verification:
    """A source that was read from end to end without an error."""

    source: str
    images: int
    classes: int
    channels: int
    official: dict[Path, bool | None]
    """Whether each file has the published checksum, which a rebuilt file need not have; None where
    none is published."""


def status(data_root: Path | str | None = None) -> list[FileStatus]:
    """One row per official file, judged by its size and table of contents, without decoding it."""
    root = find_data_root(data_root)
    return [
        _file_status(name, root / file)
        for name, source in OFFICIAL.items()
        for file in source.files
    ]


def verify(name: str, data_root: Path | str | None = None) -> Verification:
    """Decode all images of a source and compare checksums; the first fault is raised."""
    source = official_source(name)
    root = find_data_root(data_root)
    images = READERS[name].load(size=32, data_root=root)
    return Verification(
        source=name,
        images=len(images.pixels),
        classes=len(images.class_names),
        channels=images.pixels.shape[1],
        official={root / file: _has_md5(root / file, source.md5(file)) for file in source.files},
    )


def _file_status(source: str, path: Path) -> FileStatus:
    try:
        detail = READERS[source].check(path)
    except FineError as problem:
        if os.path.exists(path):  # noqa: PTH110 (Path.exists raises in a closed folder)
            return FileStatus(source, path, "damaged", path.stat().st_size, str(problem))
        return FileStatus(source, path, "missing", 0, str(problem))
    return FileStatus(source, path, "present", path.stat().st_size, detail)


def _has_md5(path: Path, md5: str | None) -> bool | None:
    if md5 is None:
        return None
    with open_regular(path, largest=LARGEST_FILE, expected="an official file") as file:
        digest = hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False))
    return digest.hexdigest() == md5
