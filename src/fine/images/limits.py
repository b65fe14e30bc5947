"""What an image file may cost: any that would take more than a gigabyte or 5 seconds is refused."""

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


class TooCostlyError(Exception):
    """An image over a limit. The text says which, as in "has more than 50 megapixels"."""
