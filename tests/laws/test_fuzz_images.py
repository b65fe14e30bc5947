"""Whatever an image file or an archive holds: a result or one clear line, within limits."""

import gzip
import io
import tarfile
import zipfile
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from PIL import Image, features

from fine.images import cifar100, downloading, folder, mnist, omniglot
from support.fuzzing import a_result_or_one_line, damaged

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


def zipped(entries: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return file.getvalue()


DRAWING = image_file("PNG", "1")
FIRST, SECOND = (f"images_background/Greek/character01/0001_0{n}.png" for n in (1, 2))
SOUND = zipped({FIRST: DRAWING, SECOND: DRAWING})
ENTRY_NAMES = st.text(
    st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=20
)


@pytest.mark.slow
@given(
    damaged(SOUND)
    | damaged(DRAWING).map(lambda drawing: zipped({FIRST: DRAWING, SECOND: drawing}))
    | st.dictionaries(ENTRY_NAMES | st.just(FIRST), st.binary(max_size=50), max_size=3).map(zipped)
)
@example(zipped({FIRST: DRAWING, SECOND: bytes(20_000_000)}))  # a bomb
@example(SOUND[:22] + b"\0\0\0\0\0\x07" + SOUND[28:])  # a name that goes on into the next entry
def test_zips(small_sources, tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "images_background.zip"
    path.write_bytes(content)
    with a_result_or_one_line():
        omniglot.check(path)
        omniglot._decode(path, 32)


# Archives that are downloaded.


def tarred(members: list[tuple[str, bytes, bytes]]) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        for name, kind, content in members:
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, "../../outside"
            member.size = len(content) if kind == tarfile.REGTYPE else 0
            archive.addfile(member, io.BytesIO(content))
    return file.getvalue()


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


@pytest.mark.slow
@given(damaged(WHOLE) | st.lists(MEMBER, max_size=4).map(tarred))
def test_archives_write_nothing_outside_of_their_folder(tmp_path_factory, content):
    place = tmp_path_factory.mktemp("archive")
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


@pytest.mark.slow
@given(st.sampled_from(SAMPLES).flatmap(damaged))
def test_images_of_a_folder(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "image"
    path.write_bytes(content)
    with a_result_or_one_line():
        folder._read(path, 32)
