"""MNIST: what it holds, and damaged files."""

import gzip
import struct
from pathlib import Path

import numpy as np
import pytest
import torch

from fine.errors import FineError
from fine.images import load_images, mnist
from support.image_files import one_line, write
from support.odd_files import odd_files, without_waiting


def test_mnist_is_the_10000_test_digits(data_root: Path) -> None:
    images = load_images("mnist", data_root=data_root)
    assert images.pixels.shape == (10_000, 1, 32, 32)
    first_ten = "".join(map(str, images.labels[:10].tolist()))
    assert first_ten == "7210414959"  # the well-known first digits of the test set
    counts = images.labels.bincount().tolist()
    assert counts == [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]


def test_mnist_is_padded_not_resampled(data_root: Path) -> None:
    small, large = (
        load_images("mnist", size=size, data_root=data_root).pixels for size in (28, 32)
    )
    assert torch.equal(large[:, :, 2:-2, 2:-2], small)
    assert large.sum() == small.sum()


def idx(*shape: int, magic: bytes = b"\0\0\x08", value: int = 0) -> bytes:
    header = magic + bytes([len(shape)]) + struct.pack(f">{len(shape)}i", *shape)
    return header + bytes([value]) * int(np.prod(shape))


@pytest.mark.parametrize(
    "content",
    {
        "empty": b"",
        "not gzip": b"plain text",
        "truncated gzip": gzip.compress(idx(10_000, 28, 28))[:-900],
        "truncated content": gzip.compress(idx(10_000, 28, 28)[:-1]),
        "too long": gzip.compress(idx(10_000, 28, 28) + b"\0"),
        "wrong magic": gzip.compress(idx(10_000, 28, 28, magic=b"\0\0\x0d")),
        "wrong shape": gzip.compress(idx(60_000, 28, 28)),
        "wrong gzip checksum": gzip.compress(idx(10_000, 28, 28))[:-8]
        + struct.pack("<II", 1, 7_840_016),
    }.items(),
    ids=lambda item: item[0],
)
def test_damaged_mnist_is_one_line(content: tuple[str, bytes], tmp_path: Path) -> None:
    path = write(tmp_path / "mnist/t10k-images-idx3-ubyte.gz", content[1])
    with pytest.raises(FineError) as error:
        load_images("mnist", data_root=tmp_path)
    one_line(error, str(path), "expected", "delete it and run `fine data download mnist`")


def test_a_label_that_is_no_digit_is_damage(tmp_path: Path) -> None:
    path = write(tmp_path / "mnist/t10k-labels-idx1-ubyte.gz", gzip.compress(idx(10_000, value=10)))
    with pytest.raises(FineError) as error:
        mnist.check(path)
    one_line(error, "labels 0 to 9", "10")


@odd_files
def test_what_is_no_file_is_not_waited_for(make, tmp_path: Path) -> None:
    path = tmp_path / "mnist/t10k-labels-idx1-ubyte.gz"
    path.parent.mkdir()
    make(path)
    with without_waiting(), pytest.raises(FineError) as error:
        mnist.check(path)
    one_line(error, str(path), "gzipped idx bytes")


def test_a_file_that_is_too_large_is_refused_unread(tmp_path: Path) -> None:
    path = write(tmp_path / "mnist/t10k-labels-idx1-ubyte.gz", b"")
    with path.open("wb") as file:
        file.truncate(10**11)
    with pytest.raises(FineError) as error:
        mnist.check(path)
    one_line(error, str(path), "has 100,000,000,000 bytes")


def test_digits_that_are_not_compressed_are_as_good(tmp_path: Path) -> None:
    content = gzip.compress(idx(10_000, 28, 28), 0)
    path = write(tmp_path / "mnist/t10k-images-idx3-ubyte.gz", content)
    assert mnist.check(path) == "10,000 digits"
