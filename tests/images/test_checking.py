"""What a data root holds: a quick look at all files, and one source read in full."""

from pathlib import Path

import pytest

from fine.errors import FineError
from fine.images.checking import status, verify
from support.image_files import DARK_DIGITS, MNIST_IMAGES, MNIST_LABELS, write
from support.odd_files import make_pipe, without_waiting


def test_status_has_a_row_per_file(tmp_path: Path) -> None:
    write(tmp_path / "mnist" / MNIST_IMAGES, DARK_DIGITS[MNIST_IMAGES])
    write(tmp_path / "mnist" / MNIST_LABELS, b"damaged")
    rows = {row.path.name: row for row in status(tmp_path)}
    assert len(rows) == 7
    assert (rows[MNIST_IMAGES].state, rows[MNIST_IMAGES].detail) == ("present", "10,000 digits")
    assert rows[MNIST_IMAGES].size == len(DARK_DIGITS[MNIST_IMAGES])
    assert (rows[MNIST_LABELS].state, rows[MNIST_LABELS].size) == ("damaged", 7)
    assert "`fine data download mnist`" in rows[MNIST_LABELS].detail
    assert (rows["train.bin"].state, rows["train.bin"].size) == ("missing", 0)


def test_what_is_no_file_is_damaged(tmp_path: Path) -> None:
    for row in status(tmp_path):
        row.path.parent.mkdir(exist_ok=True)
        make_pipe(row.path)
    with without_waiting():
        assert {(row.state, row.size) for row in status(tmp_path)} == {("damaged", 0)}


def test_verify_raises_the_first_fault(tmp_path: Path) -> None:
    with pytest.raises(FineError, match="is missing from the data root"):
        verify("mnist", tmp_path)


@pytest.mark.slow
def test_the_real_files_are_all_present(data_root: Path) -> None:
    rows = status(data_root)
    assert [row.state for row in rows] == ["present"] * 7
    assert rows[0].detail == "19,280 drawings of 964 characters"
    assert rows[1].detail == "13,180 drawings of 659 characters"
    assert [row.detail for row in rows[2:]] == [
        "50,000 images",
        "10,000 images",
        "100 class names",
        "10,000 digits",
        "10,000 labels",
    ]


@pytest.mark.slow
def test_files_inside_an_archive_have_no_published_checksum(data_root: Path) -> None:
    report = verify("cifar100", data_root)
    assert (report.images, report.classes, report.channels) == (60_000, 100, 3)
    assert set(report.official.values()) == {None}
