"""Pillow images from files that may come from anyone, decoded within limits of memory and time.

    with Decoder() as decoder:
        image = decoder.decode(content)        # the first image, loaded and the right way up
        stored, orientation = decoder.decode_stored(content)  # as it is in the file

What an image may cost is in limits.py, for each use; one that would cost more is a
`TooCostlyError`. Any other error means that the file is broken: Pillow's readers raise errors of a
dozen kinds.
"""

import io
import time
import warnings
from types import TracebackType

from PIL import Image, WebPImagePlugin  # noqa: F401 - Pillow itself imports the other formats

from fine.images.confined import ConfinedDecoder, is_confined
from fine.images.jpeg import exif_length, has_more_scans
from fine.images.limits import (
    EXIF_LIMIT,
    SCAN_LIMIT,
    STANDARD,
    Limits,
    TooCostlyError,
)

# A list, because Pillow would also try formats that start other programs (EPS runs Ghostscript).
_FORMATS = ("PNG", "JPEG", "GIF", "BMP", "WEBP", "PPM")
_QUICK = 250_000  # bytes: no file of this size keeps a reader busy, however odd it is
_ORIENTATION = 0x0112  # of EXIF
_UPRIGHT = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}


class Decoder:
    """Decodes image after image; the block ends the process that it may have started for some."""

    def __init__(self, limits: Limits = STANDARD) -> None:
        self._limits = limits
        self._confined = ConfinedDecoder(limits)

    def __enter__(self) -> "Decoder":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._confined.close()

    def decode(self, content: bytes, *, enough: int = 0) -> Image.Image:
        """The first image in a file, loaded, and rotated as its EXIF data says.

        A JPEG whose sides are twice ``enough`` or more is decoded at a half, a quarter or an eighth
        of its size, with sides of at least ``enough``: the mean of 2, 4 or 8 pixels each way, in a
        fraction of the time. 0 decodes it whole.
        """
        return upright(*self.decode_stored(content, enough=enough))

    def decode_stored(self, content: bytes, *, enough: int = 0) -> tuple[Image.Image, int]:
        """The first image as it lies in the file, and its orientation as its EXIF data says.

        It has the format, profiles and, of a JPEG file, the tables of quantisation that it had.
        """
        if len(content) > self._limits.file:
            raise TooCostlyError(f"has more than {self._limits.file // 1_000_000} megabytes")
        if is_confined(content):
            return self._confined.decode(content)
        return _decode(content, self._limits, enough)


def upright(image: Image.Image, orientation: int) -> Image.Image:
    """An image rotated as its orientation says."""
    turn = _UPRIGHT.get(orientation)
    return image if turn is None else image.transpose(turn)


def _decode(content: bytes, limits: Limits, enough: int) -> tuple[Image.Image, int]:
    """The first image in a file, and its orientation as its EXIF data says."""
    _check_exif_of_jpeg(content)
    file = io.BytesIO(content) if len(content) <= _QUICK else _Watched(content, limits.seconds)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of large images and odd metadata: the limits decide
        try:
            image = Image.open(file, formats=_FORMATS)
        except Image.DecompressionBombError:
            raise _too_large(limits.pixels) from None
        limit = limits.pixels
        if image.format == "WEBP":
            limit //= 2  # its decoder keeps four copies of the pixels
        if image.width * image.height > limit:
            raise _too_large(limit)
        if image.format in ("JPEG", "MPO"):
            _check_scans(image, content, place=file.tell(), scanned=limits.scanned)
        if enough:
            image.draft(None, (enough, enough))  # of JPEG alone
        del content  # as large as the image, perhaps
        image.load()
        file.close()
        _check_exif(image)
        return image, image.getexif().get(_ORIENTATION, 1)


class _Watched(io.BytesIO):
    """A file that is read no further when its reader has used up its time."""

    def __init__(self, content: bytes, seconds: int):
        super().__init__(content)
        self._seconds = seconds
        self._until = time.thread_time() + seconds

    def read(self, size: int | None = -1, /) -> bytes:
        if time.thread_time() > self._until:
            raise TooCostlyError(f"takes more than {self._seconds} seconds to decode")
        return super().read(size)


def _too_large(limit: int) -> TooCostlyError:
    return TooCostlyError(f"has more than {limit // 1_000_000} megapixels")


def _check_scans(image: Image.Image, content: bytes, *, place: int, scanned: int) -> None:
    """Refuse a JPEG file with many scans; ``place`` is behind the header of the first scan."""
    if "progressive" not in image.info:
        channels = len(image.getbands())
        header = content[place - 2 * channels - 6 : place]  # of a scan of all channels
        if header[:3] == bytes([0, 2 * channels + 6, channels]):
            return  # such a file is decoded in one scan, whatever follows
    most = min(SCAN_LIMIT, scanned // max(1, image.width * image.height))
    if has_more_scans(content, most):
        raise TooCostlyError(f"has more than {most} scans, which take too long to decode")


def _check_exif_of_jpeg(content: bytes) -> None:
    """Refuse a JPEG file with much EXIF data, which Pillow looks at when it opens the file."""
    if len(content) > EXIF_LIMIT and content.startswith(b"\xff\xd8\xff"):
        _check_exif_length(exif_length(content))


def _check_exif(image: Image.Image) -> None:
    """Refuse an image with much EXIF data before anything looks at it."""
    _check_exif_length(len(image.info.get("exif", b"")))
    _check_exif_length(len(image.info.get("Raw profile type exif", "")) // 2)  # in hexadecimal


def _check_exif_length(length: int) -> None:
    if length > EXIF_LIMIT:
        raise TooCostlyError(f"has {length:,} bytes of EXIF data, more than {EXIF_LIMIT:,}")
