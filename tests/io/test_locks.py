"""Folder locks: one process at a time, however the one before has ended."""

import os
import shutil
from pathlib import Path

import pytest

from fine.errors import FineError
from fine.io.files import write_text, written_whole
from fine.io.locks import locked
from support.processes import SERVER


def process_in(folder: Path) -> int:
    """The number in a lock file."""
    return int((folder / "lock").read_text())


def test_a_locked_folder_is_refused_with_the_number_of_its_process(tmp_path):
    message = f"process {os.getpid()} is working in {tmp_path}: wait for it, or choose another"
    with locked(tmp_path), pytest.raises(FineError, match=message), locked(tmp_path):
        pass
    with locked(tmp_path):  # and free again
        pass


def test_a_lock_leaves_nothing_behind(tmp_path):
    with locked(tmp_path / "new/er"):
        assert process_in(tmp_path / "new/er") == os.getpid()
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
        assert process_in(tmp_path) == os.getpid()
    assert not (tmp_path / "lock").exists()


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(FineError, match="is a file, not a folder"), locked(tmp_path / "file/run"):
        pass


def test_a_lock_that_is_a_link_is_refused_and_its_target_left_alone(tmp_path):
    run, victim = tmp_path / "run", tmp_path / "victim"
    run.mkdir()
    victim.write_text("precious")
    make_links = {
        "link": lambda: (run / "lock").symlink_to(victim),
        "dangling link": lambda: (run / "lock").symlink_to(tmp_path / "new"),
        "second name": lambda: (run / "lock").hardlink_to(victim),
        "link to a device": lambda: (run / "lock").symlink_to("/dev/null"),
        "pipe": lambda: os.mkfifo(run / "lock"),
    }
    for kind, make in make_links.items():
        make()
        message = f"{run}/lock is a link or no ordinary file"
        with pytest.raises(FineError, match=message), locked(run):
            pass
        (run / "lock").unlink()
        assert victim.read_text() == "precious", kind
        assert sorted(path.name for path in tmp_path.rglob("*")) == ["run", "victim"], kind


def test_a_lock_that_becomes_a_link_at_the_last_moment_is_refused_too(tmp_path, monkeypatch):
    """Between the look at its name and its opening."""
    run, victim = tmp_path / "run", tmp_path / "victim"
    run.mkdir()
    victim.write_text("precious")
    regular = victim.stat()
    monkeypatch.setattr(Path, "lstat", lambda _: regular)
    for make, message in (
        ((run / "lock").symlink_to, f"could not write {run}/lock"),
        ((run / "lock").hardlink_to, "is a link or no ordinary file"),
    ):
        make(victim)
        with pytest.raises(FineError, match=message), locked(run):
            pass
        (run / "lock").unlink()
        assert victim.read_text() == "precious"


def test_nothing_is_written_to_a_locked_folder_that_was_deleted(tmp_path):
    folder = tmp_path / "run"
    with locked(folder):
        write_text(folder / "file", "kept")
        shutil.rmtree(folder)
        with pytest.raises(FineError, match=f"{folder} was deleted, moved or replaced while"):
            write_text(folder / "file", "again")
        assert not folder.exists()
    assert not folder.exists()


def begin_anew(folder: Path) -> None:
    """Delete a folder and put another in its place, as a second process would."""
    shutil.rmtree(folder)
    folder.mkdir()
    (folder / "lock").write_text(" 1")


def test_nothing_is_touched_in_a_locked_folder_that_was_begun_anew(tmp_path):
    folder = tmp_path / "run"
    with locked(folder):
        begin_anew(folder)
        with pytest.raises(FineError, match="was deleted, moved or replaced"):
            write_text(folder / "file", "mine")
    assert [path.name for path in folder.iterdir()] == ["lock"]
    assert process_in(folder) == 1


@pytest.mark.parametrize("replace_folder", [shutil.rmtree, begin_anew])
def test_nor_if_that_happens_in_the_middle_of_a_write(tmp_path, replace_folder):
    folder = tmp_path / "run"

    def write() -> None:
        with written_whole(folder / "file") as temporary:
            replace_folder(folder)
            if folder.exists():
                temporary.write_text("mine")

    with locked(folder), pytest.raises(FineError, match="was deleted, moved or replaced"):
        write()
    assert sorted(path.name for path in tmp_path.rglob("*")) in ([], ["lock", "run"])


def test_a_folder_that_is_not_locked_any_more_is_made_as_ever(tmp_path):
    with locked(tmp_path / "run"):
        pass
    write_text(tmp_path / "run/file", "new")
    assert (tmp_path / "run/file").read_text() == "new"


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
