"""One file: what it is besides pixels stays as it was, and what cannot be done is one line."""

import io
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageCms, JpegImagePlugin, PngImagePlugin, features

from fine.apply import Settings
from fine.apply.photo import apply_to_file, read_photo
from fine.errors import FineError
from fine.images.decoding import Decoder
from fine.images.limits import FULL_SIZE
from support.point_maps import rotation

NOISE = np.random.default_rng(0).integers(256, size=(60, 80, 3), dtype=np.uint8)
SRGB = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
ORIENTATION, ARTIST = 0x0112, 0x013B
OPTIONAL = {"WEBP": "webp", "AVIF": "avif", "JPEG2000": "jpg_2000"}


@pytest.fixture(scope="module")
def decoder():
    with Decoder(FULL_SIZE) as decoder:
        yield decoder


def photograph(mode: str = "RGB") -> Image.Image:
    return Image.fromarray(NOISE).resize((160, 120), Image.Resampling.BICUBIC).convert(mode)


def camera_exif(orientation: int = 1) -> Image.Exif:
    exif = Image.Exif()
    exif[ORIENTATION] = orientation
    exif[ARTIST] = "Ada"
    exif.get_ifd(0x8769).update({0x9003: "2026:01:02 03:04:05", 0xA002: 160, 0xA003: 120})
    return exif


def applied(source: Path, decoder: Decoder, degrees: float = 90, **settings: str) -> Image.Image:
    """The result of a file, as Pillow opens it."""
    target = source.with_name(f"done-{source.name}")
    apply_to_file(source, target, rotation(degrees), Settings(**settings), decoder)
    return opened(target)


def opened(path: Path) -> Image.Image:
    image = Image.open(io.BytesIO(path.read_bytes()))
    image.load()
    return image


@pytest.mark.parametrize(
    ("subsampling", "progressive", "mode"),
    [(0, False, "RGB"), (1, False, "RGB"), (2, True, "RGB"), (-1, False, "L"), (-1, False, "CMYK")],
)
def test_a_jpeg_keeps_quality_subsampling_and_profiles(
    subsampling, progressive, mode, tmp_path, decoder
):
    options = {"subsampling": subsampling, "progressive": progressive, "dpi": (300, 300)}
    source = tmp_path / "a.jpg"
    photograph(mode).save(
        source, quality=83, exif=camera_exif(), icc_profile=SRGB, comment=b"hello", **options
    )
    before, after = opened(source), applied(source, decoder, canvas="expand")
    assert (after.format, after.mode, after.size) == ("JPEG", mode, (120, 160))
    assert after.quantization == before.quantization
    assert JpegImagePlugin.get_sampling(after) == JpegImagePlugin.get_sampling(before)
    assert ("progressive" in after.info) == progressive
    assert after.info["icc_profile"] == SRGB and after.info["comment"] == b"hello"
    assert after.info["dpi"] == (300, 300)
    assert after.getexif()[ARTIST] == "Ada"
    of_camera = after.getexif().get_ifd(0x8769)
    assert of_camera[0x9003] == "2026:01:02 03:04:05" and 0xA002 not in of_camera


def test_an_image_is_upright_before_anything_is_done_to_it(tmp_path, decoder):
    upright = Image.new("L", (160, 80))
    upright.paste(255, (120, 0, 160, 80))  # its right end
    source = tmp_path / "phone.png"
    exif = camera_exif(orientation=6)
    upright.transpose(Image.Transpose.ROTATE_90).save(source, exif=exif)
    assert opened(source).size == (80, 160)
    after = applied(source, decoder, degrees=180)
    assert after.size == (160, 80) and after.getexif().get(ORIENTATION, 1) == 1
    assert np.asarray(after)[:, :40].min() == 255 and np.asarray(after)[:, 40:].max() == 0


@pytest.mark.parametrize("kind", ["PNG", "GIF", "BMP", "PPM", "TIFF", "WEBP", "AVIF", "JPEG2000"])
def test_a_file_keeps_its_format_whatever_its_name(kind, tmp_path, decoder):
    if kind in OPTIONAL and not features.check(OPTIONAL[kind]):
        pytest.skip(f"this Pillow has no {kind}")
    source = tmp_path / "named.jpg"
    photograph().save(source, kind)
    after = applied(source, decoder, degrees=30)
    assert (after.format, after.size) == (kind, (160, 120))


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGBA", "I;16"])
@pytest.mark.parametrize("kind", ["PNG", "TIFF"])
def test_depth_and_alpha_are_kept(kind, mode, tmp_path, decoder):
    image = photograph("L").point(lambda value: value * 257, "I").convert("I;16")
    image = image if mode == "I;16" else photograph().convert(mode)
    source = tmp_path / "a.any"
    image.save(source, kind)
    after = applied(source, decoder, degrees=180)
    expected = image.convert("RGB") if mode == "P" else image
    assert after.mode == expected.mode
    assert np.array_equal(np.asarray(after), np.asarray(expected)[::-1, ::-1])


@pytest.mark.parametrize("resolution", [1e30, float("inf"), 0.0])
def test_a_resolution_that_no_file_can_have_is_left_out(resolution, tmp_path, decoder):
    source = tmp_path / "a.tif"
    photograph().save(source, resolution=resolution)
    after = applied(source, decoder, degrees=180)
    assert after.size == (160, 120) and after.info.get("dpi", (1, 1)) == (1, 1)


def test_a_png_keeps_texts_resolution_and_profile(tmp_path, decoder):
    texts = PngImagePlugin.PngInfo()
    texts.add_text("Author", "Ada")
    source = tmp_path / "a.png"
    photograph().save(source, pnginfo=texts, dpi=(96, 96), icc_profile=SRGB)
    after = applied(source, decoder)
    assert after.text["Author"] == "Ada" and after.info["icc_profile"] == SRGB
    assert after.info["dpi"] == pytest.approx((96, 96), abs=0.1)


def test_a_tiff_keeps_its_compression_and_profile(tmp_path, decoder):
    source = tmp_path / "a.tif"
    photograph().save(source, compression="tiff_lzw", dpi=(240, 240), icc_profile=SRGB)
    after = applied(source, decoder)
    assert after.info["compression"] == "tiff_lzw" and after.info["icc_profile"] == SRGB
    assert after.info["dpi"] == (240, 240)


@pytest.mark.skipif(not features.check("webp"), reason="this Pillow has no WebP")
def test_a_lossless_webp_stays_lossless(tmp_path, decoder):
    source = tmp_path / "a.webp"
    photograph().save(source, lossless=True, exif=camera_exif())
    after = applied(source, decoder, degrees=180)
    assert np.array_equal(np.asarray(after), np.asarray(photograph())[::-1, ::-1])
    assert after.getexif()[ARTIST] == "Ada"


def png_of_16_bits(side: int = 8) -> bytes:
    """A PNG of 16 bits for red, green and blue, which Pillow cannot write."""
    rows = b"".join(b"\0" + bytes(6 * 8) for _ in range(8))
    content = b"\x89PNG\r\n\x1a\n"
    chunks = ((b"IHDR", struct.pack(">IIBBBBB", side, side, 16, 2, 0, 0, 0)),)
    for name, data in (*chunks, (b"IDAT", zlib.compress(rows)), (b"IEND", b"")):
        content += struct.pack(">I", len(data)) + name + data
        content += struct.pack(">I", zlib.crc32(name + data))
    return content


def test_what_cannot_be_kept_is_said(tmp_path, decoder):
    source = tmp_path / "deep.png"
    source.write_bytes(png_of_16_bits())
    notes = apply_to_file(source, tmp_path / "done.png", rotation(90), Settings(), decoder)
    assert notes == ("colour of 16 bits, of which Pillow keeps 8",)
    source = tmp_path / "deep.ppm"
    source.write_bytes(b"P6\n# made by hand\n2 2\n65535\n" + bytes(24))
    notes = apply_to_file(source, tmp_path / "done.ppm", rotation(90), Settings(), decoder)
    assert notes == ("colour of 16 bits, of which Pillow keeps 8",)
    source = tmp_path / "broken.jpg"
    photograph().save(source, exif=b"Exif\0\0not what it should be")
    notes = apply_to_file(source, tmp_path / "done.jpg", rotation(90), Settings(), decoder)
    assert len(notes) <= 1 and (tmp_path / "done.jpg").exists()


def animation(path: Path, kind: str) -> None:
    frames = [Image.new("L", (8, 8), level) for level in (0, 99, 255)]
    frames[0].save(path, kind, save_all=True, append_images=frames[1:])


@pytest.mark.parametrize("kind", ["GIF", "PNG", "TIFF", "WEBP"])
def test_an_animation_is_refused_rather_than_cut_to_a_frame(kind, tmp_path, decoder):
    if kind in OPTIONAL and not features.check(OPTIONAL[kind]):
        pytest.skip(f"this Pillow has no {kind}")
    animation(tmp_path / "a.gif", kind)
    with pytest.raises(FineError, match=r"a\.gif has several frames or pages"):
        read_photo(tmp_path / "a.gif", decoder)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "missing: expected an image there"),
        (b"", "is empty"),
        (b"no image at all", "is not an image that can be read"),
        (png_of_16_bits()[:50], "is not an image that can be read"),
        (png_of_16_bits(12_000), "has more than 120 megapixels"),
    ],
    ids=["missing", "empty", "text", "cut", "large"],
)
def test_a_file_that_is_no_image_leaves_no_result(content, message, tmp_path, decoder):
    source, target = tmp_path / "a.png", tmp_path / "done" / "a.png"
    if content is not None:
        source.write_bytes(content)
    with pytest.raises(FineError, match=message) as error:
        apply_to_file(source, target, rotation(10), Settings(), decoder)
    assert str(source) in str(error.value) and not target.parent.exists()


def test_a_jpeg_cannot_become_transparent(tmp_path, decoder):
    source = tmp_path / "a.jpg"
    photograph().save(source)
    with pytest.raises(FineError, match=r"a\.jpg: a JPEG file cannot be transparent"):
        applied(source, decoder, background="transparent")
    assert [path.name for path in tmp_path.iterdir()] == ["a.jpg"]
