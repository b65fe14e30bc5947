"""Files are whole or not there, and whatever goes wrong is one line that helps."""

import errno
import json
import os
import stat
from pathlib import Path

import pytest

from fine.errors import FineError
from fine.io import files
from fine.io.files import read_json, remove_leftovers, write_json, write_text, written_whole
from support.folders import contents
from support.odd_files import (
    NULL,
    make_device,
    make_pipe,
    make_socket,
    odd_files,
    without_waiting,
)


def raising(number: int):
    def fail(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    return fail


def test_a_text_is_written_with_the_folders_it_needs_and_nothing_beside_it(tmp_path):
    write_text(tmp_path / "new/er/text.txt", "tschüß ✓")
    text = "tschüß ✓".encode()
    assert contents(tmp_path) == {"new": None, "new/er": None, "new/er/text.txt": text}


def test_json_comes_back_as_it_was(tmp_path):
    write_json(tmp_path / "file.json", {"a": [1, 2.5, None], "ü": {"b": True}})
    assert read_json(tmp_path / "file.json") == {"a": [1, 2.5, None], "ü": {"b": True}}


@pytest.mark.parametrize("problem", [ValueError, KeyboardInterrupt, FineError, MemoryError])
@pytest.mark.parametrize("before", [{}, {"new/file": "old"}, {"new/other": "kept"}])
def test_whatever_goes_wrong_while_writing_leaves_everything_as_it_was(tmp_path, problem, before):
    for name, text in before.items():
        write_text(tmp_path / name, text)
    kept = contents(tmp_path)

    def write_half() -> None:
        with written_whole(tmp_path / "new/file") as temporary:
            temporary.write_text("half of")
            raise problem

    with pytest.raises(problem):
        write_half()
    assert contents(tmp_path) == kept


def test_a_file_is_not_seen_under_its_name_before_it_is_whole(tmp_path):
    write_text(tmp_path / "file", "old")
    with written_whole(tmp_path / "file") as temporary:
        temporary.write_text("new")
        assert (tmp_path / "file").read_text() == "old"
    assert contents(tmp_path) == {"file": b"new"}


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS])
@pytest.mark.parametrize("call", ["fsync", "replace", "mkdir"])
def test_a_disk_that_fails_at_any_step_leaves_the_old_file_and_gets_one_line(
    tmp_path, monkeypatch, call, number
):
    write_text(tmp_path / "file", "old")
    monkeypatch.setattr(os if call == "fsync" else Path, call, raising(number))
    with pytest.raises(FineError) as problem:
        write_text(tmp_path / "file", "new")
    message, full = str(problem.value), number in (errno.ENOSPC, errno.EDQUOT)
    expected = "the disk is full" if full else os.strerror(number)
    assert expected in message and str(tmp_path / "file") in message
    assert ("free some space" in message) == full and "\n" not in message
    assert contents(tmp_path) == {"file": b"old"}


def test_names_are_flushed_to_disk_as_well_as_what_is_in_the_file(tmp_path, monkeypatch):
    flushed = []
    names = Path("/proc/self/fd")

    def fsync(file: int) -> None:
        flushed.append(str((names / str(file)).readlink()) if names.exists() else file)

    monkeypatch.setattr(os, "fsync", fsync)
    write_text(tmp_path / "new/er/file", "text")
    # The file, its name, and the names of the two folders that were made for it: after a power cut
    # none of them is missing.
    if names.exists():
        file, *folders = flushed
        assert file.endswith(".part")
        assert folders == [str(tmp_path / "new/er"), str(tmp_path / "new"), str(tmp_path)]
    assert len(flushed) == 4


def test_what_a_killed_process_half_wrote_is_removed_and_nothing_else(tmp_path):
    leftovers = (".state.safetensors.123.part", ".config.json.9.part")
    for name in (*leftovers, "kept.part", ".kept", "state.safetensors"):
        (tmp_path / name).write_text("x")
    remove_leftovers(tmp_path)
    assert sorted(contents(tmp_path)) == [".kept", "kept.part", "state.safetensors"]


@pytest.mark.parametrize(
    "content",
    ["[" * 100_000, '{"a": ' * 50_000],
    ids=["list", "dict"],
)
def test_json_that_is_deep_is_refused(tmp_path, content):
    (tmp_path / "file.json").write_text(content)
    with pytest.raises(FineError, match="cannot be read as JSON"):
        read_json(tmp_path / "file.json")


def test_json_that_is_long_is_refused(tmp_path):
    (tmp_path / "file.json").write_text('{"a": "' + "x" * files.LARGEST_JSON + '"}')
    with pytest.raises(FineError, match="expected a JSON file of at most 10,000,000"):
        read_json(tmp_path / "file.json")


def test_a_file_in_the_way_of_a_folder_is_named(tmp_path):
    write_text(tmp_path / "file", "old")
    for path in (tmp_path / "file/new", tmp_path / "file/far/new"):
        with pytest.raises(FineError, match="is a file, not a folder") as problem:
            write_text(path, "new")
        assert f"{tmp_path / 'file'} is a file" in str(problem.value)
    assert contents(tmp_path) == {"file": b"old"}


def test_a_folder_in_the_way_of_a_file_is_named(tmp_path):
    (tmp_path / "taken").mkdir()
    with pytest.raises(FineError, match="it is a folder; give the name of a file"):
        write_text(tmp_path / "taken", "new")
    assert contents(tmp_path) == {"taken": None}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "is missing"),
        (b"{", "cannot be read as JSON"),
        (b"", "cannot be read as JSON"),
        (b"\xff\xfe{", "cannot be read as JSON"),
        (b"[1]", "holds a JSON list: expected an object"),
    ],
)
def test_json_that_cannot_be_used_is_named_in_one_line(tmp_path, content, message):
    path = tmp_path / "file.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(FineError, match=message) as problem:
        read_json(path)
    assert str(path) in str(problem.value) and "\n" not in str(problem.value)


def test_a_value_that_is_no_json_leaves_the_old_file(tmp_path):
    path = tmp_path / "file.json"
    write_json(path, {"a": 1})
    with pytest.raises(TypeError):
        write_json(path, {"a": object()})
    assert json.loads(path.read_text()) == {"a": 1} and len(contents(tmp_path)) == 1


@pytest.mark.parametrize("make", [make_pipe, make_socket, make_device])
def test_what_is_no_file_is_refused_and_stays_what_it_is(tmp_path, make):
    make(tmp_path / "odd")
    before = (tmp_path / "odd").lstat()
    with without_waiting(), pytest.raises(FineError, match="give the name of a regular file") as it:
        write_text(tmp_path / "odd", "text")
    assert str(tmp_path / "odd") in str(it.value) and "\n" not in str(it.value)
    assert (tmp_path / "odd").lstat() == before
    assert [path.name for path in tmp_path.iterdir()] == ["odd"]


@pytest.fixture
def devices(tmp_path, monkeypatch):
    """A folder in the place of /dev: nothing here may ever be tried on the real one."""
    monkeypatch.setattr(files, "_DEVICES", tmp_path / "dev")
    (tmp_path / "dev").mkdir()
    return tmp_path / "dev"


def test_a_device_of_the_system_is_written_to_and_stays_a_device(devices):
    make_device(devices / "null")
    write_json(devices / "null", {"a": 1})
    with pytest.raises(TypeError):
        write_json(devices / "null", {"a": object()})
    found = (devices / "null").lstat()
    assert stat.S_ISCHR(found.st_mode) and found.st_rdev == NULL
    assert [path.name for path in devices.iterdir()] == ["null"]


def test_a_device_that_is_full_is_a_full_disk(devices):
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("this system has no disk that is always full")
    make_device(devices / "full", full.stat().st_rdev)
    with pytest.raises(FineError, match=r"the disk is full: could not write .*/dev/full"):
        write_text(devices / "full", "text")
    assert stat.S_ISCHR((devices / "full").lstat().st_mode)


@pytest.mark.parametrize("name", ["stdout", "stderr", "fd/1"])
def test_own_output_is_written_to_in_its_turn(devices, name, capfd):
    print("before", flush=True)
    write_json(devices / name, {"a": 1})
    print("after", flush=True)
    text = '{\n  "a": 1\n}\n'
    in_turn = ("before\nafter\n", text) if name == "stderr" else (f"before\n{text}after\n", "")
    assert capfd.readouterr() == in_turn and contents(devices) == {}


def test_output_that_is_closed_is_one_line(devices):
    for name in ("999999", "9" * 100):
        with pytest.raises(FineError, match=r"could not write .*Bad file descriptor"):
            write_text(devices / "fd" / name, "text")


def test_a_link_is_refused_and_what_it_leads_to_is_not_touched(tmp_path):
    (tmp_path / "victim").write_text("precious")
    (tmp_path / "folder").mkdir()
    for name, target in (("link", "../victim"), ("dangling", "../new"), ("loop", "loop")):
        link = tmp_path / "folder" / name
        link.symlink_to(target)
        with pytest.raises(FineError, match="it is a link") as problem:
            write_text(link, "text")
        assert str(link) in str(problem.value) and link.is_symlink()
    assert (tmp_path / "victim").read_text() == "precious" and not (tmp_path / "new").exists()


def test_a_link_with_the_name_of_the_temporary_file_leads_nowhere(tmp_path):
    """Its name can be guessed, so a folder that somebody shared may hold it."""
    (tmp_path / "victim").write_text("precious")
    (tmp_path / f".file.{os.getpid()}.part").symlink_to("victim")
    write_text(tmp_path / "file", "text")
    assert contents(tmp_path) == {"victim": b"precious", "file": b"text"}


def test_of_leftovers_that_are_links_only_the_links_are_removed(tmp_path):
    (tmp_path / "folder/.is.a.part").mkdir(parents=True)
    (tmp_path / "victims").mkdir()
    (tmp_path / "victims/file").write_text("precious")
    for number, target in enumerate(("../victims/file", "../victims", "../missing")):
        (tmp_path / f"folder/.x.{number}.part").symlink_to(target)
    remove_leftovers(tmp_path / "folder")
    kept = {"folder": None, "folder/.is.a.part": None, "victims": None}
    assert contents(tmp_path) == {**kept, "victims/file": b"precious"}


@odd_files
def test_json_in_what_is_no_file_is_refused_without_waiting(tmp_path, make):
    make(tmp_path / "config.json")
    with without_waiting(), pytest.raises(FineError, match=r"config\.json"):
        read_json(tmp_path / "config.json")


@pytest.mark.parametrize("path", [Path(), Path("/")])
def test_a_folder_is_no_file_to_write(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FineError, match="it is a folder; give the name of a file"):
        write_text(path, "text")
    assert not contents(tmp_path)
