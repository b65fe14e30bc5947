"""Files that are whole or not there: written under a temporary name, flushed to disk, renamed, and the name flushed too."""

import contextlib
import errno
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fine.errors import FineError

LARGEST_JSON = 20_000_000
"""Bytes of a JSON file that are read; the largest that is written has a few thousand."""


@contextlib.contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside ``path``; rename it to ``path`` on success.

    On any failure it is deleted, and so are the folders that were made for it.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    made = [folder for folder in path.parents if not folder.exists()]  # the innermost first
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield temporary
        with temporary.open("rb") as written:
            os.fsync(written.fileno())
        temporary.replace(path)
        for folder in (path.parent, *(folder.parent for folder in made)):
            _flush_names(folder)
    except BaseException as problem:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
            for folder in made:
                folder.rmdir()  # refuses, and so ends this, if someone else has put something there
        if isinstance(problem, OSError):
            raise cannot_write(path, problem) from problem
        raise


def _flush_names(folder: Path) -> None:
    """Have the names in a folder outlast a power cut: without it a renamed file may come back under its old name."""
    if os.name == "nt":  # where folders cannot be opened, and need not be
        return
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def remove_leftovers(folder: Path) -> None:
    """Delete what processes that were killed had half written in a folder that is now ours alone."""
    for leftover in folder.glob(".*.part"):
        leftover.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write ``text`` to ``path``, whole or not at all."""
    with written_whole(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(path: Path, content: Any) -> None:
    """Write ``content`` as readable JSON, whole or not at all."""
    write_text(path, json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def read_json(path: Path) -> dict[str, Any]:
    """The JSON object in ``path``, or a one-line error naming the file."""
    try:
        with path.open(encoding="utf-8") as file:
            text = file.read(LARGEST_JSON + 1)
        if len(text) > LARGEST_JSON:
            raise ValueError(f"it has more than {LARGEST_JSON:,} characters")
        content = json.loads(text)
    except FileNotFoundError:
        raise FineError(f"{path} is missing: expected a JSON file there") from None
    except (OSError, ValueError, RecursionError) as problem:
        raise FineError(f"{path} cannot be read as JSON ({problem})") from problem
    if not isinstance(content, dict):
        raise FineError(f"{path} holds a JSON {type(content).__name__}: expected an object")
    return content


def cannot_write(path: Path, problem: OSError) -> FineError:
    """The error for a file that could not be written, with what to do about it."""
    if problem.errno in (errno.ENOSPC, errno.EDQUOT):
        return FineError(f"the disk is full: could not write {path}; free some space and try again")
    if path.is_dir():
        return FineError(f"could not write {path}: it is a folder; give the name of a file")
    for folder in path.parents:
        if folder.is_file():
            return FineError(f"could not write {path}: {folder} is a file, not a folder; choose another place")
    return FineError(f"could not write {path} ({problem.strerror or problem}); choose a folder you can write to")
