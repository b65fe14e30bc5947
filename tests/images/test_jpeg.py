"""What JPEG files will cost, by their markers."""

import io

import pytest
from PIL import Image

from fine.images.jpeg import exif_length, has_more_scans
from fine.images.limits import SEGMENT_LIMIT, TooCostlyError
from support.bombs import exif, exif_segments, jpeg, segment, with_scans, with_segments


@pytest.mark.parametrize(
    ("mode", "progressive", "scans"),
    [("L", False, 1), ("RGB", False, 1), ("L", True, 6), ("RGB", True, 10)],
)
def test_scans_are_counted(mode: str, progressive: bool, scans: int) -> None:
    content = jpeg(mode, progressive=progressive)
    assert has_more_scans(content, scans - 1) and not has_more_scans(content, scans)


def test_many_scans_are_counted() -> None:
    assert not has_more_scans(with_scans(94), 100)
    assert has_more_scans(with_scans(95), 100) and has_more_scans(with_scans(2_000), 100)


def test_what_only_looks_like_a_scan_is_not_counted() -> None:
    """It is in a thumbnail inside the EXIF data, and by chance in a video behind the image."""
    thumbnails = segment(0xE1, b"Exif\0\0" + b"\xff\xda\0\x08" * 500)
    assert not has_more_scans(with_segments(jpeg(), thumbnails), 1)
    assert not has_more_scans(jpeg() + b"\xff\xda\0\x08" * 500, 1)


def test_restart_markers_are_no_segments() -> None:
    content = jpeg("RGB", (640, 640), restart_marker_blocks=1)
    assert content.count(b"\xff\xd0") > 100
    assert not has_more_scans(content + b"\xff\xda" * 500, 1)


def test_exif_data_is_measured_over_all_segments() -> None:
    assert exif_length(jpeg()) == 0
    assert exif_length(with_segments(jpeg(), exif_segments(50_000))) == 50_006
    assert exif_length(with_segments(jpeg(), exif_segments(150_000))) == 150_018
    late = with_segments(jpeg(), b"junk\xff\xff\xff\xd9" + exif_segments(150_000))
    assert exif_length(late) == 150_018  # Pillow skips junk and goes on, and so do we
    tagged = io.BytesIO()
    Image.new("L", (8, 8)).save(tagged, "JPEG", exif=b"Exif\0\0" + exif(1000))
    assert exif_length(tagged.getvalue()) == 1006


def test_segments_without_end_are_refused() -> None:
    content = with_segments(jpeg(), segment(0xFE, b"") * SEGMENT_LIMIT)
    with pytest.raises(TooCostlyError, match="has more than 5,000 segments"):
        exif_length(content)


@pytest.mark.parametrize("filling", [b"\0", b"\xff", b"\xff\0", b"\xff\xd0"])
def test_filling_is_skipped_at_once(filling: bytes) -> None:
    """A megabyte takes milliseconds; if each byte were looked at from all others, an hour."""
    content = with_segments(jpeg(), filling * 1_000_000)
    assert exif_length(content) == 0 and not has_more_scans(content + b"\xff\xda" * 500, 1)


@pytest.mark.parametrize("content", [b"", b"\xff\xd8", b"\xff\xd8\xff", b"\xff\xd8\xff\xe1\xff"])
def test_what_ends_early_has_nothing(content: bytes) -> None:
    assert exif_length(content) == 0 and not has_more_scans(content, 0)
