"""Folders that this process has locked: nothing is written there once they are no longer its own.

    check_owned(Path("runs/rotation"))   # an error if it was deleted, moved or replaced

A run goes on for hours. Meanwhile somebody may delete its folder, and another process may begin a
run of the same name. `locked` (locks.py) enters its folder here, and `written_whole` (files.py)
asks before it writes.
"""

from pathlib import Path

from fine.errors import FineError

LOCK = "lock"
"""The file that is locked, in the folder."""

Identity = tuple[int, int]
"""Device and inode of a file: the same as long as somebody has it open, whatever it is called."""

_OWNED: dict[Path, Identity] = {}  # absolute path of a folder -> its lock file


def own(folder: Path, lock_file: Identity) -> None:
    """Enter a folder that this process has locked."""
    _OWNED[folder.absolute()] = lock_file


def disown(folder: Path) -> None:
    """Forget a folder whose lock is released."""
    _OWNED.pop(folder.absolute(), None)


def is_owned(folder: Path) -> bool:
    """Whether this process has locked the folder, or the one that had its place."""
    return folder.absolute() in _OWNED


def lock_is_there(folder: Path) -> bool:
    """Whether the lock file in a folder that is owned is the one that this process has locked."""
    try:
        found = (folder / LOCK).lstat()
    except OSError:
        return False
    return (found.st_dev, found.st_ino) == _OWNED[folder.absolute()]


def check_owned(folder: Path) -> None:
    """Refuse to go on in a folder that this process has locked, if it is not the same one still."""
    if is_owned(folder) and not lock_is_there(folder):
        raise FineError(
            f"{folder} was deleted, moved or replaced while this process was working in it: "
            "nothing more is written there; train again, in another folder"
        )
