"""What lies under a data root: a quick look at all files (``status``), or one source read in full (``verify``)."""

import hashlib
import os
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Literal

from fine.errors import FineError
from fine.images.official import OFFICIAL, find_data_root, official_source


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
    pictures: int
    classes: int
    channels: int
    official: dict[Path, bool | None]
    """Whether each file has the published checksum; None where none is published. A rebuilt file need not have it."""


def status(data_root: Path | str | None = None) -> list[FileStatus]:
    """One row per official file, judged by size and table of contents: no picture is decoded."""
    root = find_data_root(data_root)
    return [_file_status(name, root / file) for name, source in OFFICIAL.items() for file in source.files]


def verify(name: str, data_root: Path | str | None = None) -> Verification:
    """Decode everything a source has and compare the checksums; the first fault found is raised."""
    source, root = official_source(name), find_data_root(data_root)
    images = import_module(f"fine.images.{name}").load(size=32, data_root=root)
    official = {root / file: _same(root / file, source.md5(file)) for file in source.files}
    return Verification(name, len(images.pixels), len(images.class_names), images.pixels.shape[1], official)


def _file_status(source: str, path: Path) -> FileStatus:
    try:
        detail = import_module(f"fine.images.{source}").check(path)
    except FineError as problem:
        if os.path.exists(path):  # noqa: PTH110 (Path.exists raises in a closed folder)
            return FileStatus(source, path, "damaged", path.stat().st_size, str(problem))
        return FileStatus(source, path, "missing", 0, str(problem))
    return FileStatus(source, path, "present", path.stat().st_size, detail)


def _same(path: Path, md5: str | None) -> bool | None:
    if md5 is None:
        return None
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest() == md5
