"""Files that are whole or not there, whatever stops the process that writes them.

    with written_whole(Path("sheet.png")) as temporary:
        image.save(temporary, format="PNG")

A file is written under a temporary name and flushed to disk, then renamed, and the new name is
flushed too.
"""

import contextlib
import errno
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fine.errors import FineError

LARGEST_JSON = 20_000_000
"""Characters of a JSON file that are read; the largest ever written has a few thousand."""


@contextlib.contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside ``path``, which is renamed to ``path`` on success.

    On any failure the temporary file is deleted, and so are the folders that were made for it.
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
        with contextlib.suppress(OSError):  # rmdir refuses a folder that others have used since
            temporary.unlink(missing_ok=True)
            for folder in made:
                folder.rmdir()
        if isinstance(problem, OSError):
            raise cannot_write(path, problem) from problem
        raise


def _flush_names(folder: Path) -> None:
    """Flush the names in a folder: after a power cut a renamed file could have its old name."""
    if os.name == "nt":  # Windows cannot open folders, and need not
        return
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def remove_leftovers(folder: Path) -> None:
    """Delete temporary files of killed processes, in a folder that this process has locked."""
    for leftover in folder.glob(".*.part"):
        leftover.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write ``text`` to ``path``, whole or not at all; the bytes are the same on every system."""
    with written_whole(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def write_json(path: Path, content: Any) -> None:
    """Write ``content`` as readable JSON, whole or not at all."""
    write_text(path, json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def read_json(path: Path) -> dict[str, Any]:
    """The JSON object in ``path``, or a one-line error that names the file."""
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
            return FineError(
                f"could not write {path}: {folder} is a file, not a folder; choose another place"
            )
    reason = problem.strerror or problem
    return FineError(f"could not write {path} ({reason}); choose a folder you can write to")
