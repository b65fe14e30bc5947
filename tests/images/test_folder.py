"""A folder of images: classes, formats, and what is refused."""

import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from fine.errors import FineError
from fine.images import load_images
from fine.images.limits import PIXEL_LIMIT
from support.bombs import with_scans
from support.image_files import one_line, png, write
from support.odd_files import odd_files, without_waiting


def save(path: Path, image: Image.Image, **options: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    image.save(path, **options)
    return path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with two classes of two grey images."""
    for name in ("a/1.png", "a/2.png", "b/1.png", "b/2.png"):
        save(tmp_path / "images" / name, Image.new("L", (40, 40), 10))
    return tmp_path / "images"


def test_a_folder_is_one_class_per_subfolder_in_sorted_order(root: Path) -> None:
    save(root / "b/0.png", Image.new("L", (40, 40), 77))
    for litter in (".DS_Store", "a/.hidden", "a/Thumbs.db", "b/desktop.ini", "notes.txt"):
        (root / litter).write_text("litter")
    (root / ".git").mkdir()
    images = load_images(f"folder:{root}")
    assert images.class_names == ("a", "b")
    assert images.labels.tolist() == [0, 0, 1, 1, 1]
    assert images.labels.dtype == torch.int64
    assert images.pixels.shape == (5, 1, 32, 32)
    assert images.pixels[:, 0, 5, 5].tolist() == [10, 10, 77, 10, 10]
    assert load_images(f"folder:{root}", size=28).pixels.shape == (5, 1, 28, 28)


def test_one_coloured_image_makes_the_source_coloured(root: Path) -> None:
    save(root / "a/2.png", Image.new("RGB", (40, 40), (10, 10, 11)))
    images = load_images(f"folder:{root}")
    assert images.pixels.shape == (4, 3, 32, 32)
    assert images.pixels[1, :, 0, 0].tolist() == [10, 10, 11]


@pytest.mark.parametrize("suffix", ["png", "jpg", "gif", "bmp", "tiff", "webp", "ppm"])
def test_common_formats_are_read(suffix: str, root: Path) -> None:
    save(root / f"a/0.{suffix}", Image.new("RGB", (64, 64), (200, 200, 200)))
    assert load_images(f"folder:{root}").pixels[0].float().mean().item() == pytest.approx(
        200, abs=2
    )


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "CMYK", "I;16"])
def test_white_is_white_in_every_mode(mode: str, root: Path) -> None:
    white = Image.new("L", (40, 40), 255)
    if mode == "I;16":
        white = Image.fromarray(np.full((40, 40), 65_535, dtype=np.uint16))
    save(root / "a/0.tiff", white if mode == "I;16" else white.convert(mode))
    assert (load_images(f"folder:{root}").pixels[0] == 255).all()


def test_transparent_parts_are_paper(root: Path) -> None:
    save(root / "a/0.png", Image.new("RGBA", (40, 40), (0, 0, 0, 0)))
    save(root / "a/00.png", Image.new("LA", (40, 40), (0, 255)))
    save(root / "a/000.gif", Image.new("RGBA", (40, 40), (0, 0, 0, 0)))
    pixels = load_images(f"folder:{root}").pixels
    assert pixels[:3].amin((1, 2, 3)).tolist() == [255, 0, 255]
    assert pixels[:3].amax((1, 2, 3)).tolist() == [255, 0, 255]


def test_the_middle_square_is_kept(root: Path) -> None:
    wide = Image.new("L", (120, 40), 0)
    wide.paste(255, (40, 0, 80, 40))
    save(root / "a/0.png", wide)
    save(root / "a/00.png", wide.transpose(Image.Transpose.ROTATE_90))
    assert (load_images(f"folder:{root}").pixels[:2] == 255).all()


def test_exif_rotation_is_honoured(root: Path) -> None:
    upright = Image.new("L", (64, 64), 0)
    upright.paste(255, (0, 0, 64, 32))  # bright above
    exif = Image.Exif()
    exif[0x0112] = 6  # "turn me a quarter clockwise to see me upright"
    save(root / "a/0.png", upright.transpose(Image.Transpose.ROTATE_90), exif=exif)
    pixels = load_images(f"folder:{root}").pixels[0, 0]
    assert (pixels[:14] > 200).all()
    assert (pixels[18:] < 50).all()


def bomb(width: int, height: int) -> bytes:
    """A PNG of a few bytes that says it is large, with no pixels in it."""
    header = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + struct.pack(">I", 13)
        + header
        + struct.pack(">I", zlib.crc32(header))
        + b"\0\0\0\0IDAT"
    )


@pytest.mark.parametrize(
    ("content", "said"),
    {
        "empty": (b"", "0 bytes"),
        "text": (b"hello", "not a readable image"),
        "truncated": (png()[:300], "not a readable image"),
        "eps": (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "not a readable image"),
        "large": (bomb(10_000, 5_001), "50 megapixels"),
        "larger": (bomb(10_000, 10_000), "50 megapixels"),
        "bomb": (bomb(100_000, 100_000), "50 megapixels"),
        "scans": (with_scans(2_000), "scans, which take too long"),
    }.values(),
    ids=["empty", "text", "truncated", "eps", "large", "larger", "bomb", "scans"],
)
def test_a_bad_image_is_named_in_one_line(content: bytes, said: str, root: Path) -> None:
    bad = write(root / "b/bad.png", content)
    with pytest.raises(FineError) as error:
        load_images(f"folder:{root}")
    one_line(error, str(bad), said, "replace it")


def test_a_folder_without_classes_or_images_is_one_line(tmp_path: Path, root: Path) -> None:
    (root / "c").mkdir()
    for path, said in {
        str(tmp_path / "nowhere"): "is missing",
        "~nobody-of-this-name": "is missing",
        "a\0b": "cannot be read",
        str(root / "a/1.png"): "is a file",
        str(root / "a"): "at least 2 classes",
        str(root): f"{root / 'c'} has no images",
    }.items():
        with pytest.raises(FineError) as error:
            load_images(f"folder:{path}")
        printed = path.replace("\0", "\N{REPLACEMENT CHARACTER}")  # no control characters
        one_line(error, printed, said)


def test_a_folder_is_read_again_after_a_change(root: Path) -> None:
    assert len(load_images(f"folder:{root}").labels) == 4
    save(root / "a/3.png", Image.new("L", (40, 40)))
    assert len(load_images(f"folder:{root}").labels) == 5


def test_the_limit_leaves_room_for_photographs() -> None:
    assert PIXEL_LIMIT == 50_000_000


@odd_files
def test_what_is_no_file_is_not_waited_for(make, root: Path) -> None:
    make(root / "b/odd.png")
    with without_waiting(), pytest.raises(FineError) as error:
        load_images(f"folder:{root}")
    one_line(error, str(root / "b/odd.png"))


def test_links_to_images_are_followed(root: Path) -> None:
    (root / "b/3.png").symlink_to(root / "a/1.png")
    assert len(load_images(f"folder:{root}").labels) == 5


def test_images_of_all_shapes_are_cut_before_they_are_converted(root: Path) -> None:
    """Which gives the same pixels, and needs less memory."""
    wide = Image.fromarray(np.random.default_rng(0).integers(256, size=(40, 99, 4), dtype=np.uint8))
    paper = Image.new("RGBA", wide.size, "white")
    whole = Image.alpha_composite(paper, wide).convert("RGB").crop((29, 0, 69, 40))
    save(root / "a/0.png", wide)
    wanted = np.asarray(whole.resize((32, 32), Image.Resampling.BICUBIC))
    found = load_images(f"folder:{root}").pixels[0].permute(1, 2, 0)
    assert np.array_equal(found.numpy(), wanted)
