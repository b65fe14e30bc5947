"""What an image file was besides its pixels, so that its result can be written in the same way.

    kept = file_format(stored, content)       # the format, and options for Pillow's save
    kept.save(result, path)

Kept are the format, the ICC profile, EXIF and XMP data, the resolution; of a JPEG the tables of
quantisation, which are its quality, the subsampling, and whether it is progressive; of a PNG its
texts; of a TIFF its compression; of a WebP whether it is lossless. EXIF data loses its orientation,
for the result is upright, and its thumbnail, which shows the image as it was.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from PIL import Image, JpegImagePlugin, PngImagePlugin

from fine.apply.settings import TRANSPARENT
from fine.errors import FineError

QUALITY = 90
"""Of a lossy WebP or AVIF file, which does not say its own."""

_ORIENTATION, _SUB_IFD = 0x0112, 0x8769
_SIZES = (0xA002, 0xA003)  # width and height, in the EXIF data of a camera
_IN_XMP = re.compile(
    rb'tiff:Orientation="[0-9]"|<tiff:Orientation>[0-9]</tiff:Orientation>', re.IGNORECASE
)
_OPAQUE = ("JPEG", "PPM")
_COLOUR_TYPES = (2, 4, 6)  # of PNG: those that Pillow has 8 bits for
_LARGEST_TEXT = 100_000  # characters
_HIGHEST_RESOLUTION = 65_535  # points an inch, as a JPEG can say
_REDUCED = "colour of 16 bits, of which Pillow keeps 8"
_NO_EXIF = "EXIF data that is broken, which is left out"


@dataclass(frozen=True)
class FileFormat:
    """A format, and how a file of it is written."""

    name: str
    """As Pillow calls it."""
    options: dict[str, Any]
    notes: tuple[str, ...] = ()
    """What cannot be kept, as in "has …"."""

    def check_background(self, background: str) -> None:
        """Refuse a transparent background where the format has none."""
        if background == TRANSPARENT and self.name in _OPAQUE:
            raise FineError(f"a {self.name} file cannot be transparent: give another background")

    def save(self, image: Image.Image, path: Path | IO[bytes]) -> None:
        """Write an image to a path of any name, or to an open file."""
        try:
            image.save(path, format=self.name, **self.options)
        except Exception as problem:  # Pillow's writers, too, raise errors of many kinds
            if isinstance(problem, MemoryError) or getattr(problem, "errno", None) is not None:
                raise  # of the machine, not of the image
            raise FineError(
                f"an image of mode {image.mode} cannot be written as {self.name} ({problem})"
            ) from problem


def file_format(stored: Image.Image, content: bytes) -> FileFormat:
    """The format of a file, from the image that `Decoder.decode_stored` made of its content."""
    name = "JPEG" if stored.format == "MPO" else str(stored.format)
    options, notes = _profiles(stored)
    options |= _OPTIONS.get(name, _no_options)(stored, content)
    if _has_16_bits_of_colour(stored, content):
        notes = (*notes, _REDUCED)
    return FileFormat(name, options, notes)


def _profiles(stored: Image.Image) -> tuple[dict[str, Any], tuple[str, ...]]:
    """What every format may have; Pillow ignores what this one has not."""
    options: dict[str, Any] = {}
    notes: tuple[str, ...] = ()
    if profile := stored.info.get("icc_profile"):
        options["icc_profile"] = profile
    if exif := stored.info.get("exif"):
        try:
            options["exif"] = _upright_exif(exif)
        except Exception:  # Pillow's reader of EXIF data raises errors of many kinds
            notes = (_NO_EXIF,)
    if isinstance(xmp := stored.info.get("xmp"), bytes):
        options["xmp"] = _IN_XMP.sub(b"", xmp)
    if dpi := _resolution(stored):
        options["dpi"] = dpi
    return options, notes


def _resolution(stored: Image.Image) -> tuple[float, float] | None:
    """Points an inch, if they are numbers that every format can hold."""
    try:
        across, down = (float(value) for value in stored.info["dpi"])
    except (KeyError, TypeError, ValueError, ArithmeticError):
        return None
    is_sound = min(across, down) > 0 and max(across, down) <= _HIGHEST_RESOLUTION
    return (across, down) if is_sound else None


def _upright_exif(content: bytes) -> bytes:
    exif = Image.Exif()
    exif.load(content)
    exif.pop(_ORIENTATION, None)
    of_camera = exif.get_ifd(_SUB_IFD)
    for size in _SIZES:
        of_camera.pop(size, None)
    return exif.tobytes()


def _no_options(stored: Image.Image, content: bytes) -> dict[str, Any]:
    return {}


def _of_jpeg(stored: Image.Image, content: bytes) -> dict[str, Any]:
    assert isinstance(stored, JpegImagePlugin.JpegImageFile)
    options: dict[str, Any] = {
        "qtables": stored.quantization,
        "subsampling": JpegImagePlugin.get_sampling(stored),
        "progressive": "progressive" in stored.info,
    }
    if comment := stored.info.get("comment"):
        options["comment"] = comment
    return options


def _of_png(stored: Image.Image, content: bytes) -> dict[str, Any]:
    texts = PngImagePlugin.PngInfo()
    for key, value in getattr(stored, "text", {}).items():
        is_profile = key.startswith("Raw profile") or key == "XML:com.adobe.xmp"
        if not is_profile and len(value) <= _LARGEST_TEXT:
            texts.add_itxt(key, str(value))
    return {"pnginfo": texts}


def _of_webp(stored: Image.Image, content: bytes) -> dict[str, Any]:
    return {"lossless": True} if b"VP8L" in content[:4096] else {"quality": QUALITY}


def _of_avif(stored: Image.Image, content: bytes) -> dict[str, Any]:
    return {"quality": QUALITY}


def _of_tiff(stored: Image.Image, content: bytes) -> dict[str, Any]:
    compression = stored.info.get("compression")
    if compression in (None, "raw"):
        return {}
    # Pillow cannot write the old kind of JPEG in TIFF.
    return {"compression": "jpeg" if compression == "tiff_jpeg" else compression}


_OPTIONS: dict[str, Callable[[Image.Image, bytes], dict[str, Any]]] = {
    "JPEG": _of_jpeg,
    "PNG": _of_png,
    "WEBP": _of_webp,
    "AVIF": _of_avif,
    "TIFF": _of_tiff,
}


def _has_16_bits_of_colour(stored: Image.Image, content: bytes) -> bool:
    if stored.format == "PNG":
        depth, colour_type = content[24], content[25]
        return depth == 16 and colour_type in _COLOUR_TYPES
    if stored.format == "TIFF":
        return stored.info.get("bits") == 16 and not stored.mode.startswith("I;16")
    if stored.format == "PPM" and content.startswith(b"P6"):
        header = re.sub(rb"#[^\n]*\n", b" ", content[:1000]).split(maxsplit=4)
        return len(header) > 3 and int(header[3]) > 255
    return False
