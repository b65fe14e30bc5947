"""Caches images that are slow to decode, in the user's cache folder. It is safe to delete."""

import contextlib
import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import platformdirs

from fine.errors import FineError
from fine.images.images import Images
from fine.images.official import LARGEST_FILE
from fine.io.tensors import read_tensors, save_tensors
from fine.io.untrusted import open_regular


def decoded_once(
    source: str, size: int, files: Sequence[Path], decode: Callable[[], Images]
) -> Images:
    """The result of ``decode``, from the cache if files of the same content were decoded before."""
    try:
        digests = [_digest(file) for file in files]
    except (OSError, FineError):
        return decode()  # which reports what is wrong with the file
    key = hashlib.sha256(b"".join(digests)).hexdigest()
    folder = Path(platformdirs.user_cache_dir("fine")) / "decoded"
    cache = folder / f"{source}-{size}.safetensors"
    cached = _read(cache, source, key)
    if cached is not None:
        return cached
    images = decode()
    _write(cache, images, key)
    return images


def _write(cache: Path, images: Images, key: str) -> None:
    tensors = {"pixels": images.pixels, "labels": images.labels}
    metadata = {"key": key, "class_names": json.dumps(images.class_names)}
    # A full or read-only disk only means decoding again next time, so errors are ignored.
    with contextlib.suppress(FineError):
        save_tensors(cache, tensors, metadata)


def _read(cache: Path, source: str, key: str) -> Images | None:
    """The images cached under ``key``; None if there are none or the cache cannot be read."""
    with contextlib.suppress(FineError, KeyError, ValueError):
        tensors, metadata = read_tensors(cache)
        if metadata["key"] == key:
            class_names = tuple(json.loads(metadata["class_names"]))
            return Images(source, tensors["pixels"], tensors["labels"], class_names)
    return None


def _digest(file: Path) -> bytes:
    with open_regular(file, largest=LARGEST_FILE, expected="an official file") as opened:
        return hashlib.file_digest(opened, "sha256").digest()
