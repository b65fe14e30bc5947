"""A folder that one process works in at a time."""

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from fine.errors import FineError
from fine.storage import cannot_write


@contextlib.contextmanager
def locked(folder: Path, *, patience: float = 0.0) -> Iterator[None]:
    """Have ``folder`` to oneself, waiting up to ``patience`` seconds for it.

    The lock is the system's, so it goes with the process that has it, however that ends. The file it is on names the process to
    those who come too late, and is deleted at the end, with the folders that were made for it if nothing else is in them. One
    that a killed process left behind is in nobody's way.
    """
    made = [place for place in (folder, *folder.parents) if not place.exists()]  # the innermost first
    try:
        with _held(folder, until=time.monotonic() + patience):
            try:
                yield
            finally:
                (folder / "lock").unlink(missing_ok=True)
    finally:
        with contextlib.suppress(OSError):  # stops at the first folder that holds something
            for place in made:
                place.rmdir()


@contextlib.contextmanager
def _held(folder: Path, *, until: float) -> Iterator[None]:
    try:
        import fcntl
    except ImportError:
        raise FineError("this needs locks on files, which this system does not have: use Linux or macOS") from None
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
                    file.seek(0)
                    owner = file.read().strip() or "unknown"
                    raise FineError(f"process {owner} is working in {folder}: wait for it, or choose another folder") from None
                time.sleep(0.02)
                continue
            except OSError as problem:
                raise cannot_write(path, problem) from problem
            if _is_at(file, path):  # and not deleted by the one who had it before, just after we opened it
                file.truncate(0)
                file.write(str(os.getpid()))
                file.flush()
                yield
                return


def _is_at(file: IO[str], path: Path) -> bool:
    """Whether the open file is still the one under this name."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False
