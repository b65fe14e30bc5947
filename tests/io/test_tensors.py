"""Files of tensors are whole or not there."""

import errno
import os
from pathlib import Path

import pytest
import torch

from fine.errors import FineError
from fine.io.tensors import read_tensors, save_tensors
from support.folders import contents


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO])
def test_a_disk_that_fails_leaves_the_old_tensors_and_gets_one_line(tmp_path, monkeypatch, number):
    path = tmp_path / "t.safetensors"
    save_tensors(path, {"a": torch.ones(3)}, {"note": "old"})

    def fail(file: Path, content: bytes) -> None:
        file.write_text("half of")
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(Path, "write_bytes", fail)
    expected = "the disk is full" if number == errno.ENOSPC else os.strerror(number)
    with pytest.raises(FineError, match=expected) as problem:
        save_tensors(path, {"a": torch.zeros(3)})
    assert str(path) in str(problem.value) and "\n" not in str(problem.value)
    tensors, metadata = read_tensors(path)
    assert tensors["a"].tolist() == [1, 1, 1] and metadata == {"note": "old"}
    assert len(contents(tmp_path)) == 1


def test_tensors_come_back_as_they_were(tmp_path):
    path = tmp_path / "t.safetensors"
    tensors = {
        "a": torch.arange(6.0).view(2, 3).mT,  # not contiguous
        "b": torch.tensor(3),
        "c": torch.zeros(0, 2, dtype=torch.bool),
    }
    save_tensors(path, tensors, {"note": "tschüß"})
    found, metadata = read_tensors(path)
    assert metadata == {"note": "tschüß"} and found.keys() == tensors.keys()
    for name, tensor in tensors.items():
        assert torch.equal(found[name], tensor) and found[name].dtype == tensor.dtype


def test_texts_beside_tensors_may_be_left_out(tmp_path):
    save_tensors(tmp_path / "t.safetensors", {"a": torch.ones(1)})
    assert read_tensors(tmp_path / "t.safetensors")[1] == {}


def test_others_may_read_the_file(tmp_path):
    """As any file that is written here; safetensors itself would keep it to its owner."""
    save_tensors(tmp_path / "t.safetensors", {"a": torch.ones(1)})
    (tmp_path / "usual").write_text("")
    assert (tmp_path / "t.safetensors").stat().st_mode == (tmp_path / "usual").stat().st_mode


@pytest.mark.parametrize("content", [b"", b"nonsense", b"\xff" * 100])
def test_a_file_that_holds_no_tensors_is_named(tmp_path, content):
    (tmp_path / "t.safetensors").write_bytes(content)
    with pytest.raises(FineError, match=r"t\.safetensors is damaged .*: expected a safetensors"):
        read_tensors(tmp_path / "t.safetensors")


def test_a_missing_file_is_named_with_the_command_that_makes_it(tmp_path):
    message = (
        f"is missing: the run has not finished; continue it with `fine train --resume {tmp_path}"
    )
    with pytest.raises(FineError, match=message):
        read_tensors(tmp_path / "model.safetensors")
