"""Omniglot: what it holds, and damaged files."""

import re
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from fine.errors import FineError
from fine.images import load_images, omniglot
from support.archives import lying_zip, zipped
from support.bombs import png_chunk
from support.fuzzing import limits
from support.image_files import one_line, png, write
from support.odd_files import odd_files, without_waiting

DRAWINGS = {f"images_background/A/character01/0001_{i:02}.png": png() for i in range(1, 21)}
FIRST, *_, LAST = DRAWINGS
OTHERS = {name: content for name, content in DRAWINGS.items() if name != FIRST}


@pytest.fixture
def one_character(monkeypatch: pytest.MonkeyPatch) -> None:
    """One character is enough for most tests."""
    monkeypatch.setitem(omniglot._CHARACTERS, "images_background.zip", 1)


@pytest.mark.slow
def test_omniglot_is_1623_characters_by_20_drawers(data_root: Path) -> None:
    images = load_images("omniglot", data_root=data_root)
    assert images.pixels.shape == (32_460, 1, 32, 32)
    assert images.pixels.dtype == torch.uint8
    assert len(images.class_names) == 1_623 == len(set(images.class_names))
    assert list(images.class_names) == sorted(images.class_names)
    assert len({name.split("/")[0] for name in images.class_names}) == 50
    assert all(re.fullmatch(r"[^/]+/character\d\d", name) for name in images.class_names)
    assert torch.equal(images.labels.bincount(), torch.full((1_623,), 20))


@pytest.mark.slow
def test_omniglot_ink_is_bright_and_every_drawing_is_where_its_name_says(data_root: Path) -> None:
    images = load_images("omniglot", data_root=data_root)
    corner = images.pixels[:, :, 0, 0].float()  # paper, mostly
    assert corner.mean() < 5 < images.pixels.float().mean() < 60
    with zipfile.ZipFile(data_root / "omniglot/images_evaluation.zip") as archive:
        for entry in sorted(archive.namelist())[::1_317]:
            _, alphabet, character, drawing = entry.split("/")  # …/Alphabet/character07/1234_03.png
            paper = np.asarray(Image.open(archive.open(entry))).astype(np.float64)  # ink is 0
            first = 20 * images.class_names.index(f"{alphabet}/{character}")
            loaded = images.pixels[first + int(drawing[5:7]) - 1].double() / 255
            # area averaging keeps the mean
            assert loaded.mean().item() == pytest.approx(1 - paper.mean(), abs=0.5 / 255)


@pytest.mark.parametrize(
    "content",
    [b"", b"PK\x03\x04 not a zip", zipped({"images_evaluation/A/character01/1_01.png": b""})],
)
def test_a_damaged_omniglot_zip_is_one_line(content: bytes, tmp_path: Path) -> None:
    path = write(tmp_path / "omniglot/images_background.zip", content)
    with pytest.raises(FineError) as error:
        load_images("omniglot", data_root=tmp_path)
    one_line(
        error,
        str(path),
        "19,280 PNGs (964 characters × 20 drawings)",
        "`fine data download omniglot`",
    )


@pytest.mark.parametrize(
    "drawing",
    [
        b"",
        b"not an image",
        png()[:300],
        png(side=32),
        png().replace(b"IDAT", b"IDOT"),
        bytes(200_000),
    ],
    ids=["empty", "text", "truncated", "other size", "broken chunk", "huge"],
)
def test_a_damaged_drawing_is_one_line(drawing: bytes, tmp_path: Path, one_character: None) -> None:
    path = write(tmp_path / "omniglot/images_background.zip", zipped({**DRAWINGS, LAST: drawing}))
    with pytest.raises(FineError) as error:
        load_images("omniglot", data_root=tmp_path)
    one_line(error, str(path), "`fine data download omniglot`")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (zipped(DRAWINGS, zipfile.ZIP_BZIP2), "neither stored nor deflated"),
        (zipped(DRAWINGS, zipfile.ZIP_LZMA), "neither stored nor deflated"),
        (zipped(DRAWINGS, zipfile.ZIP_LZMA).replace(b"\x5d\0", b"\xff\xff"), "neither stored nor"),
        (lying_zip(FIRST, bytes(10_000_000), 300, others=OTHERS), "Bad CRC-32"),
        (lying_zip(FIRST, bytes(10_000_000), 2**31, others=OTHERS), "more than 100,000 bytes"),
        (
            lying_zip(FIRST, bytes(9_000_000), 300, others=OTHERS, method=zipfile.ZIP_BZIP2),
            "neither stored nor deflated",
        ),
    ],
    ids=["bzip2", "lzma", "damaged lzma", "said to be small", "said to be large", "lying bzip2"],
)
def test_entries_that_would_unpack_to_anything_are_refused(
    content: bytes, said: str, tmp_path: Path, one_character: None
) -> None:
    path = write(tmp_path / "omniglot/images_background.zip", content)
    with limits(), pytest.raises(FineError) as error:
        load_images("omniglot", data_root=tmp_path)
    one_line(error, str(path), said, "`fine data download omniglot`")


def test_entries_that_overlap_are_refused_before_they_take_long(
    tmp_path: Path, one_character: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "omniglot/images_background.zip", zipped(DRAWINGS))
    monkeypatch.setattr(omniglot, "_LARGEST_ZIP", 20 * len(png()) - 1)
    with pytest.raises(FineError) as error:
        omniglot._decode(path, 32)
    one_line(error, str(path), "bytes")


def test_texts_in_drawings_are_not_unpacked(tmp_path: Path, one_character: None) -> None:
    """Each may be a megabyte in a kilobyte, and there are thousands of drawings."""
    text = png_chunk(b"zTXt", b"x\0\0" + zlib.compress(bytes(1_000_000)))
    ends = len(png()) - 12  # in front of the last chunk
    with_texts = png()[:33] + text * 40 + png()[33:ends] + text * 10 + png()[ends:]
    path = write(
        tmp_path / "omniglot/images_background.zip", zipped({**DRAWINGS, LAST: with_texts})
    )
    with limits():
        drawings = omniglot._decode(path, 32)["A/character01"]
    assert (drawings == drawings[0]).all()


@odd_files
def test_a_zip_that_is_no_file_is_not_waited_for(make, tmp_path: Path) -> None:
    (tmp_path / "omniglot").mkdir()
    make(tmp_path / "omniglot/images_background.zip")
    with without_waiting(), pytest.raises(FineError) as error:
        load_images("omniglot", data_root=tmp_path)
    one_line(error, str(tmp_path / "omniglot/images_background.zip"), "964 characters")


def test_a_flipped_byte_in_a_real_zip_is_noticed(data_root: Path, tmp_path: Path) -> None:
    content = bytearray((data_root / "omniglot/images_background.zip").read_bytes())
    content[200] ^= 0xFF  # inside the first drawing
    path = write(tmp_path / "omniglot/images_background.zip", bytes(content))
    with pytest.raises(FineError) as error:
        load_images("omniglot", data_root=tmp_path)
    one_line(error, str(path), "delete it")
