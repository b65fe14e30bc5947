"""Files that take, or would take, much time or memory to read; each is made when it is needed."""

import gzip
import struct
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from PIL import Image, features

from fine.images.limits import PIXEL_LIMIT
from support import bombs
from support.archives import lying_zip, tarred, zipped
from support.odd_files import make_link_to_zeros, make_pipe

Make = Callable[[Path], object]


class CostlyFile(NamedTuple):
    """A file, and what reads it, as named in reading_within_limits.py."""

    kind: str
    name: str
    make: Make


def holding(content: Callable[[], bytes]) -> Make:
    return lambda path: path.write_bytes(content())


def with_chunks(name: bytes, content: bytes, count: int, place: str = "before") -> Make:
    """A PNG with a chunk many times, before or after its pixels."""
    return holding(lambda: bombs.png(8, 8, **{place: bombs.png_chunk(name, content) * count}))


def hole(size: int, start: bytes = b"") -> Make:
    """A large file that takes no space on the disk."""

    def make(path: Path) -> None:
        with path.open("wb") as file:
            file.write(start)
            file.truncate(size)

    return make


def scans(count: int, side: int) -> Make:
    return holding(lambda: bombs.with_scans(count, (side, side)))


def lying_drawing(path: Path) -> None:
    """A zip that unpacks thirty megabytes where it claims 300 bytes."""
    name = "images_background/A/character01/0001_01.png"
    path.write_bytes(lying_zip(name, bytes(30_000_000), 300, method=zipfile.ZIP_BZIP2))


def zeros_in_a_tar(path: Path) -> None:
    path.write_bytes(tarred([("train.bin", tarfile.REGTYPE, bytes(30_000_000))] * 20))


EXPLODING = [
    CostlyFile("image", "line.png", holding(lambda: bombs.png(30_000, 1, bits=16))),
    CostlyFile("image", "strip.png", holding(lambda: bombs.png(20, 20_000, bits=16))),
    CostlyFile("image", "scans.jpg", scans(2_000, 4_000)),
    CostlyFile("training image", "scans.jpg", scans(2_000, 4_000)),
    CostlyFile("image", "more scans.jpg", scans(30_000, 3_000)),
    CostlyFile("image", "exif.png", with_chunks(b"eXIf", bombs.exif(1_000_000), 1)),
    CostlyFile("image", "profiles.png", with_chunks(b"iCCP", b"x\0\0" + bombs.PACKED, 200)),
    CostlyFile("image", "tile.tiff", holding(lambda: bombs.tiff_with_tile(30_000))),
    CostlyFile("image", "zeros.png", make_link_to_zeros),
    CostlyFile("image", "pipe.png", make_pipe),
    CostlyFile("image", "hole.png", hole(10**12)),
    CostlyFile("json", "zeros.json", make_link_to_zeros),
    CostlyFile("json", "pipe.json", make_pipe),
    CostlyFile("curve", "zeros.csv", make_link_to_zeros),
    CostlyFile("weights", "header.safetensors", hole(10**8, (99_000_000).to_bytes(8, "little"))),
    CostlyFile("weights", "pipe.safetensors", make_pipe),
    CostlyFile("digits", "t10k-images-idx3-ubyte.gz", make_pipe),
    CostlyFile("records", "train.bin", make_link_to_zeros),
    CostlyFile("drawings", "images_background.zip", lying_drawing),
    CostlyFile("archive", "zeros.tar.gz", zeros_in_a_tar),
]
"""Small files that explode, and what is no file. Only these are harmless: they are read."""
HARMLESS = {"line.png", "strip.png", "profiles.png"}


def largest_image(form: str, mode: str, **options: Any) -> Make:
    """As many pixels as are read, with little in them that would help a decoder."""

    def make(path: Path) -> None:
        side = int(PIXEL_LIMIT**0.5)
        noise = np.random.default_rng(0).integers(256, size=(side, side, 4), dtype=np.uint8)
        noise[..., 1:] >>= 2
        image = Image.fromarray(noise)
        if mode == "I;16":
            image = Image.fromarray(noise.view(np.uint16)[..., 0])
        elif mode != "RGBA":
            image = image.convert("RGB").convert(mode)
        image.save(path, form, **options)

    return make


def largest_images() -> list[CostlyFile]:
    packed: dict[str, Any] = {"quality": 80, "progressive": True, "subsampling": 0}
    kinds: list[tuple[str, str, dict[str, Any]]] = [
        ("PNG", "RGBA", {"compress_level": 1}),
        ("PNG", "I;16", {"compress_level": 1}),
        ("PNG", "LA", {"compress_level": 1}),
        ("JPEG", "RGB", packed),
        ("JPEG", "CMYK", packed),
        ("GIF", "P", {}),
        ("BMP", "RGB", {}),
        ("TIFF", "RGBA", {}),
        ("TIFF", "RGB", {"compression": "tiff_adobe_deflate"}),
    ]
    return [
        CostlyFile(kind, f"largest {mode}.{form.lower()}", largest_image(form, mode, **options))
        for form, mode, options in kinds
        for kind in ("image", "training image")
    ]


def of_parts(part: bytes) -> Make:
    """A JSON file of nearly the largest size that is read, of the same small part."""
    return holding(lambda: b'{"a":[' + (part * (9_900_000 // len(part)))[:-1] + b"]}")


def runs_of_one_pixel(path: Path) -> None:
    """A BMP of 49 megapixels, packed in runs that have one pixel each."""
    header = struct.pack("<IHHI", 0, 0, 0, 54 + 1024)
    image = struct.pack("<IiiHHIIiiII", 40, 7_000, 7_000, 1, 8, 1, 0, 0, 0, 256, 0)
    path.write_bytes(b"BM" + header + image + bytes(1024) + b"\1\1" * 40_000_000)


def drawings_with_texts(path: Path) -> None:
    """As many drawings as there should be, with texts that would unpack to much more."""
    drawing = bombs.png(105, 105, before=bombs.png_chunk(b"zTXt", b"x\0\0" + bombs.PACKED) * 3)
    characters = [f"images_background/A/character{number:03}" for number in range(964)]
    names = [f"{place}/0001_{drawer:02}.png" for place in characters for drawer in range(20)]
    path.write_bytes(zipped(dict.fromkeys(names, drawing)))


def lying_avif(path: Path) -> None:
    if features.check("avif"):
        path.write_bytes(bombs.avif_of_another_size(Image.new("RGB", (12_000, 12_000)), 64, 64))


_MANY = 4_000_000
COSTLIEST = [
    CostlyFile("image", "chunks.png", with_chunks(b"abCd", b"", _MANY)),
    CostlyFile("image", "late chunks.png", with_chunks(b"abCd", b"", _MANY, "after")),
    CostlyFile("image", "parts.png", with_chunks(b"IDAT", b"", _MANY)),
    CostlyFile("image", "profiles.png", with_chunks(b"iCCP", b"x\0\0" + bombs.PACKED, 20_000)),
    CostlyFile(
        "image",
        "filling.jpg",
        holding(lambda: bombs.with_segments(bombs.jpeg(), b"\xff" * 50_000_000)),
    ),
    CostlyFile(
        "image",
        "comments.gif",
        holding(lambda: b"GIF89a\x08\0\x08\0\0\0\0\x21\xfe" + b"\1x" * 10 * _MANY),
    ),
    CostlyFile("image", "comment.ppm", holding(lambda: b"P6 #" + b"x" * 10 * _MANY)),
    CostlyFile(
        "image", "numbers.ppm", holding(lambda: b"P3 4000 4000 255\n" + b"1 2 3 " * 4 * _MANY)
    ),
    CostlyFile("image", "odd.ppm", holding(lambda: b"P6 4000 4000 254\n" + bytes(12 * _MANY))),
    CostlyFile("image", "runs.bmp", runs_of_one_pixel),
    CostlyFile("image", "lying.avif", lying_avif),
    CostlyFile("json", "lists.json", of_parts(b"[],")),
    CostlyFile("json", "objects.json", of_parts(b"{},")),
    CostlyFile("json", "nested.json", of_parts(b"[[[[]]]],")),
    CostlyFile("json", "names.json", of_parts(b'{"":0},')),
    CostlyFile("json", "numbers.json", of_parts(b"333,")),
    CostlyFile(
        "curve", "rows.csv", holding(lambda: b"epoch,loss,accuracy\n" + b"1,2,3\n" * 499_000)
    ),
    CostlyFile(
        "digits", "t10k-images-idx3-ubyte.gz", holding(lambda: gzip.compress(b"") * 390_000)
    ),
    CostlyFile("drawings", "images_background.zip", drawings_with_texts),
    CostlyFile(
        "archive",
        "members.tar.gz",
        holding(lambda: gzip.compress(tarfile.TarInfo("x").tobuf() * 500_000, 1)),
    ),
    *largest_images(),
]
"""Files that take as long and as much as they may."""
