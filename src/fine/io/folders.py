"""Folders that are whole or not there, such as a thousand images that belong together.

with written_folder(Path("out")) as temporary:
    image.save(temporary / "1.png")
"""

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from fine.errors import FineError
from fine.io.files import cannot_write


@contextlib.contextmanager
def written_folder(path: Path) -> Iterator[Path]:
    """Yield a temporary folder beside ``path``, which is renamed to ``path`` on success.

    Nothing is overwritten: ``path`` must be free, or an empty folder.
    """
    if (
        not path.name
        or path.is_symlink()
        or path.is_file()
        or (path.is_dir() and any(path.iterdir()))
    ):
        raise FineError(f"{path} is there already: give the name of a new folder")
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.mkdir()
        yield temporary
        if path.is_dir():
            path.rmdir()  # it is empty; Windows renames nothing onto a folder
        temporary.rename(path)
    except BaseException as problem:
        shutil.rmtree(temporary, ignore_errors=True)
        if isinstance(problem, OSError):
            raise cannot_write(path, problem) from problem
        raise
