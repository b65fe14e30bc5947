"""Whatever is given to `fine apply`: a result or one clear line, and nothing outside is touched."""

import io
import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from PIL import Image

from fine.apply import Settings, apply_to_files
from fine.apply.photo import apply_to_file
from fine.apply.record import NAME
from fine.errors import FineError
from fine.images.decoding import Decoder
from fine.images.limits import FULL_SIZE
from fine.inference import load_function
from support import bombs
from support.folders import contents
from support.fuzzing import HOSTILE, a_result_or_one_line, damaged, spoilt
from support.odd_files import without_waiting
from support.point_maps import MIRROR

pytestmark = pytest.mark.slow

# Functions in files.

FUNCTION = {
    "format": 1,
    "rule": "rotation 37.2° ± 0.2, then wave",
    "rules": [
        {"family": "rotation", "parameters": [37.2], "errors": [0.2]},
        {"family": "wave", "parameters": [0.1, 3.0], "errors": [0.1, 0.1]},
    ],
    "unexplained": 0.01,
    "ambiguous": False,
    "reason": "",
    "canvas": "expand",
    "background": "#ffffff",
    "version": "0.2.0",
}


@given(spoilt(FUNCTION))
@example("[" * 100_000)
@example(json.dumps(FUNCTION).replace("[0.2]", "[1e299]"))  # ± a number of 300 digits
@example(json.dumps(FUNCTION).replace("[0.2]", "[-1]"))
def test_functions(tmp_path_factory, text):
    path = tmp_path_factory.getbasetemp() / "turn.json"
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    with a_result_or_one_line():
        found = load_function(path)
        assert len(str(found.rule)) < 300
        assert all(error >= 0 for errors in found.rule.errors for error in errors)
        found.draw(Image.new("RGB", (30, 20), "red"))


# Photographs.


def photograph(kind: str, **options: object) -> bytes:
    pixels = np.random.default_rng(0).integers(256, size=(20, 30, 3), dtype=np.uint8)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, kind, **options)
    return file.getvalue()


def exif() -> Image.Exif:
    content = Image.Exif()
    content[0x0112], content[0x013B] = 6, "Ada"
    content[0x011A], content[0x011B], content[0x0128] = 300.0, 300.0, 2  # points an inch
    return content


PHOTOGRAPHS = [
    photograph("JPEG", exif=exif(), icc_profile=bytes(200), comment=b"hello", dpi=(300, 300)),
    photograph("PNG", exif=exif(), icc_profile=bytes(200), dpi=(300, 300)),
    photograph("TIFF", compression="tiff_lzw", resolution=300.0),
    photograph("WEBP", exif=exif(), lossless=True),
    photograph("GIF"),
    photograph("PPM"),
]


@pytest.fixture(scope="module")
def decoder() -> Iterator[Decoder]:
    with Decoder(FULL_SIZE) as decoder:
        yield decoder


@given(st.sampled_from(PHOTOGRAPHS).flatmap(damaged))
@example(photograph("TIFF", resolution=1e30))
@example(photograph("TIFF", resolution=float("inf")))
@example(bombs.exif(120_000))
def test_photographs(decoder, tmp_path_factory, content):
    folder = tmp_path_factory.getbasetemp()
    (folder / "photo").write_bytes(content)
    (folder / "done").unlink(missing_ok=True)
    with a_result_or_one_line():
        apply_to_file(folder / "photo", folder / "done", MIRROR, Settings(), decoder)
        with Image.open(folder / "done") as result:
            result.load()


# Records of output folders.

POINTS = [[0.1, 0.2]] * 16
RECORD = {"format": 1, "rule": "x", "negative": [False] * 16, "points": POINTS, "replacing": False}
RECORD["settings"] = asdict(Settings())


@given(spoilt(RECORD))
@example(json.dumps({**RECORD, "points": [[10**400, 0]] * 16}))
def test_records(tmp_path_factory, text):
    folder = tmp_path_factory.getbasetemp() / "records"
    (folder / "done").mkdir(parents=True, exist_ok=True)
    (folder / "photo.png").write_bytes(PHOTOGRAPHS[1])
    (folder / "done" / NAME).write_text(text, encoding="utf-8", errors="surrogatepass")
    with a_result_or_one_line():
        apply_to_files(MIRROR, [folder / "photo.png"], folder / "done", Settings(), jobs=1)


# Trees of files, links, and what is neither.


def make_file(path: Path) -> None:
    path.write_bytes(PHOTOGRAPHS[1])


KINDS: dict[str, Callable[[Path], None]] = {
    "image": make_file,
    "no image": lambda path: path.write_bytes(b"no image"),
    "folder": lambda path: make_file(_made(path) / "inner.png"),
    "pipe": lambda path: os.mkfifo(path),
    "link to itself": lambda path: path.symlink_to(path.name),
    "link to zeros": lambda path: path.symlink_to("/dev/zero"),
    "link to nothing": lambda path: path.symlink_to("../../outside/new.png"),
    "link to a file": lambda path: path.symlink_to("../../outside/precious.png"),
    "link to a folder": lambda path: path.symlink_to("../../outside"),
    "link upwards": lambda path: path.symlink_to(".."),
}


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


NAMES = [
    *("a.png", "deep", "inner.png", NAME, "lock", ".a.png.7.part", "n" * 251 + ".png"),
    *(f"{text.replace('/', '')}.png" for text in HOSTILE),
    os.fsdecode(b"\xff\xfe.png"),
]
ENTRIES = st.dictionaries(st.sampled_from(NAMES), st.sampled_from(sorted(KINDS)), max_size=4)


@given(ENTRIES, ENTRIES, st.booleans())
@example({"loop.png": "link to itself", "a.png": "image"}, {}, False)
@example({"deep": "folder"}, {"deep": "link to a folder"}, False)
def test_trees(tmp_path_factory, given_files, there, overwrite):
    place = tmp_path_factory.getbasetemp() / "trees"
    shutil.rmtree(place, ignore_errors=True)  # of the case before
    (place / "outside").mkdir(parents=True)
    for name in ("precious.png", ".inner.png.7.part"):
        make_file(place / "outside" / name)
    for root, entries in (("in/photos", given_files), ("out/done", there)):
        (place / root).mkdir(parents=True)
        for name, kind in entries.items():
            KINDS[kind](place / root / name)
    before = contents(place / "outside"), _files(place / "in")
    with without_waiting(), a_result_or_one_line():
        photos, done = place / "in/photos", place / "out/done"
        summary = apply_to_files(MIRROR, [photos], done, Settings(), overwrite=overwrite, jobs=1)
        for failure in summary.failures:
            assert str(FineError(failure.error)).isprintable()
    assert (contents(place / "outside"), _files(place / "in")) == before


def _files(folder: Path) -> dict[str, bytes]:
    """The regular files of a folder: a pipe cannot be compared."""
    paths = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return {str(path): path.read_bytes() for path in paths}
