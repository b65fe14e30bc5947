"""MNIST: the 10,000 test digits of 28 × 28, bright on dark, to test models on."""

import gzip
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from fine.images.images import Images
from fine.images.official import OFFICIAL, damaged, reading
from fine.io.untrusted import open_regular

_SHAPES = {
    "t10k-images-idx3-ubyte.gz": (10_000, 28, 28),
    "t10k-labels-idx1-ubyte.gz": (10_000,),
}
_LARGEST = 8_000_000  # bytes, packed: the digits have a few less if they are not compressed at all


def load(*, size: int, data_root: Path) -> Images:
    """The digits. At size 32 they get a dark border of two pixels, so that none is resampled."""
    digits, labels = (_read(data_root / file) for file in OFFICIAL["mnist"].files)
    border = (size - 28) // 2
    padded = np.pad(digits, ((0, 0), (border, border), (border, border)))
    return Images(
        name="mnist",
        pixels=torch.from_numpy(padded)[:, None],
        labels=torch.from_numpy(labels.astype(np.int64)),
        class_names=tuple("0123456789"),
    )


def check(path: Path) -> str:
    """What a file holds, in words; an error if it is damaged."""
    kind = "digits" if "images" in path.name else "labels"
    return f"{len(_read(path)):,} {kind}"


def _read(path: Path) -> NDArray[np.uint8]:
    """The content of an idx file.

    It has two zero bytes, 8 for uint8, the number of axes, each axis as a big-endian int32, then
    the content.
    """
    shape = _SHAPES[path.name]
    header = bytes([0, 0, 8, len(shape)]) + np.array(shape, dtype=">i4").tobytes()
    length = len(header) + int(np.prod(shape))
    expected = f"gzipped idx bytes of shape {'×'.join(map(str, shape))}"
    with (
        reading(path, "mnist", expected),
        open_regular(path, largest=_LARGEST, expected=expected) as packed,
        gzip.GzipFile(fileobj=packed) as file,
    ):
        content = file.read(length + 1)  # no more, however much the file would unpack to
        if len(content) == length:
            file.read(1)  # reaches the end, where gzip compares its own checksum
    if not content.startswith(header):
        raise damaged(path, "mnist", expected, f"the header {content[: len(header)].hex()}")
    if len(content) != length:
        found = f"{len(content):,}" if len(content) < length else "more"
        raise damaged(path, "mnist", f"{length:,} bytes once unpacked", found)
    values = np.frombuffer(content, dtype=np.uint8, offset=len(header)).reshape(shape)
    if len(shape) == 1 and values.max() > 9:
        raise damaged(path, "mnist", "labels 0 to 9", f"the label {values.max()}")
    return values.copy()  # frombuffer is read-only, and torch wants writable memory
