"""Promises of errors and files: one line that helps, and a file that is whole or not there."""

import errno
import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pytest
import torch

from fine.errors import FineError, unknown
from fine.runs import read_tensors, save_tensors
from fine.storage import read_json, remove_leftovers, write_json, write_text, written_whole
from fine.typed_json import read_as

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

    def fail(file: Path, content: bytes) -> None:
        file.write_text("half of")
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(Path, "write_bytes", fail)
    with pytest.raises(FineError, match="the disk is full" if number == errno.ENOSPC else os.strerror(number)) as problem:
        save_tensors(path, {"a": torch.zeros(3)})
    assert str(path) in str(problem.value) and "\n" not in str(problem.value)
    tensors, metadata = read_tensors(path)
    assert tensors["a"].tolist() == [1, 1, 1] and metadata == {"note": "old"} and len(contents(tmp_path)) == 1


def test_names_are_flushed_to_disk_as_well_as_what_is_in_the_file(tmp_path, monkeypatch):
    flushed = []

    def fsync(file: int) -> None:
        flushed.append(str(Path(f"/proc/self/fd/{file}").readlink()) if Path("/proc/self/fd").exists() else file)

    monkeypatch.setattr(os, "fsync", fsync)
    write_text(tmp_path / "new/er/file", "text")
    # The file, its name, and the names of the two folders that were made for it; after a power cut none of them is missing.
    if Path("/proc/self/fd").exists():
        file, *folders = flushed
        assert file.endswith(".part") and folders == [str(tmp_path / "new/er"), str(tmp_path / "new"), str(tmp_path)]
    assert len(flushed) == 4


def test_what_a_killed_process_half_wrote_is_removed_and_nothing_else(tmp_path):
    for name in (".state.safetensors.123.part", ".config.json.9.part", "kept.part", ".kept", "state.safetensors"):
        (tmp_path / name).write_text("x")
    remove_leftovers(tmp_path)
    assert sorted(contents(tmp_path)) == [".kept", "kept.part", "state.safetensors"]


def test_an_error_is_one_line_that_cannot_move_the_cursor():
    message = str(FineError("'\x1b[2Jname\r\n\ud800' is not good: give \u202eanother"))
    assert message == "'�[2Jname� �' is not good: give �another" and message.isprintable()


def test_an_error_that_repeats_a_long_text_keeps_its_beginning_and_its_end():
    message = str(FineError(f"'{'9' * 100_000}' is not a length of time: write it as 2h"))
    assert (
        message.startswith("'999") and message.endswith("999' is not a length of time: write it as 2h") and len(message) < 1010
    )


@dataclass(frozen=True)
class Inner:
    word: str = "usual"


@dataclass(frozen=True)
class Outer:
    number: int
    inner: Inner
    share: float = 0.5
    pairs: tuple[tuple[str, float], ...] = ()
    any: dict[str, Any] = field(default_factory=dict)


def test_json_is_read_as_a_dataclass():
    whole = Outer(3, Inner("x"), 1, (("a", 2.0),), {"b": [1]})
    assert read_as(Outer, json.loads(json.dumps(asdict(whole)))) == whole
    assert read_as(Outer, {"number": 3, "inner": {}}) == Outer(3, Inner())


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"number": True}, "number is 'True' where int is expected"),
        ({"number": 1.0}, "number is '1.0' where int"),
        ({"inner": 5}, "inner is '5' where Inner"),
        ({"inner": {"word": None}}, "word is 'None' where str"),
        ({"inner": {"word": "a\0b"}}, "where str"),
        ({"inner": {"word": "\ud800"}}, "where str"),
        ({"inner": {"surprise": 1}}, "inner has 'surprise', which is not known here"),
        ({"share": float("nan")}, "share is 'nan' where float"),
        ({"share": 10**400}, "where float"),
        ({"share": "1"}, "share is '1' where float"),
        ({"pairs": [["a"]]}, "pairs has 1 parts where 2 are expected"),
        ({"pairs": "ab"}, "pairs is 'ab' where"),
        ({"any": []}, "any is '\\[\\]' where"),
    ],
)
def test_json_that_does_not_fit_is_named(changed, message):
    with pytest.raises(ValueError, match=message):
        read_as(Outer, {"number": 3, "inner": {}, **changed})


def test_json_that_lacks_a_field_is_named():
    with pytest.raises(ValueError, match="it lacks 'number'"):
        read_as(Outer, {"inner": {}})


@pytest.mark.parametrize(
    "content", ["[" * 100_000, '{"a": ' * 50_000, '{"a": "' + "x" * 20_000_000 + '"}'], ids=["list", "dict", "long"]
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
    write_json(tmp_path / "file.json", {"a": 1})
    with pytest.raises(TypeError):
        write_json(tmp_path / "file.json", {"a": object()})
    assert json.loads((tmp_path / "file.json").read_text()) == {"a": 1} and len(contents(tmp_path)) == 1
