"""Only regular files are opened, and only up to a size."""

import os
from pathlib import Path

import pytest

from fine.errors import FineError
from fine.io import untrusted
from fine.io.untrusted import open_regular, read_bytes, read_text
from support.odd_files import make_device, make_pipe, odd_files, without_waiting


def test_a_regular_file_is_read_also_through_links(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"content")
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "link to it").symlink_to(tmp_path / "link")
    for name in ("file", "link", "link to it"):
        assert read_bytes(tmp_path / name, largest=7, expected="a text") == b"content"
        with open_regular(tmp_path / name, largest=7, expected="a text") as file:
            assert file.read(3) == b"con"
            file.seek(0)
            assert file.read() == b"content"


@odd_files
def test_whatever_is_no_regular_file_is_refused_without_waiting(tmp_path: Path, make) -> None:
    make(tmp_path / "odd")
    with without_waiting(), pytest.raises((FineError, OSError)) as problem:
        read_bytes(tmp_path / "odd", largest=10, expected="a text")
    said = str(problem.value)
    assert str(tmp_path / "odd") in said and "\n" not in said
    if isinstance(problem.value, FineError):  # a link to itself is an OSError, as it always was
        assert "expected a text, in a regular file" in said


def test_a_device_is_not_even_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_device(tmp_path / "device")
    monkeypatch.setattr(os, "open", lambda *_: pytest.fail("opened"))
    with pytest.raises(FineError, match="is a device: expected a text"):
        read_bytes(tmp_path / "device", largest=10, expected="a text")


def test_a_file_that_becomes_a_pipe_is_not_waited_for(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "file").write_bytes(b"content")
    usual = untrusted._check

    def look_and_swap(path: Path, *rest: object) -> None:
        usual(path, *rest)
        path.unlink()
        make_pipe(path)
        monkeypatch.setattr(untrusted, "_check", usual)

    monkeypatch.setattr(untrusted, "_check", look_and_swap)
    with without_waiting(), pytest.raises(FineError, match="is a pipe: expected a text"):
        read_bytes(tmp_path / "file", largest=10, expected="a text")


def test_a_file_that_is_too_large_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with path.open("wb") as file:
        file.truncate(10**12)  # with nothing in it, so it takes no space
    with pytest.raises(FineError, match="has 1,000,000,000,000 bytes: expected a text of at most"):
        read_bytes(path, largest=10**11, expected="a text")


def test_files_that_the_system_makes_up_are_empty() -> None:
    """They have no size, and some of them have no end."""
    path = Path("/proc/self/maps")
    if not path.exists():
        pytest.skip("this system has no such files")
    assert read_bytes(path, largest=10, expected="a text") == b""


def test_missing_files_and_folders_are_the_usual_errors(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_bytes(tmp_path / "missing", largest=10, expected="a text")
    with pytest.raises(IsADirectoryError) as problem:
        read_bytes(tmp_path, largest=10, expected="a text")
    assert problem.value.filename == str(tmp_path)


def test_text_is_utf_8(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes("tschüß\r\n".encode())
    assert read_text(tmp_path / "file", largest=20, expected="a text") == "tschüß\r\n"
    (tmp_path / "file").write_bytes(b"\xff")
    with pytest.raises(ValueError, match="utf-8"):
        read_text(tmp_path / "file", largest=20, expected="a text")
