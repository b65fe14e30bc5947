"""The official files of Omniglot, CIFAR-100 and MNIST: paths, addresses, and errors about them.

Files lie under a data root, as ``omniglot/images_background.zip`` and so on. A file found there is
judged by its content, not by its checksum, so a rebuilt zip is as good as the official one. Only a
download has to match the checksum.
"""

import contextlib
import os
import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from fine.errors import FineError, unknown

LARGEST_FILE = 500_000_000
"""Bytes of an official file, or of a download; the largest has less than half of it."""


@dataclass(frozen=True)
class OfficialSource:
    """The files that a source needs, and the downloads that hold them."""

    address: str
    """The https folder of the downloads."""
    downloads: dict[str, str]
    """File name at that address -> md5, as published."""
    files: tuple[str, ...]
    """Paths under the data root. A file that is no download is a member of the tar archive."""

    def md5(self, file: str) -> str | None:
        """The published md5 of a file; None if only its archive has one."""
        return self.downloads.get(Path(file).name)


OFFICIAL = {
    "omniglot": OfficialSource(
        address="https://github.com/brendenlake/omniglot/raw/master/python",
        downloads={
            "images_background.zip": "68d2efa1b9178cc56df9314c21c6e718",
            "images_evaluation.zip": "6b91aef0f799c5bb55b94e3f2daec811",
        },
        files=("omniglot/images_background.zip", "omniglot/images_evaluation.zip"),
    ),
    "cifar100": OfficialSource(
        address="https://www.cs.toronto.edu/~kriz",
        downloads={"cifar-100-binary.tar.gz": "03b5dce01913d631647c71ecec9e9cb8"},
        files=(
            "cifar-100-binary/train.bin",
            "cifar-100-binary/test.bin",
            "cifar-100-binary/fine_label_names.txt",
        ),
    ),
    "mnist": OfficialSource(
        address="https://ossci-datasets.s3.amazonaws.com/mnist",
        downloads={
            "t10k-images-idx3-ubyte.gz": "9fb629c4189551a2d022fa330f9573f3",
            "t10k-labels-idx1-ubyte.gz": "ec29112dd5afa0611ce80d1b7f02629c",
        },
        files=("mnist/t10k-images-idx3-ubyte.gz", "mnist/t10k-labels-idx1-ubyte.gz"),
    ),
}
"""Every source with official files, by name."""


def find_data_root(given: Path | str | None = None) -> Path:
    """The folder of the official files: ``given``, else FINE_DATA, else the user's cache folder."""
    root = given or os.environ.get("FINE_DATA") or platformdirs.user_cache_dir("fine")
    # Path.expanduser raises for an unknown user
    return Path(os.path.expanduser(root)).absolute()  # noqa: PTH111


def official_source(name: str) -> OfficialSource:
    """The source of that name; the error for any other name lists the official sources."""
    if name not in OFFICIAL:
        raise unknown("downloadable image source", name, OFFICIAL)
    return OFFICIAL[name]


def damaged(path: Path, source: str, expected: str, found: str) -> FineError:
    """The error for a file whose content is wrong."""
    remedy = f"delete it and run `fine data download {source}`"
    return FineError(f"{path} is damaged: expected {expected}, found {found}; {remedy}")


# What zipfile, gzip and Pillow raise for broken files: SyntaxError for a PNG, RuntimeError for
# encrypted zip entries.
_BROKEN = (
    *(OSError, EOFError, ValueError, OverflowError, SyntaxError, RuntimeError),
    *(struct.error, zipfile.BadZipFile, zlib.error),
)


@contextlib.contextmanager
def reading(path: Path, source: str, expected: str) -> Iterator[None]:
    """Turn any error while reading an official file into one line with the file and the remedy."""
    try:
        yield
    except FileNotFoundError:
        raise FineError(
            f"{path} is missing from the data root {path.parents[1]}: run `fine data download "
            f"{source}`, or set FINE_DATA or --data-root to a folder that holds "
            f"{path.parent.name}/{path.name}"
        ) from None
    except (PermissionError, IsADirectoryError, NotADirectoryError) as problem:
        raise FineError(
            f"{path} cannot be read ({problem.strerror}): expected {expected}"
        ) from problem
    except _BROKEN as problem:
        # shortened, because zipfile can quote half the file
        found = " ".join(str(problem).split())[:200] or type(problem).__name__
        raise damaged(path, source, expected, found) from problem
