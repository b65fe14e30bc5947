"""Files of tensors are whole or not there."""

import errno
import json
import os
from pathlib import Path

import pytest
import torch

from fine.errors import FineError
from fine.io.tensors import LARGEST_HEADER, read_tensors, save_tensors
from support.folders import contents
from support.fuzzing import limits
from support.odd_files import odd_files, without_waiting


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


@odd_files
def test_what_is_no_file_is_refused_without_waiting(tmp_path, make):
    make(tmp_path / "t.safetensors")
    with without_waiting(), pytest.raises(FineError, match=r"t\.safetensors .*a safetensors file"):
        read_tensors(tmp_path / "t.safetensors")


def with_header(length: int, header: bytes) -> bytes:
    return length.to_bytes(8, "little") + header


@pytest.mark.parametrize("length", [LARGEST_HEADER + 1, 99_000_000, 2**63])
def test_a_long_header_is_refused_before_it_is_looked_at(tmp_path, length):
    """A header of 99 MB would take most of a minute, and more than a gigabyte."""
    with (tmp_path / "t.safetensors").open("wb") as file:
        file.write(with_header(length, b"{"))
        file.truncate(200_000_000)  # which takes no space, for there is nothing there
    said = f"its header has {length:,} bytes, more than 8,000,000"
    with limits(), pytest.raises(FineError, match=said):
        read_tensors(tmp_path / "t.safetensors")


@pytest.mark.slow
def test_the_longest_header_that_is_read_keeps_to_the_limits(tmp_path):
    entry = '"{0:x}":{{"dtype":"U8","shape":[],"data_offsets":[{0},{1}]}}'
    count = LARGEST_HEADER // 65
    entries = ",".join(entry.format(number, number + 1) for number in range(count))
    header = f"{{{entries}}}".encode()
    assert 0.9 * LARGEST_HEADER < len(header) <= LARGEST_HEADER
    content = with_header(len(header), header) + bytes(count)
    (tmp_path / "t.safetensors").write_bytes(content)
    with limits():
        assert len(read_tensors(tmp_path / "t.safetensors")[0]) == count


def test_a_tensor_of_gigabytes_takes_no_memory_before_it_is_looked_at(tmp_path):
    header = b'{"a":{"dtype":"F32","shape":[2000000000],"data_offsets":[0,8000000000]}}'
    with (tmp_path / "t.safetensors").open("wb") as file:
        file.write(with_header(len(header), header))
        file.truncate(8 + len(header) + 8_000_000_000)
    with limits():
        assert read_tensors(tmp_path / "t.safetensors")[0]["a"].shape == (2_000_000_000,)


def test_the_curve_of_a_very_long_run_fits_beside_the_tensors(tmp_path):
    row = {"epoch": 40_000, "loss": 0.123456789, "accuracy": 0.123456789, "rate": 0.00012345}
    curve = json.dumps([{**row, "puzzles/s": 1234.5}] * 40_000)
    save_tensors(tmp_path / "t.safetensors", {"a": torch.ones(1)}, {"progress": curve})
    assert read_tensors(tmp_path / "t.safetensors")[1] == {"progress": curve}
