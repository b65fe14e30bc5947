"""Whatever an image file or an archive holds: a result or one clear line, within limits."""

import gzip
import io
import shutil
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from PIL import Image, features

from fine.images import cifar100, downloading, folder, mnist, omniglot
from fine.images.decoding import Decoder
from fine.inference import read_image
from support import bombs
from support.archives import lying_zip, tarred, zipped
from support.fuzzing import a_result_or_one_line, damaged
from support.odd_files import odd_files, without_waiting

# MNIST.

COUNT = 10_000
LABELS = bytes([0, 0, 8, 1]) + COUNT.to_bytes(4, "big") + bytes(i % 10 for i in range(COUNT))
_SHAPE = b"".join(number.to_bytes(4, "big") for number in (COUNT, 28, 28))
DIGITS = bytes([0, 0, 8, 3]) + _SHAPE + bytes(COUNT * 28 * 28)


@pytest.mark.slow
@given(
    st.sampled_from(["t10k-labels-idx1-ubyte.gz", "t10k-images-idx3-ubyte.gz"]),
    damaged(LABELS).map(lambda raw: gzip.compress(raw, 1))
    | damaged(gzip.compress(LABELS))
    | damaged(gzip.compress(DIGITS)),
)
def test_idx_files(tmp_path_factory, name, content):
    path = tmp_path_factory.getbasetemp() / "mnist" / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    with a_result_or_one_line():
        mnist.check(path)


# CIFAR-100 and Omniglot.


@pytest.fixture(scope="module")
def small_sources() -> Iterator[None]:
    """Official files of a few images instead of tens of thousands."""
    archives = {"images_background.zip": 1, "images_evaluation.zip": 1}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cifar100, "_RECORDS", {"train.bin": 3, "test.bin": 2})
        patch.setattr(omniglot, "_CHARACTERS", archives)
        patch.setattr(omniglot, "_DRAWINGS", 2)
        yield


RECORDS = bytes(range(256)) * 61  # five of 3,074 bytes, and a rest
TRAIN, TEST = RECORDS[: 3 * 3074], RECORDS[: 2 * 3074]
NAMES = "\n".join(f"class{number}" for number in range(100)).encode()


@pytest.mark.slow
@given(damaged(TRAIN), damaged(TEST) | st.just(TEST), damaged(NAMES) | st.just(NAMES))
def test_cifar_files(small_sources, tmp_path_factory, train, test, names):
    root = tmp_path_factory.getbasetemp()
    place = root / "cifar-100-binary"
    place.mkdir(exist_ok=True)
    files = {"train.bin": train, "test.bin": test, "fine_label_names.txt": names}
    for name, content in files.items():
        (place / name).write_bytes(content)
    with a_result_or_one_line():
        cifar100.load(size=32, data_root=root)


def image_file(kind: str, mode: str = "RGB", size: tuple[int, int] = (105, 105)) -> bytes:
    file = io.BytesIO()
    noise = np.random.default_rng(0).integers(256, size=(*size[::-1], 4), dtype=np.uint8)
    Image.fromarray(noise).convert(mode).save(file, kind)
    return file.getvalue()


DRAWING = image_file("PNG", "1")
FIRST, SECOND = (f"images_background/Greek/character01/0001_0{n}.png" for n in (1, 2))
SOUND = zipped({FIRST: DRAWING, SECOND: DRAWING})
ENTRY_NAMES = st.text(
    st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=20
)


METHODS = st.sampled_from(
    [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]
)
CONTENTS = st.sampled_from([DRAWING, b"", bytes(3_000_000)]) | damaged(DRAWING)
SIZES = st.integers(0, 300) | st.integers(0, 2**32 - 1)


@st.composite
def lying_zips(draw: st.DrawFn) -> bytes:
    """Zips with an entry that claims another size than it has, packed in any way."""
    others, method = {SECOND: DRAWING}, draw(METHODS)
    return lying_zip(FIRST, draw(CONTENTS), draw(SIZES), others=others, method=method)


@pytest.mark.slow
@given(
    damaged(SOUND)
    | damaged(DRAWING).map(lambda drawing: zipped({FIRST: DRAWING, SECOND: drawing}))
    | st.dictionaries(ENTRY_NAMES | st.just(FIRST), st.binary(max_size=50), max_size=3).map(zipped)
    | lying_zips()
)
@example(zipped({FIRST: DRAWING, SECOND: bytes(20_000_000)}))  # a bomb
@example(lying_zip(FIRST, bytes(50_000_000), 300, others={SECOND: DRAWING}, method=12))  # bzip2
@example(zipped({FIRST: DRAWING, SECOND: DRAWING}, 14).replace(b"\x5d\0", b"\xff\xff"))  # LZMA
@example(SOUND[:22] + b"\0\0\0\0\0\x07" + SOUND[28:])  # a name that goes on into the next entry
def test_zips(small_sources, tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "images_background.zip"
    path.write_bytes(content)
    with a_result_or_one_line():
        omniglot.check(path)
        omniglot._decode(path, 32)


# Archives that are downloaded.


PATHS = ["cifar/train.bin", "../../outside", "/tmp/../outside", "train.bin", "./x/../train.bin"]
KINDS_OF_MEMBERS = [
    *(tarfile.REGTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE)
]
MEMBER = st.tuples(
    st.sampled_from(PATHS) | st.text(max_size=10),
    st.sampled_from(KINDS_OF_MEMBERS),
    st.binary(max_size=30),
)
WHOLE = tarred([("cifar/train.bin", tarfile.REGTYPE, b"content")])


SPECIAL = [tarfile.REGTYPE, tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME]


@st.composite
def lying_tars(draw: st.DrawFn) -> bytes:
    """Headers, some of them of names and texts, that claim sizes of which little follows."""
    content = b""
    for _ in range(draw(st.integers(1, 4))):
        member = tarfile.TarInfo("train.bin")
        member.type = draw(st.sampled_from([*SPECIAL, tarfile.GNUTYPE_SPARSE]))
        member.size = draw(st.integers(0, 2_000) | st.integers(0, 2**40))
        content += member.tobuf(tarfile.GNU_FORMAT) + draw(st.binary(max_size=600))
    return gzip.compress(content + bytes(draw(st.sampled_from([0, 1024, 5_000_000]))), 1)


@pytest.mark.slow
@given(damaged(WHOLE) | st.lists(MEMBER, max_size=4).map(tarred) | lying_tars())
def test_archives_write_nothing_outside_of_their_folder(tmp_path_factory, content):
    place = tmp_path_factory.getbasetemp() / "archive"
    shutil.rmtree(place, ignore_errors=True)  # of the case before
    (place / "far/in").mkdir(parents=True)
    (place / "far/in/archive.tar.gz").write_bytes(content)
    with a_result_or_one_line():
        downloading._unpack(place / "far/in/archive.tar.gz", {"train.bin"})
    written = {str(path.relative_to(place)) for path in place.rglob("*")}
    assert written <= {"far", "far/in", "far/in/archive.tar.gz", "far/in/train.bin"}
    assert not (place / "far/in/train.bin").is_symlink()


# Images of a folder.

OPTIONAL = {"WEBP": "webp", "JPEG2000": "jpg_2000", "AVIF": "avif"}
KINDS = ["PNG", "JPEG", "GIF", "BMP", "TIFF", "PPM"]
KINDS += [kind for kind, feature in OPTIONAL.items() if features.check(feature)]
SAMPLES = [image_file(kind, size=(40, 30)) for kind in KINDS]
SAMPLES += [image_file("PNG", mode, (9, 9)) for mode in ("P", "LA", "I;16")]


SIDES = st.integers(1, 40) | st.integers(1, 70_000)


def scan_bombs() -> st.SearchStrategy[bytes]:
    return st.builds(bombs.with_scans, st.integers(0, 3_000), st.tuples(SMALL, SMALL))


def aspect_bombs() -> st.SearchStrategy[bytes]:
    """Lines and strips of any length, and claims that no pixels follow."""
    bits = st.sampled_from([1, 8, 16])
    strips = st.tuples(SIDES, st.integers(1, 20)).flatmap(st.permutations)
    sizes = st.tuples(SIDES, SIDES).filter(lambda size: size[0] * size[1] > 60_000_000) | strips
    return st.builds(lambda size, bits: bombs.png(*size, bits=bits), sizes.map(tuple), bits)


@st.composite
def chunk_bombs(draw: st.DrawFn) -> bytes:
    """Texts, profiles and EXIF data, in any number, before and after the pixels."""
    count = draw(st.integers(1, 3) | st.integers(1, 300))
    names = [b"iCCP", b"zTXt", b"iTXt", b"tEXt", b"eXIf", b"abCd", b"IDAT", b"fdAT", b"acTL"]
    name, content = draw(st.sampled_from(names)), draw(st.binary(max_size=30))
    inside = draw(st.sampled_from([bombs.PACKED, bombs.exif(120_000), content]))
    chunks = bombs.png_chunk(name, draw(st.sampled_from([b"", b"x\0\0", content])) + inside) * count
    return bombs.png(8, 8, **{draw(st.sampled_from(["before", "after"])): chunks})


SMALL = st.integers(1, 200)
BOMBS = (
    scan_bombs()
    | aspect_bombs()
    | chunk_bombs()
    | st.integers(16, 60_000).map(bombs.tiff_with_tile)
    | st.integers(100, 200_000).map(bombs.exif)
    | st.integers(100, 200_000).map(
        lambda size: bombs.with_segments(bombs.jpeg(), bombs.exif_segments(size))
    )
)


@pytest.fixture(scope="module")
def decoder() -> Iterator[Decoder]:
    with Decoder() as decoder:
        yield decoder


@pytest.mark.slow
@given(st.sampled_from(SAMPLES).flatmap(damaged) | BOMBS)
def test_images_of_a_folder(decoder, tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "image"
    path.write_bytes(content)
    with a_result_or_one_line():
        folder._read(path, 32, decoder)


IN_PIECES = [sample for sample, kind in zip(SAMPLES, KINDS, strict=False) if kind in bombs.WATCHED]


@pytest.mark.slow
@given(st.sampled_from(IN_PIECES).flatmap(damaged) | scan_bombs() | aspect_bombs() | chunk_bombs())
def test_your_own_images(content):
    with a_result_or_one_line():
        read_image(content)


# What is no file.


def read_zip(path: Path) -> None:
    omniglot.check(path.rename(path.with_name("images_background.zip")))


def read_archive(path: Path) -> None:
    downloading._unpack(path, {"train.bin"})


READERS: dict[str, Callable[[Path], object]] = {
    "image": read_image,
    "zip": read_zip,
    "archive": read_archive,
    "digits": lambda path: mnist.check(path.rename(path.with_name("t10k-images-idx3-ubyte.gz"))),
    "records": lambda path: cifar100.check(path.rename(path.with_name("train.bin"))),
    "names": lambda path: cifar100.check(path.rename(path.with_suffix(".txt"))),
}


@odd_files
@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_pipes_sockets_devices_and_links(tmp_path, make, read):
    make(tmp_path / "file")
    with without_waiting(), a_result_or_one_line():
        read(tmp_path / "file")
