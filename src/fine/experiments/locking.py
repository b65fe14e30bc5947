"""A folder that one process works in at a time."""

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

from fine.errors import FineError


@contextlib.contextmanager
def locked(folder: Path, *, patience: float = 0.0) -> Iterator[None]:
    """Have ``folder`` to oneself, waiting up to ``patience`` seconds for it.

    The lock is the system's, so it goes with the process that has it, however that ends; the file it is on stays, and names the
    process to those who come too late.
    """
    try:
        import fcntl
    except ImportError:
        raise FineError("running cells needs locks on files, which this system does not have: use Linux or macOS") from None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / "lock").open("a+", encoding="utf-8")
    except OSError as problem:
        raise FineError(
            f"could not lock {folder} ({problem.strerror or problem}); choose a folder you can write to"
        ) from problem
    with file:
        until = time.monotonic() + patience
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= until:
                    file.seek(0)
                    owner = file.read().strip() or "unknown"
                    raise FineError(f"process {owner} is working in {folder}: wait for it, or choose another folder") from None
                time.sleep(0.02)
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield
