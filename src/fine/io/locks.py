"""Folder locks: one process at a time works in a folder.

with locked(Path("runs/rotation")):
    ...                                  # another process that tries is refused, or waits
"""

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from fine.errors import FineError
from fine.io.files import cannot_write


@contextlib.contextmanager
def locked(folder: Path, *, patience: float = 0.0) -> Iterator[None]:
    """Lock ``folder`` for this process, waiting up to ``patience`` seconds for it.

    The operating system holds the lock, on the file `lock`, and releases it however the process
    ends. The file contains the process number, for the message to others. It is deleted at the end,
    and so are folders that were made for it, if they are empty. A file that a killed process left
    behind locks nobody out.
    """
    made = [place for place in (folder, *folder.parents) if not place.exists()]  # innermost first
    try:
        with _lock_file(folder, until=time.monotonic() + patience):
            try:
                yield
            finally:
                (folder / "lock").unlink(missing_ok=True)
    finally:
        with contextlib.suppress(OSError):  # stops at the first folder that is not empty
            for place in made:
                place.rmdir()


@contextlib.contextmanager
def _lock_file(folder: Path, *, until: float) -> Iterator[None]:
    try:
        import fcntl  # noqa: PLC0415 - not on Windows
    except ImportError:
        raise FineError("this system has no file locks: use Linux or macOS") from None
    path = folder / "lock"
    while True:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            file = path.open("a+", encoding="utf-8")
        except OSError as problem:
            raise cannot_write(path, problem) from problem
        with file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() >= until:
                    raise _in_use(folder, file) from None
                time.sleep(0.02)
                continue
            except OSError as problem:
                raise cannot_write(path, problem) from problem
            # The process that had the lock may have deleted the file after we opened it.
            if _is_at(file, path):
                file.truncate(0)
                file.write(str(os.getpid()))
                file.flush()
                yield
                return


def _in_use(folder: Path, file: IO[str]) -> FineError:
    """The error for a folder that another process has locked."""
    file.seek(0)
    owner = file.read().strip() or "unknown"
    return FineError(
        f"process {owner} is working in {folder}: wait for it, or choose another folder"
    )


def _is_at(file: IO[str], path: Path) -> bool:
    """Whether the open file is still the one under this name."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False
