"""Folder locks: one process at a time, however the one before has ended."""

import os
from pathlib import Path

import pytest

from fine.errors import FineError
from fine.io.locks import locked
from support.processes import SERVER


def test_a_locked_folder_is_refused_with_the_number_of_its_process(tmp_path):
    message = f"process {os.getpid()} is working in {tmp_path}: wait for it, or choose another"
    with locked(tmp_path), pytest.raises(FineError, match=message), locked(tmp_path):
        pass
    with locked(tmp_path):  # and free again
        pass


def test_a_lock_leaves_nothing_behind(tmp_path):
    with locked(tmp_path / "new/er"):
        assert (tmp_path / "new/er/lock").read_text() == str(os.getpid())
    assert not list(tmp_path.iterdir())


def test_what_was_written_under_a_lock_stays(tmp_path):
    with locked(tmp_path / "new"):
        (tmp_path / "new/file").write_text("kept")
    assert [path.name for path in tmp_path.rglob("*")] == ["new", "file"]


def test_a_failure_under_a_lock_frees_it(tmp_path):
    with pytest.raises(KeyboardInterrupt), locked(tmp_path / "new"):
        raise KeyboardInterrupt
    assert not (tmp_path / "new").exists()


def test_a_lock_file_of_a_process_that_is_gone_locks_nobody_out(tmp_path):
    (tmp_path / "lock").write_text("123456")
    with locked(tmp_path):
        assert (tmp_path / "lock").read_text() == str(os.getpid())
    assert not (tmp_path / "lock").exists()


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(FineError, match="is a file, not a folder"), locked(tmp_path / "file/run"):
        pass


def add_one(folder: Path, times: int) -> None:
    """Read a number, add one and write it: two processes at once would lose some."""
    for _ in range(times):
        with locked(folder, patience=120):
            (folder / "count").write_text(str(int((folder / "count").read_text()) + 1))


@pytest.mark.slow
def test_processes_that_wait_have_a_folder_one_after_the_other(tmp_path):
    """Though each deletes the lock file on which the others wait."""
    (tmp_path / "count").write_text("0")
    waiting = [SERVER.Process(target=add_one, args=(tmp_path, 25)) for _ in range(4)]
    for process in waiting:
        process.start()
    for process in waiting:
        process.join()
    assert (tmp_path / "count").read_text() == "100"
