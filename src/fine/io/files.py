"""Files that are whole or not there, whatever stops the process that writes them.

    with written_whole(Path("sheet.png")) as temporary:
        image.save(temporary, format="PNG")

A file is written under a temporary name and flushed to disk, then renamed, and the new name is
flushed too. Only a regular file is replaced. A link is refused, because a shared folder may
hold links that lead out of it. A device of the system, such as /dev/null, and this process's own
output, /dev/stdout, are written to directly.
"""

import contextlib
import errno
import json
import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fine.errors import FineError
from fine.io.ownership import check_owned, is_owned
from fine.io.typed_json import parse_json
from fine.io.untrusted import kind_of_file, read_text

LARGEST_JSON = 10_000_000
"""Bytes of a JSON file that is read; the largest ever written has some ten thousand."""
_DEVICES = Path("/dev")


@contextlib.contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside ``path``, which is renamed to ``path`` on success.

    On any failure the temporary file is deleted, and so are the folders that were made for it. In a
    folder that this process has locked nothing is written, or made, once it is another folder.
    """
    if not path.name:  # `.` and `/` have none, beside which a temporary file could be
        raise cannot_write(path, IsADirectoryError())
    check_owned(path.parent)
    if (stream := _open_stream(path)) is not None:
        with _written_to(stream, path) as temporary:
            yield temporary
        return
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    made = [folder for folder in path.parents if not folder.exists()]  # the innermost first
    try:
        if not is_owned(path.parent):
            path.parent.mkdir(parents=True, exist_ok=True)
        _make_anew(temporary)
        yield temporary
        with temporary.open("rb") as written:
            os.fsync(written.fileno())
        check_owned(path.parent)
        temporary.replace(path)
        for folder in (path.parent, *(folder.parent for folder in made)):
            _flush_names(folder)
    except BaseException as problem:
        with contextlib.suppress(OSError):  # rmdir refuses a folder that others have used since
            temporary.unlink(missing_ok=True)
            for folder in made:
                folder.rmdir()
        if isinstance(problem, OSError):
            check_owned(path.parent)  # a better reason than that a file is not there
            raise cannot_write(path, problem) from problem
        raise


def _open_stream(path: Path) -> int | None:
    """A descriptor to write to, if ``path`` is no file but an output; refuse what is neither."""
    try:
        if (own := _own_output(path)) is not None:
            sys.stdout.flush()
            return os.dup(own)
        found = path.lstat()
        if stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode):
            return None  # a folder has its own error, when the file should take its place
        if stat.S_ISCHR(found.st_mode) and path.parent.resolve().is_relative_to(_DEVICES):
            return os.open(path, os.O_WRONLY | getattr(os, "O_NOCTTY", 0))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as problem:
        raise cannot_write(path, problem) from problem
    if stat.S_ISLNK(found.st_mode):
        raise FineError(
            f"could not write {path}: it is a link, which may lead anywhere; give the name of the "
            "file itself, or delete the link"
        )
    raise FineError(
        f"could not write {path}: it is {kind_of_file(found)}; give the name of a regular file"
    )


def _own_output(path: Path) -> int | None:
    """The descriptor that a path such as /dev/stdout or /dev/fd/3 stands for."""
    if path.parent == _DEVICES / "fd" and path.name.isdecimal():
        return int(path.name[:9])  # of more digits there is none
    return {_DEVICES / "stdout": 1, _DEVICES / "stderr": 2}.get(path)


@contextlib.contextmanager
def _written_to(stream: int, path: Path) -> Iterator[Path]:
    """Yield a temporary path whose content is written to an open ``stream`` on success."""
    try:
        with os.fdopen(stream, "wb") as output, tempfile.TemporaryDirectory() as folder:
            temporary = Path(folder) / path.name
            yield temporary
            output.write(temporary.read_bytes())
    except BrokenPipeError:
        raise  # the reader went away, as in `fine … | head`
    except OSError as problem:
        raise cannot_write(path, problem) from problem


def _make_anew(temporary: Path) -> None:
    """Make an empty file: what had its name, such as a link to another file, is not written to."""
    temporary.unlink(missing_ok=True)
    temporary.open("xb").close()


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
        if leftover.is_symlink() or not leftover.is_dir():  # a link itself, not what it leads to
            leftover.unlink(missing_ok=True)


def remove_leftovers_of(path: Path) -> None:
    """Delete temporary files of killed processes that were writing ``path``.

    Its folder may hold files of others, so a name that no process here gives is left alone.
    """
    for leftover in path.parent.glob(f".{_literal(path.name)}.*.part"):
        number = leftover.name.removesuffix(".part").rpartition(".")[2]
        if number.isdecimal() and not leftover.is_dir():
            leftover.unlink(missing_ok=True)


def _literal(name: str) -> str:
    """A name as a pattern of `glob` that fits it alone."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)


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
        text = read_text(path, largest=LARGEST_JSON, expected="a JSON file")
        content = parse_json(text)
    except FileNotFoundError:
        raise FineError(f"{path} is missing: expected a JSON file there") from None
    except (OSError, ValueError) as problem:
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
