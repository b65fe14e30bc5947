"""CIFAR-100: all 60,000 colour images of 32 × 32 in 100 fine classes, from the binary version."""

import os
from io import BufferedReader
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from fine.images.images import Images
from fine.images.official import LARGEST_FILE, OFFICIAL, damaged, reading
from fine.images.resampling import shrink
from fine.io.untrusted import open_regular, read_text

_RECORD = 2 + 3 * 32 * 32  # coarse label, fine label, then the red, the green and the blue plane
_RECORDS = {"train.bin": 50_000, "test.bin": 10_000}


def load(*, size: int, data_root: Path) -> Images:
    """The training images, then the test images, in the order of the files.

    The official split is ignored: tasks split by class.
    """
    train, test, names = (data_root / file for file in OFFICIAL["cifar100"].files)
    class_names = _read_names(names)
    parts = [_read(train), _read(test)]  # each (n, record)
    planes = np.concatenate([part[:, 2:] for part in parts])
    fine_labels = np.concatenate([part[:, 1] for part in parts])
    return Images(
        name="cifar100",
        pixels=shrink(torch.from_numpy(planes).view(-1, 3, 32, 32), size),
        labels=torch.from_numpy(fine_labels.astype(np.int64)),
        class_names=class_names,
    )


def check(path: Path) -> str:
    """What a file holds, in words, judged by its size; an error if it is damaged."""
    if path.suffix == ".txt":
        return f"{len(_read_names(path))} class names"
    _opened(path).close()
    return f"{_RECORDS[path.name]:,} images"


def _opened(path: Path) -> BufferedReader:
    """The file of records, if it has the right length."""
    records = _RECORDS[path.name]
    expected = f"{records * _RECORD:,} bytes ({records:,} records of {_RECORD:,})"
    with reading(path, "cifar100", expected):
        file = open_regular(path, largest=LARGEST_FILE, expected=expected)
    length = os.fstat(file.fileno()).st_size
    if length != records * _RECORD:
        file.close()
        raise damaged(path, "cifar100", expected, f"{length:,} bytes")
    return file


def _read(path: Path) -> NDArray[np.uint8]:  # (records, record)
    with _opened(path) as file, reading(path, "cifar100", f"records of {_RECORD:,} bytes"):
        records = np.fromfile(file, dtype=np.uint8).reshape(_RECORDS[path.name], _RECORD)
    highest = records[:, 1].max()
    if highest > 99:
        raise damaged(path, "cifar100", "fine labels 0 to 99", f"the label {highest}")
    return records


def _read_names(path: Path) -> tuple[str, ...]:
    expected = "100 different class names, one per line"
    with reading(path, "cifar100", expected):
        names = tuple(read_text(path, largest=100_000, expected=expected).split())
    if len(names) != 100 or len(set(names)) != 100:
        raise damaged(path, "cifar100", expected, f"{len(set(names))}")
    return names
