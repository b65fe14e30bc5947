"""Folder locks: one process at a time works in a folder.

with locked(Path("runs/rotation")):
    ...                                  # another process that tries is refused, or waits
"""

import contextlib
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from fine.errors import FineError
from fine.io.files import cannot_write
from fine.io.ownership import LOCK, disown, lock_is_there, own

_POLL = 0.02  # seconds between two attempts
_LONGEST_NUMBER = 20  # digits of a process number that are read


@contextlib.contextmanager
def locked(folder: Path, *, patience: float = 0.0) -> Iterator[None]:
    """Lock ``folder`` for this process, waiting up to ``patience`` seconds for it.

    The operating system holds the lock, on the file `lock`, and releases it however the process
    ends. The file contains the process number, for the message to others. It is deleted at the end,
    and so are folders that were made for it, if they are empty. A file that a killed process left
    behind locks nobody out. Nothing is deleted if another process has replaced the folder.
    """
    made = [place for place in (folder, *folder.parents) if not place.exists()]  # innermost first
    try:
        lock = _acquire(folder, until=time.monotonic() + patience)
    except BaseException:
        _remove_empty(made)
        raise
    try:
        yield
    finally:
        ours = lock_is_there(folder)
        disown(folder)
        with contextlib.suppress(OSError):  # Windows deletes no open file: there `release` does
            if ours:
                (folder / LOCK).unlink()
        lock.release()
        if ours:
            _remove_empty(made)


def _acquire(folder: Path, *, until: float) -> FileLock:
    path = folder / LOCK

    def write_number(opened: int) -> None:
        found = os.fstat(opened)
        _refuse_other_than_a_file(path, found)
        os.ftruncate(opened, 0)
        # Windows lets nobody read the first byte of a file that is locked, so it is a space.
        os.write(opened, f" {os.getpid()}".encode())
        own(folder, (found.st_dev, found.st_ino))

    # Without a soft lock in its place, which does not end with its process.
    lock = FileLock(path, fallback_to_soft=False, on_acquired=write_number)
    while True:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with contextlib.suppress(FileNotFoundError):
                # The library follows no link either; but a device must not even be opened.
                _refuse_other_than_a_file(path, path.lstat())
            lock.acquire(blocking=False)
            return lock
        except Timeout:
            if time.monotonic() >= until:
                raise _in_use(folder) from None
        except OSError as problem:
            # The process that had the lock may have deleted the folder that it had made.
            gone = isinstance(problem, FileNotFoundError)
            if not gone or time.monotonic() >= until:
                raise cannot_write(path, problem) from problem
        time.sleep(_POLL)


def _refuse_other_than_a_file(path: Path, found: os.stat_result) -> None:
    """Refuse a lock that is not an ordinary file of this folder alone: it will be written to."""
    if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
        raise FineError(
            f"{path} is a link or no ordinary file: expected a lock file; delete it if you do not "
            "know what it is for"
        )


def _in_use(folder: Path) -> FineError:
    """The error for a folder that another process has locked."""
    return FineError(
        f"process {_owner(folder / LOCK)} is working in {folder}: wait for it, or choose another "
        "folder"
    )


def _owner(path: Path) -> str:
    """The number of the process that has written to a lock file."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        opened = os.open(path, flags)
    except OSError:
        return "unknown"
    try:
        os.lseek(opened, 1, os.SEEK_SET)
        number = os.read(opened, _LONGEST_NUMBER)
    except OSError:
        return "unknown"
    finally:
        os.close(opened)
    return number.decode() if number.isdigit() else "unknown"


def _remove_empty(folders: list[Path]) -> None:
    """Remove folders, the innermost first, up to the first that is not empty."""
    with contextlib.suppress(OSError):
        for folder in folders:
            folder.rmdir()
