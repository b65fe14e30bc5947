"""Archives unpack no further than allowed, whatever they claim."""

import gzip
import tarfile
import zipfile
from pathlib import Path

import pytest

from fine.errors import FineError
from fine.io import archives
from fine.io.archives import open_tar, open_zip, read_entry
from support.archives import lying_zip, tarred, zipped
from support.odd_files import odd_files, without_waiting


def read(path: Path, name: str, *, largest: int = 1000) -> bytes:
    with open_zip(path, largest=1_000_000, expected="a zip") as archive:
        return read_entry(archive, archive.getinfo(name), largest=largest)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_entries_come_back_as_they_were(tmp_path: Path, method: int) -> None:
    path = tmp_path / "x.zip"
    path.write_bytes(zipped({"a": b"content", "b": b"", "c": bytes(1000)}, method))
    assert [read(path, name) for name in "abc"] == [b"content", b"", bytes(1000)]


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_methods_that_unpack_all_at_once_are_refused(tmp_path: Path, method: int) -> None:
    (tmp_path / "x.zip").write_bytes(zipped({"a": bytes(100_000)}, method))
    with pytest.raises(zipfile.BadZipFile, match="a that is neither stored nor deflated"):
        read(tmp_path / "x.zip", "a", largest=1_000_000)


@pytest.mark.parametrize("claimed", [10, 1000, 2**31])
def test_an_entry_that_lies_about_its_size_is_unpacked_up_to_the_limit(
    tmp_path: Path, claimed: int
) -> None:
    (tmp_path / "x.zip").write_bytes(lying_zip("a", bytes(10_000_000), claimed))
    with pytest.raises(zipfile.BadZipFile):
        read(tmp_path / "x.zip", "a")


def test_a_long_table_of_contents_is_refused_unread(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "x.zip"
    path.write_bytes(zipped({f"entry {number}": b"" for number in range(100)}))
    monkeypatch.setattr(archives, "_LONGEST_CONTENTS", 5_000)
    with pytest.raises(zipfile.BadZipFile, match="a table of contents of 5,"):
        read(path, "entry 1")


@odd_files
def test_an_archive_that_is_no_file_is_not_waited_for(tmp_path: Path, make) -> None:
    make(tmp_path / "x")
    for opened in (open_zip, open_tar):
        with (
            without_waiting(),
            pytest.raises((FineError, OSError)),
            opened(tmp_path / "x", largest=1000, expected="an archive"),
        ):
            pytest.fail("it was opened")


def unpacked(path: Path, content: bytes, *, largest: int = 1_000_000) -> dict[str, bytes]:
    path.write_bytes(content)
    with open_tar(path, largest=largest, expected="a tar.gz") as members:
        return {member.name: file.read() for member, file in members}


def test_regular_members_come_back_as_they_were(tmp_path: Path) -> None:
    members = [
        ("a/b", tarfile.REGTYPE, b"content"),
        ("link", tarfile.SYMTYPE, b""),
        ("x" * 300, tarfile.REGTYPE, bytes(100_000)),
        ("pipe", tarfile.FIFOTYPE, b""),
        ("empty", tarfile.REGTYPE, b""),
    ]
    found = unpacked(tmp_path / "x.tar.gz", tarred(members))
    assert found == {"a/b": b"content", "x" * 300: bytes(100_000), "empty": b""}


def header(kind: bytes, size: int) -> bytes:
    """A header of a member that claims a size; what it claims does not follow."""
    member = tarfile.TarInfo("x")
    member.type, member.size = kind, size
    return member.tobuf(tarfile.GNU_FORMAT)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (tarred([("a", tarfile.REGTYPE, bytes(2_000_000))]), "100 members or 1,000,000 bytes"),
        (tarred([("a", tarfile.REGTYPE, b"")] * 101), "100 members or 1,000,000 bytes"),
        (gzip.compress(header(tarfile.REGTYPE, 10**12)), "100 members or 1,000,000 bytes"),
        (gzip.compress(header(tarfile.GNUTYPE_SPARSE, 10**12)), "100 members or 1,000,000 bytes"),
        (gzip.compress(header(tarfile.XHDTYPE, 10**9) + bytes(10**6)), "header of more than"),
        (gzip.compress(header(tarfile.GNUTYPE_LONGNAME, 10**9) + bytes(10**6)), "header of more"),
    ],
    ids=["large", "many", "lying", "sparse", "long header", "long name"],
)
def test_a_tar_that_would_not_end_is_refused(tmp_path: Path, content: bytes, said: str) -> None:
    with pytest.raises(tarfile.TarError, match=said):
        unpacked(tmp_path / "x.tar.gz", content)
