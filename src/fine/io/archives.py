"""Archives that may come from anyone: unpacked no further than allowed, whatever sizes they claim.

with open_zip(path, largest=1_000_000, expected="a zip") as archive:
    content = read_entry(archive, archive.getinfo("entry"), largest=100_000)

with open_tar(path, largest=1_000_000, expected="a tar.gz") as members:
    for member, content in members: ...
"""

import contextlib
import gzip
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import IO

from fine.io.untrusted import open_regular

_LONGEST_CONTENTS = 4_000_000  # bytes of a zip's table of contents: about 50,000 entries
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # zipfile unpacks the others all at once
_MOST_MEMBERS = 100  # of a tar
_LONGEST_HEADER = 100_000  # bytes before the content of a tar's member


@contextlib.contextmanager
def open_zip(path: Path, *, largest: int, expected: str) -> Iterator[zipfile.ZipFile]:
    """A zip file of at most ``largest`` bytes, with a table of contents of a bounded length."""
    raw = open_regular(path, largest=largest, expected=expected).detach()
    with _ShortReads(raw) as file, zipfile.ZipFile(file) as archive:
        yield archive


def read_entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, *, largest: int) -> bytes:
    """An entry that is stored or deflated, and has at most ``largest`` bytes once unpacked."""
    if entry.compress_type not in _METHODS:
        raise zipfile.BadZipFile(f"{entry.filename} that is neither stored nor deflated")
    try:
        with archive.open(entry) as file:
            content = file.read(largest + 1)  # the size that the entry claims may be a lie
    except (zlib.error, EOFError, RuntimeError, struct.error) as problem:
        # Damaged, cut, or encrypted: zipfile has no one error for all of them.
        raise zipfile.BadZipFile(f"{entry.filename} that cannot be unpacked") from problem
    if len(content) > largest:
        raise zipfile.BadZipFile(f"{entry.filename} of more than {largest:,} bytes")
    return content


class _ShortReads(BufferedReader):
    """A file that is not read in long pieces, as zipfile reads a table of contents."""

    def read(self, size: int | None = -1, /) -> bytes:
        if size is not None and size > _LONGEST_CONTENTS:
            raise zipfile.BadZipFile(f"a table of contents of {size:,} bytes")
        return super().read(size)


@contextlib.contextmanager
def open_tar(
    path: Path, *, largest: int, expected: str
) -> Iterator[Iterator[tuple[tarfile.TarInfo, IO[bytes]]]]:
    """The regular members of a tar.gz, each with its content, to be read before the next.

    File and members have at most ``largest`` bytes together, and there are at most 100 members.
    """
    with (
        open_regular(path, largest=largest, expected=expected) as file,
        _Rationed(fileobj=file) as stream,
        tarfile.open(fileobj=stream, mode="r|") as archive,
    ):
        yield _regular_members(archive, stream, largest)


def _regular_members(
    archive: tarfile.TarFile, stream: "_Rationed", largest: int
) -> Iterator[tuple[tarfile.TarInfo, IO[bytes]]]:
    total = 0
    for number, member in enumerate(archive):
        total += member.size
        # A sparse member tells its size, and apart from it how much to skip for the next header.
        skipped = archive.offset - _MOST_MEMBERS * _LONGEST_HEADER
        if number >= _MOST_MEMBERS or max(total, skipped) > largest:
            raise tarfile.ReadError(f"more than {_MOST_MEMBERS} members or {largest:,} bytes")
        stream.ration += member.size + _LONGEST_HEADER
        if content := archive.extractfile(member) if member.isreg() else None:
            yield member, content


class _Rationed(gzip.GzipFile):
    """A stream of which no more is read than was allowed so far: headers could have any length."""

    ration = _LONGEST_HEADER

    def read(self, size: int | None = -1) -> bytes:
        content = super().read(size)
        self.ration -= len(content)
        if self.ration < 0:
            raise tarfile.ReadError(f"a header of more than {_LONGEST_HEADER:,} bytes")
        return content
