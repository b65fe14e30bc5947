"""Formats that only a process of its own can be trusted with."""

import io
import os
import struct
import subprocess
from collections.abc import Iterator

import numpy as np
import pytest
from PIL import Image, features

from fine.images import confined
from fine.images.confined import ConfinedDecoder, is_confined
from fine.images.limits import STANDARD, Limits, TooCostlyError
from support.bombs import avif_of_another_size, exif, tiff_with_tile, with_scans

FORMATS = ["TIFF"]
FORMATS += ["JPEG2000"] if features.check("jpg_2000") else []
FORMATS += ["AVIF"] if features.check("avif") else []
needs_limits = pytest.mark.skipif(os.name == "nt", reason="Windows has no limits for a process")


@pytest.fixture(scope="module")
def decoder() -> Iterator[ConfinedDecoder]:
    with ConfinedDecoder() as decoder:
        yield decoder


def encoded(kind: str, **options: object) -> bytes:
    file = io.BytesIO()
    noise = np.random.default_rng(0).integers(256, size=(30, 40, 3), dtype=np.uint8)
    Image.fromarray(noise).save(file, kind, **options)
    return file.getvalue()


def test_confined_formats_are_told_by_their_start() -> None:
    assert all(is_confined(encoded(kind)) for kind in FORMATS)
    others = ("PNG", "JPEG", "GIF", "BMP", "WEBP", "PPM")
    assert not any(is_confined(encoded(kind)) for kind in others)
    assert not any(map(is_confined, (b"", b"II", b"text")))


def test_one_process_serves_all_images_and_ends_with_the_block() -> None:
    with ConfinedDecoder() as decoder:
        assert decoder._process is None  # nobody needs it yet
        for kind in FORMATS * 2:
            assert decoder.decode(encoded(kind))[0].size == (40, 30)
            process = decoder._process
    assert isinstance(process, subprocess.Popen) and process.poll() is not None


def test_a_broken_image_is_an_error_and_the_next_is_decoded(decoder: ConfinedDecoder) -> None:
    for kind in FORMATS:
        with pytest.raises(ValueError, match=r"\w"):
            decoder.decode(encoded(kind)[:60])
        assert decoder.decode(encoded(kind))[0].size == (40, 30)


def test_too_many_pixels_are_refused() -> None:
    large = struct.pack("<HHII", 256, 4, 1, 40)  # the width of a TIFF
    content = encoded("TIFF").replace(large, struct.pack("<HHII", 256, 4, 1, 2_000_000))
    with ConfinedDecoder() as decoder, pytest.raises(TooCostlyError, match="50 megapixels"):
        decoder.decode(content)


@needs_limits
def test_memory_is_limited_and_the_next_image_is_decoded() -> None:
    """The whole tile would be unpacked for a corner of it."""
    with ConfinedDecoder(Limits(memory=200_000_000)) as decoder:
        with pytest.raises((TooCostlyError, ValueError)):
            decoder.decode(tiff_with_tile(30_000))
        assert decoder.decode(encoded("TIFF"))[0].size == (40, 30)


@pytest.mark.slow
@needs_limits
def test_time_is_limited_and_the_next_image_is_decoded(monkeypatch) -> None:
    """Nobody confines JPEG, but there is no simpler way to be slow."""
    monkeypatch.setattr(confined, "FORMATS", ("JPEG",))
    # The second of its start is rounded up to one.
    with ConfinedDecoder(Limits(seconds=0)) as decoder:
        with pytest.raises(TooCostlyError, match="takes more than 0 seconds or a gigabyte"):
            decoder.decode(with_scans(20_000, (2_000, 2_000)))
        monkeypatch.undo()
        decoder._limits = STANDARD
        assert decoder.decode(encoded("TIFF"))[0].size == (40, 30)


@pytest.mark.skipif("AVIF" not in FORMATS, reason="this Pillow has no AVIF")
def test_an_avif_may_hold_more_pixels_than_it_claims(decoder: ConfinedDecoder) -> None:
    """So its size says nothing of what it takes to decode, which is why it is confined."""
    content = avif_of_another_size(Image.new("L", (500, 500)), 100, 100)
    assert decoder.decode(content)[0].size == (100, 100)


def test_contents_that_refer_to_all_of_a_file_again_and_again(decoder: ConfinedDecoder) -> None:
    with pytest.raises((TooCostlyError, ValueError)):
        decoder.decode(exif(200_000))  # which begins like a TIFF


@pytest.mark.parametrize("kind", ["TIFF", "AVIF", "JPEG2000"])
def test_profiles_and_format_are_kept(decoder: ConfinedDecoder, kind: str) -> None:
    if kind not in FORMATS:
        pytest.skip(f"this Pillow has no {kind}")
    content = encoded(kind, **({} if kind == "JPEG2000" else {"icc_profile": b"a profile"}))
    image, _ = decoder.decode(content)
    assert image.format == kind and image.info["is_animated"] is False
    assert kind == "JPEG2000" or image.info["icc_profile"] == b"a profile"


def test_a_process_that_cannot_start_is_no_fault_of_the_image(monkeypatch) -> None:
    monkeypatch.setattr(confined, "_WORKER", confined._WORKER.with_name("missing.py"))
    with ConfinedDecoder() as decoder, pytest.raises(OSError, match="has ended"):
        decoder.decode(encoded("TIFF"))
