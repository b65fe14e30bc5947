"""Tensors in safetensors files: written whole, and read without unpickling anything.

save_tensors(path, model.state_dict(), {"note": "a text beside the tensors"})
tensors, metadata = read_tensors(path)
"""

import hashlib
from pathlib import Path

import safetensors
import safetensors.torch
from torch import Tensor

from fine.errors import FineError
from fine.io.files import written_whole
from fine.io.untrusted import open_regular

LARGEST_FILE = 10_000_000_000
"""Bytes: a checkpoint of the largest model, three numbers a weight, has fewer."""
LARGEST_HEADER = 8_000_000
"""Bytes of names, shapes and texts: 99 MB would take a gigabyte and most of a minute to look at.
The curve of 40,000 epochs fits, and that of a usual run is a thousandth of it."""
_EXPECTED = "a safetensors file"


def save_tensors(
    path: Path, tensors: dict[str, Tensor], metadata: dict[str, str] | None = None
) -> None:
    """Write tensors, and texts beside them, whole or not at all."""
    plain = {name: tensor.detach().contiguous() for name, tensor in tensors.items()}
    content = safetensors.torch.save(plain, metadata)
    with written_whole(path) as temporary:
        temporary.write_bytes(content)  # save_file would make a file that only its owner may read


def read_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """The tensors in a file and the texts beside them."""
    try:
        _check_header(path)
        with safetensors.safe_open(path, framework="pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            return tensors, file.metadata() or {}
    except FileNotFoundError:
        raise FineError(
            f"{path} is missing: the run has not finished; continue it with "
            f"`fine train --resume {path.parent}`"
        ) from None
    except (safetensors.SafetensorError, OSError) as problem:
        raise FineError(
            f"{path} is damaged ({problem}): expected {_EXPECTED}; train the run again"
        ) from problem


def file_digest(path: Path) -> str:
    """SHA-256 of a file of tensors, in hexadecimal digits."""
    with open_regular(path, largest=LARGEST_FILE, expected=_EXPECTED) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _check_header(path: Path) -> None:
    """Refuse a file that is no regular one, or whose header is too long to be looked at."""
    with open_regular(path, largest=LARGEST_FILE, expected=_EXPECTED) as file:
        length = int.from_bytes(file.read(8), "little")
    if length > LARGEST_HEADER:
        raise FineError(
            f"{path} is damaged (its header has {length:,} bytes, more than {LARGEST_HEADER:,}): "
            f"expected {_EXPECTED}; train the run again"
        )
