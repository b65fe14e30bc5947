"""Files are whole or not there, and whatever goes wrong is one line that helps."""

import errno
import json
import os
from pathlib import Path

import pytest

from fine.errors import FineError
from fine.io.files import read_json, remove_leftovers, write_json, write_text, written_whole
from support.folders import contents


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
    ["[" * 100_000, '{"a": ' * 50_000, '{"a": "' + "x" * 20_000_000 + '"}'],
    ids=["list", "dict", "long"],
)
def test_json_that_is_deep_or_long_is_refused(tmp_path, content):
    (tmp_path / "file.json").write_text(content)
    with pytest.raises(FineError, match="cannot be read as JSON"):
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
