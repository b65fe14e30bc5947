"""What tests of image files share: writing files, and checks of errors about them."""

import gzip
import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from fine.errors import FineError

MNIST_IMAGES, MNIST_LABELS = "t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz"
_IMAGES_HEADER = bytes.fromhex("00000803 00002710 0000001c 0000001c")
_LABELS_HEADER = bytes.fromhex("00000801 00002710")
DARK_DIGITS = {
    MNIST_IMAGES: gzip.compress(_IMAGES_HEADER + bytes(10_000 * 28 * 28), mtime=0),
    MNIST_LABELS: gzip.compress(_LABELS_HEADER + bytes(10_000), mtime=0),
}
"""Files as those of MNIST, with dark images and the label 0."""


def one_line(error: pytest.ExceptionInfo[FineError], *parts: str) -> None:
    """The message is one line and has all the parts in it."""
    message = str(error.value)
    assert "\n" not in message
    for part in parts:
        assert part in message


def write(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def png(side: int = 105) -> bytes:
    """A PNG of noise, so that no part of the file is redundant."""
    content = io.BytesIO()
    noise = np.random.default_rng(0).random((side, side)) < 0.5
    Image.fromarray(noise).save(content, "PNG")
    return content.getvalue()
