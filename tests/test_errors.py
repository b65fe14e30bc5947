"""Promises of errors and files: one line that helps, and a file that is whole or not there."""

import errno
import json
import os
from pathlib import Path

import pytest
import safetensors
import safetensors.torch
import torch

from fine.errors import FineError, unknown
from fine.runs import read_tensors, save_tensors
from fine.storage import read_json, write_json, write_text, written_whole

NAMES = ("translation", "rotation", "reflection")


def contents(folder: Path) -> dict[str, bytes | None]:
    """Everything below a folder: bytes of files, None for folders."""
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


def raising(number: int):
    def fail(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    return fail


@pytest.mark.parametrize(
    ("given", "nearest"), [("rotatoin", "rotation"), ("translate", "translation"), ("Reflection", "reflection")]
)
def test_an_unknown_name_is_answered_with_the_nearest_one_and_all_others(given, nearest):
    message = str(unknown("rules", given, NAMES))
    assert message.startswith(f"unknown rules '{given}': did you mean '{nearest}'?")
    assert message.endswith("choose one of translation, rotation, reflection") and "\n" not in message


@pytest.mark.parametrize("given", ["", "qqq"])
def test_a_name_like_no_other_gets_no_guess(given):
    assert str(unknown("rules", given, NAMES)) == f"unknown rules '{given}': choose one of translation, rotation, reflection"


def test_the_valid_names_may_come_from_anything_that_can_be_gone_through_once():
    assert "did you mean 'rotation'" in str(unknown("rules", "rotatio", (name for name in NAMES)))


def test_a_text_is_written_with_the_folders_it_needs_and_nothing_beside_it(tmp_path):
    write_text(tmp_path / "new/er/text.txt", "tschüß ✓")
    assert contents(tmp_path) == {"new": None, "new/er": None, "new/er/text.txt": "tschüß ✓".encode()}


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
def test_a_disk_that_fails_at_any_step_leaves_the_old_file_and_is_told_in_one_line(tmp_path, monkeypatch, call, number):
    write_text(tmp_path / "file", "old")
    if call == "fsync":
        monkeypatch.setattr(os, "fsync", raising(number))
    else:
        monkeypatch.setattr(Path, call, raising(number))
    with pytest.raises(FineError) as problem:
        write_text(tmp_path / "file", "new")
    full = number in (errno.ENOSPC, errno.EDQUOT)
    expected = "the disk is full" if full else os.strerror(number)
    assert expected in str(problem.value) and str(tmp_path / "file") in str(problem.value)
    assert ("free some space" in str(problem.value)) == full and "\n" not in str(problem.value)
    assert contents(tmp_path) == {"file": b"old"}


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO])
def test_a_disk_that_fails_under_tensors_leaves_the_old_ones_and_is_told_in_one_line(tmp_path, monkeypatch, number):
    path = tmp_path / "t.safetensors"
    save_tensors(path, {"a": torch.ones(3)}, {"note": "old"})

    def fail(_: dict, file: Path, *__: object) -> None:
        Path(file).write_bytes(b"half of")
        # The words of the library's own writer.
        raise safetensors.SafetensorError(f"Error while serializing: I/O error: {os.strerror(number)} (os error {number})")

    monkeypatch.setattr(safetensors.torch, "save_file", fail)
    with pytest.raises(FineError, match="the disk is full" if number == errno.ENOSPC else os.strerror(number)) as problem:
        save_tensors(path, {"a": torch.zeros(3)})
    assert str(path) in str(problem.value) and "\n" not in str(problem.value)
    tensors, metadata = read_tensors(path)
    assert tensors["a"].tolist() == [1, 1, 1] and metadata == {"note": "old"} and len(contents(tmp_path)) == 1


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
    write_json(tmp_path / "file.json", {"a": 1})
    with pytest.raises(TypeError):
        write_json(tmp_path / "file.json", {"a": object()})
    assert json.loads((tmp_path / "file.json").read_text()) == {"a": 1} and len(contents(tmp_path)) == 1
