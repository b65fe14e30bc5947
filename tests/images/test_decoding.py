"""Image files are decoded within limits, and as before where they keep to them."""

import io
import struct
import zlib
from collections.abc import Iterator

import numpy as np
import pytest
from PIL import Image, ImageOps, features

from fine.images.decoding import Decoder
from fine.images.limits import FULL_SIZE, Limits, TooCostlyError
from support.bombs import (
    exif,
    exif_segments,
    jpeg,
    png,
    png_chunk,
    profiles,
    segment,
    with_scans,
    with_segments,
)


@pytest.fixture(scope="module")
def decoder() -> Iterator[Decoder]:
    with Decoder() as decoder:
        yield decoder


def encoded(image: Image.Image, kind: str, **options: object) -> bytes:
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


NOISE = np.random.default_rng(0).integers(256, size=(30, 40, 4), dtype=np.uint8)
MODES = ("1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "I;16", "I", "F")
OPTIONAL = {"WEBP": "webp", "JPEG2000": "jpg_2000", "AVIF": "avif"}
KINDS = ["PNG", "JPEG", "GIF", "BMP", "PPM", "TIFF"]
KINDS += [kind for kind, feature in OPTIONAL.items() if features.check(feature)]


def noise(mode: str) -> Image.Image:
    if mode == "I;16":
        return Image.fromarray(NOISE[..., 0] * np.uint16(257))
    image = Image.fromarray(NOISE)
    return image if mode in ("RGBA", "LA") else image.convert("RGB").convert(mode)


@pytest.mark.parametrize("kind", KINDS)
def test_images_are_decoded_as_pillow_does(decoder: Decoder, kind: str) -> None:
    tried = 0
    for mode in MODES:
        try:
            content = encoded(noise(mode), kind)
        except (OSError, ValueError):
            continue  # the format has no such mode
        with Image.open(io.BytesIO(content)) as wanted:
            found = decoder.decode(content)
            assert (found.mode, found.size) == (wanted.mode, wanted.size)
            assert found.has_transparency_data == wanted.has_transparency_data
            assert found.tobytes() == wanted.tobytes()
            if mode == "P":
                assert found.convert("RGBA").tobytes() == wanted.convert("RGBA").tobytes()
        tried += 1
    assert tried >= 2


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "TIFF", *KINDS[6:7]])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_images_are_upright(decoder: Decoder, kind: str, orientation: int) -> None:
    tags = Image.Exif()
    tags[0x0112] = orientation
    content = encoded(noise("RGB"), kind, exif=tags)
    wanted = ImageOps.exif_transpose(Image.open(io.BytesIO(content)))
    found = decoder.decode(content)
    assert found.size == wanted.size and found.tobytes() == wanted.tobytes()


@pytest.mark.parametrize(
    "options",
    [{}, {"progressive": True}, {"restart_marker_blocks": 1}, {"quality": 95, "subsampling": 0}],
    ids=["usual", "progressive", "restarts", "fine"],
)
def test_usual_jpeg_files_are_decoded(decoder: Decoder, options: dict) -> None:
    content = encoded(noise("RGB").resize((600, 400)), "JPEG", **options)
    wanted = Image.open(io.BytesIO(content)).tobytes()
    assert decoder.decode(content).tobytes() == wanted
    assert decoder.decode(content + bytes(300_000)).tobytes() == wanted  # a larger file


def in_scans_of_one_channel(count: int) -> bytes:
    """A JPEG file of three channels, not progressive, with ``count`` scans of the first."""
    whole = jpeg()
    start, scan = whole.index(b"\xff\xc0"), whole.rindex(b"\xff\xda")
    frame = struct.pack(">BHHB", 8, 64, 64, 3) + b"\1\x11\0" + b"\2\x11\0" + b"\3\x11\0"
    tables = whole[start + 2 + 11 : scan]  # behind the frame of one channel
    return whole[:start] + segment(0xC0, frame) + tables + whole[scan:-2] * count + whole[-2:]


@pytest.mark.parametrize(
    ("content", "said"),
    {
        "scans": (with_scans(2_000), "scans, which take too long"),
        "scans of many pixels": (with_scans(60, (5_000, 4_000)), "scans, which take too long"),
        "scans of a plain file": (in_scans_of_one_channel(2_000), "scans, which take too long"),
        "pixels": (png(10_000, 5_001), "more than 50 megapixels"),
        "segments": (with_segments(jpeg(), segment(0xFE, b"x" * 20) * 6_000), "5,000 segments"),
        "exif in segments": (with_segments(jpeg(), exif_segments(150_000)), "bytes of EXIF data"),
        "exif": (png(8, 8, before=png_chunk(b"eXIf", exif(150_000))), "bytes of EXIF data"),
        "late exif": (png(8, 8, after=png_chunk(b"eXIf", exif(150_000))), "bytes of EXIF data"),
        "exif as text": (
            png(
                8,
                8,
                before=png_chunk(
                    b"zTXt",
                    b"Raw profile type exif\0\0"
                    + zlib.compress(b"\nexif\n  150000\n" + exif(150_000).hex().encode()),
                ),
            ),
            "bytes of EXIF data",
        ),
    }.values(),
)
def test_a_costly_image_is_refused_undecoded(decoder: Decoder, content: bytes, said: str) -> None:
    assert len(content) < 1_000_000
    with pytest.raises(TooCostlyError, match=said):
        decoder.decode(content)


@pytest.mark.parametrize(
    "content",
    {
        "profiles": png(8, 8, before=profiles(300)),
        "chunks": png(8, 8, before=png_chunk(b"abCd", b"") * 30_000),
        "late chunks": png(8, 8, after=png_chunk(b"abCd", b"") * 30_000),
        "comments": b"GIF89a\x08\0\x08\0\0\0\0\x21\xfe" + b"\1x" * 200_000,
        "numbers": b"P6 400 400 254\n" + bytes(480_000),  # read pixel by pixel
        "filling": with_segments(jpeg(), b"\xff" * 300_000),
    }.values(),
    ids=["profiles", "chunks", "late chunks", "comments", "numbers", "filling"],
)
def test_a_reader_is_stopped_when_its_time_is_over(content: bytes) -> None:
    with (
        Decoder(Limits(seconds=0.02)) as decoder,
        pytest.raises(TooCostlyError, match="seconds to decode"),
    ):
        decoder.decode(content)


def test_a_file_that_is_too_large_is_refused() -> None:
    with (
        Decoder(Limits(file=1_000_000)) as decoder,
        pytest.raises(TooCostlyError, match="has more than 1 megabytes"),
    ):
        decoder.decode(png(8, 8) + bytes(1_000_000))


def test_at_full_size_an_image_may_have_more_pixels() -> None:
    content = encoded(Image.new("1", (10_000, 5_001)), "PNG")
    with Decoder() as decoder, pytest.raises(TooCostlyError, match="50 megapixels"):
        decoder.decode(content)
    with Decoder(FULL_SIZE) as decoder:
        assert decoder.decode(content).size == (10_000, 5_001)


def test_an_image_as_it_is_stored_has_what_its_file_says(decoder: Decoder) -> None:
    turned = Image.Exif()
    turned[0x0112] = 6
    content = encoded(noise("RGB"), "JPEG", exif=turned, icc_profile=b"profile", quality=40)
    image, orientation = decoder.decode_stored(content)
    assert (image.format, image.size, orientation) == ("JPEG", (40, 30), 6)
    assert image.info["icc_profile"] == b"profile" and image.quantization
    assert decoder.decode(content).size == (30, 40)


@pytest.mark.parametrize("kind", ["GIF", "PNG", "WEBP"])
def test_of_many_frames_only_the_first_is_decoded(decoder: Decoder, kind: str) -> None:
    frames = [Image.new("RGB", (8, 8), (number, 0, 0)) for number in range(60)]
    options = {"lossless": True} if kind == "WEBP" else {}
    content = encoded(frames[0], kind, save_all=True, append_images=frames[1:], **options)
    found = decoder.decode(content).convert("RGB")
    assert found.getpixel((0, 0)) == (0, 0, 0)


@pytest.mark.parametrize("content", [b"", b"text", b"%!PS-Adobe-3.0 EPSF-3.0\n", png(8, 8)[:40]])
def test_what_is_broken_is_no_matter_of_cost(decoder: Decoder, content: bytes) -> None:
    with pytest.raises(Image.UnidentifiedImageError):
        decoder.decode(content)


def test_a_large_jpeg_is_decoded_no_larger_than_needed(decoder: Decoder) -> None:
    coarse = np.random.default_rng(0).integers(256, size=(12, 16, 3), dtype=np.uint8)
    photo = Image.fromarray(coarse).resize((800, 600), Image.Resampling.BICUBIC)
    content = encoded(photo, "JPEG", quality=95, subsampling=0)
    whole = decoder.decode(content)
    sizes = {enough: decoder.decode(content, enough=enough).size for enough in (100, 200, 400)}
    assert whole.size == (800, 600)
    assert sizes == {100: (200, 150), 200: (400, 300), 400: (800, 600)}
    small = [
        np.asarray(image.resize((16, 12), Image.Resampling.BOX)).astype(int)
        for image in (whole, decoder.decode(content, enough=100))
    ]
    assert abs(small[0] - small[1]).max() <= 8  # of 255: values cut off at 0 and 255


def test_other_formats_are_decoded_whole(decoder: Decoder) -> None:
    assert decoder.decode(encoded(noise("RGB"), "PNG"), enough=8).size == (40, 30)
