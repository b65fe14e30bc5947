"""Pictures that are slow to decode, kept in the user's cache folder for the next time. Safe to delete."""

import contextlib
import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import platformdirs
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from fine.errors import FineError
from fine.images import Images
from fine.storage import written_whole


def decoded_once(source: str, size: int, files: list[Path], load: Callable[..., Images]) -> Images:
    """What ``load`` makes of the files, from the cache if files of the same content were decoded before."""
    root = files[0].parents[1]
    try:
        key = hashlib.sha256(b"".join(hashlib.sha256(file.read_bytes()).digest() for file in files)).hexdigest()
    except OSError:
        return load(size=size, data_root=root)  # which says what is wrong with the file
    cache = Path(platformdirs.user_cache_dir("fine")) / "decoded" / f"{source}-{size}.safetensors"
    if kept := _read(cache, source, key):
        return kept
    images = load(size=size, data_root=root)
    metadata = {"key": key, "class_names": json.dumps(images.class_names)}
    with contextlib.suppress(FineError, OSError, SafetensorError), written_whole(cache) as temporary:
        # Suppressed, because a full or read-only disk costs time at the next start and no more.
        save_file({"pixels": images.pixels, "labels": images.labels}, temporary, metadata=metadata)
    return images


def _read(cache: Path, source: str, key: str) -> Images | None:
    """The pictures kept under ``key``; None if there are none or the file cannot be read."""
    with contextlib.suppress(OSError, KeyError, ValueError, SafetensorError), safe_open(cache, framework="pt") as kept:
        metadata = kept.metadata() or {}
        if metadata.get("key") == key:
            names = tuple(json.loads(metadata["class_names"]))
            return Images(source, kept.get_tensor("pixels"), kept.get_tensor("labels"), names)
    return None
