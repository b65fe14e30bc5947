"""Decoded images are cached: by content, never broken, and never in the way."""

from pathlib import Path

import platformdirs
import pytest
import torch

from fine.images import Images, decoded
from support.image_files import write


def test_decoding_is_done_once_per_content_and_again_when_the_cache_is_broken(
    tmp_path: Path,
) -> None:
    file, calls = write(tmp_path / "images.zip", b"one"), []

    def decode() -> Images:
        calls.append("decoded")
        content = torch.tensor(list(file.read_bytes()), dtype=torch.uint8)
        return Images("once", content[:, None, None, None], torch.arange(len(content)), ("å", "b"))

    def once(size: int) -> Images:
        return decoded.decoded_once("once", size, [file], decode)

    first, second = once(32), once(32)
    assert len(calls) == 1
    assert torch.equal(first.pixels, second.pixels)
    assert torch.equal(first.labels, second.labels)
    assert (first.name, first.class_names) == (second.name, second.class_names)
    once(28)
    assert len(calls) == 2  # another size
    file.write_bytes(b"two")
    assert once(32).pixels.flatten().tolist() == list(b"two")
    assert len(calls) == 3  # another content
    cache = Path(platformdirs.user_cache_dir("fine")) / "decoded/once-32.safetensors"
    cache.write_bytes(cache.read_bytes()[:50])
    assert once(32).pixels.flatten().tolist() == list(b"two")
    assert len(calls) == 4  # a broken cache
    once(32)
    assert len(calls) == 4  # mended


def test_a_cache_that_cannot_be_written_costs_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = write(tmp_path / "blocked", b"")
    monkeypatch.setattr(platformdirs, "user_cache_dir", lambda name: str(blocked / name))
    images = Images("x", torch.zeros(1, 3, 4, 4), torch.zeros(1, dtype=torch.int64), ("only",))
    file = write(tmp_path / "images.zip", b"")
    assert decoded.decoded_once("x", 32, [file], lambda: images) is images
