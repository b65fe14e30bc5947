"""What a JPEG file will cost to decode, found by following its markers, before any decoding.

    has_more_scans(content, 100)    # a decoder goes over all pixels once for every scan
    exif_length(content)            # bytes of EXIF data, over all segments that hold some

A file of a few hundred kilobytes may have thousands of scans, each of them empty.
"""

import re
from collections.abc import Iterator
from itertools import takewhile

from fine.images.limits import SEGMENT_LIMIT, TooCostlyError

_SOS, _EOI, _APP1 = 0xDA, 0xD9, 0xE1
# In compressed data, 0xFF is followed by 0 or a restart marker (D0 to D7); the rest are markers.
_MARKER = re.compile(rb"\xff[^\x00\xd0-\xd7\xff]")
_SCAN = re.compile(rb"\xff\xda")
_WITHOUT_LENGTH = {0x01, 0xC8, 0xD8, _EOI, *range(0xF0, 0xFE)}
_EXIF = b"Exif\0\0"


def has_more_scans(content: bytes, most: int) -> bool:
    """Whether the image has more scans than ``most``."""
    # The bytes of the marker are also in thumbnails, and by chance in a video behind the image. But
    # following the markers takes long where there is much data.
    if len(_SCAN.findall(content)) <= most:
        return False
    count = 0
    for marker, _, _ in takewhile(lambda segment: segment[0] != _EOI, _segments(content)):
        count += marker == _SOS
        if count > most:
            return True
    return False


def exif_length(content: bytes) -> int:
    """Bytes of EXIF data before the first scan."""
    length = 0
    for marker, start, end in takewhile(lambda segment: segment[0] != _SOS, _segments(content)):
        if marker == _APP1 and content.startswith(_EXIF, start):
            length += end - start
    return length


def _segments(content: bytes) -> Iterator[tuple[int, int, int]]:
    """Marker, start and end of every segment; what lies between segments is skipped."""
    place = 2  # behind the marker that starts the file
    for _ in range(SEGMENT_LIMIT):
        match = _MARKER.search(content, place)
        if match is None:
            return
        marker, start = content[match.end() - 1], match.end()
        place = start
        if marker not in _WITHOUT_LENGTH:
            place += max(2, int.from_bytes(content[start : start + 2], "big"))
            start += 2
        yield marker, start, min(place, len(content))
    raise TooCostlyError(f"has more than {SEGMENT_LIMIT:,} segments")
