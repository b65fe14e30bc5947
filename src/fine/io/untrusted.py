"""Files that may come from anyone: only regular files are opened, and only up to a size.

    content = read_bytes(path, largest=1_000_000, expected="an image")
    with open_regular(path, largest=1_000_000, expected="a zip") as file:
        ...

A link is followed, for many folders hold links to their files; but what it leads to must be a
regular file as well. A device is not even opened, since opening some of them has effects, and a
pipe that nobody writes to would be waited for without end. That a file is missing, or may not be
read, is the OSError it always is: who knows what the file is for says what to do.
"""

import errno
import os
import stat
from io import BufferedReader
from pathlib import Path

from fine.errors import FineError

_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)  # of Unix; Windows
_KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFDIR: "a folder",
    stat.S_IFLNK: "a link",
}


def open_regular(path: Path, *, largest: int, expected: str) -> BufferedReader:
    """Open a regular file of at most ``largest`` bytes; an error says what was ``expected``."""
    _check(path, path.stat(), largest, expected)
    opened = os.open(path, _FLAGS)
    try:
        _check(path, os.fstat(opened), largest, expected)  # it may be another file by now
        return os.fdopen(opened, "rb")
    except BaseException:
        os.close(opened)
        raise


def read_bytes(path: Path, *, largest: int, expected: str) -> bytes:
    """The content of a regular file of at most ``largest`` bytes."""
    with open_regular(path, largest=largest, expected=expected) as file:
        return file.read(os.fstat(file.fileno()).st_size)  # no more, should it grow meanwhile


def read_text(path: Path, *, largest: int, expected: str) -> str:
    """The content of a regular file, as text; it is UTF-8, or a ValueError."""
    return read_bytes(path, largest=largest, expected=expected).decode("utf-8")


def kind_of_file(found: os.stat_result) -> str:
    """What there is that is no regular file, in words: "a pipe", "a folder"."""
    return _KINDS.get(stat.S_IFMT(found.st_mode), "no regular file")


def _check(path: Path, found: os.stat_result, largest: int, expected: str) -> None:
    if stat.S_ISDIR(found.st_mode):  # which opens, but cannot be read
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(found.st_mode):
        raise FineError(f"{path} is {kind_of_file(found)}: expected {expected}, in a regular file")
    if found.st_size > largest:
        raise FineError(
            f"{path} has {found.st_size:,} bytes: expected {expected} of at most {largest:,}"
        )
