"""Small image files that would take long, or much memory, to decode."""

import io
import re
import struct
import zlib
from typing import Any

from PIL import Image

WATCHED = ("PNG", "JPEG", "GIF", "BMP", "WEBP", "PPM")
"""Formats that are decoded without a process of their own."""
PACKED = zlib.compress(bytes(1_000_000))
"""A megabyte in a kilobyte."""


def png_chunk(name: bytes, content: bytes) -> bytes:
    checksum = struct.pack(">I", zlib.crc32(name + content))
    return struct.pack(">I", len(content)) + name + content + checksum


def png(
    width: int, height: int, *, bits: int = 8, before: bytes = b"", after: bytes = b""
) -> bytes:
    """A black PNG of one channel, with chunks before and after its pixels."""
    header = struct.pack(">IIBBBBB", width, height, bits, 0, 0, 0, 0)
    rows = zlib.compress(bytes(min((1 + width * bits // 8) * height, 10_000_000)))  # or a part
    parts = (png_chunk(b"IHDR", header), before, png_chunk(b"IDAT", rows), after)
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts) + png_chunk(b"IEND", b"")


def profiles(count: int) -> bytes:
    """Colour profiles of a PNG, of which one is allowed: a megabyte each, in a kilobyte."""
    return png_chunk(b"iCCP", b"x\0\0" + PACKED) * count


def jpeg(mode: str = "L", size: tuple[int, int] = (64, 64), **options: Any) -> bytes:
    file = io.BytesIO()
    Image.new(mode, size, 128 if mode == "L" else (10, 20, 30)).save(file, "JPEG", **options)
    return file.getvalue()


def with_segments(whole: bytes, segments: bytes) -> bytes:
    """A JPEG file with segments at its start."""
    return whole[:2] + segments + whole[2:]


def segment(marker: int, content: bytes) -> bytes:
    return bytes([0xFF, marker]) + struct.pack(">H", len(content) + 2) + content


def with_scans(count: int, size: tuple[int, int] = (64, 64)) -> bytes:
    """A progressive JPEG file whose last scan comes again, ``count`` times."""
    whole = jpeg(size=size, progressive=True)
    last = whole.rindex(b"\xff\xda")
    return whole[:-2] + whole[last:-2] * count + whole[-2:]


def exif(size: int) -> bytes:
    """EXIF data whose entries, one for 24 bytes, all refer to half of it."""
    count = min(size // 24, 60_000)
    entries = (struct.pack("<HHII", 1000 + number, 7, size // 2, 8) for number in range(count))
    return (b"II*\0" + struct.pack("<IH", 8, count) + b"".join(entries)).ljust(size, b"\0")


def exif_segments(size: int) -> bytes:
    """EXIF data as segments of a JPEG file."""
    parts = re.findall(rb".{1,60000}", exif(size), re.DOTALL)
    return b"".join(segment(0xE1, b"Exif\0\0" + part) for part in parts)


def tiff_with_tile(side: int) -> bytes:
    """A TIFF of 16 × 16 pixels with a single tile that claims to be much larger."""
    tile = zlib.compress(bytes(100))
    values = {256: 16, 257: 16, 258: 8, 259: 8, 262: 1, 277: 1, 322: side, 323: side, 324: 8}
    values[325] = len(tile)
    entries = (struct.pack("<HHII", tag, 4, 1, value) for tag, value in values.items())
    contents = struct.pack("<H", len(values)) + b"".join(entries) + bytes(4)
    return b"II*\0" + struct.pack("<I", 8 + len(tile)) + tile + contents


def avif_of_another_size(pixels: Image.Image, width: int, height: int) -> bytes:
    """An AVIF that claims another size than its image has."""
    file = io.BytesIO()
    pixels.save(file, "AVIF", speed=10)
    claimed = struct.pack(">II", *pixels.size)
    return file.getvalue().replace(claimed, struct.pack(">II", width, height))
