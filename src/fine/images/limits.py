"""What an image file may cost: any that would take more than a gigabyte or 5 seconds is refused."""

from dataclasses import dataclass

FILE_LIMIT = 220_000_000
"""Bytes of a file; 50 megapixels in four channels have 200 million."""
PIXEL_LIMIT = 50_000_000
"""An image with more pixels is refused undecoded: a small file can unpack to gigabytes."""
SECONDS = 4
"""Seconds of processor time to decode an image; what is done with it afterwards takes one at most.
"""
MEMORY = 1_000_000_000
"""Bytes that a process may have which decodes an image."""
SCAN_LIMIT = 100
"""Scans of a JPEG file; those that are usual have one or ten."""
SCANNED_LIMIT = 1_000_000_000
"""Pixels of a JPEG file, over all its scans."""
SEGMENT_LIMIT = 5_000
"""Segments of a JPEG file, of up to 64 kB each."""
EXIF_LIMIT = 100_000
"""Bytes of EXIF data: each of its entries may refer to nearly all of them, and is then copied."""


@dataclass(frozen=True)
class Limits:
    """What one use of images allows a file to cost."""

    file: int = FILE_LIMIT
    pixels: int = PIXEL_LIMIT
    scanned: int = SCANNED_LIMIT
    seconds: int = SECONDS
    memory: int = MEMORY


STANDARD = Limits()
"""For images that are reduced to what a model sees."""
FULL_SIZE = Limits(
    file=500_000_000,
    pixels=120_000_000,
    scanned=2_400_000_000,
    seconds=30,
    memory=2_500_000_000,
)
"""For photographs that are kept at their size; cameras have up to 102 megapixels."""


class TooCostlyError(Exception):
    """An image over a limit. The text says which, as in "has more than 50 megapixels"."""
