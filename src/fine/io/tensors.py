"""Tensors in safetensors files: written whole, and read without unpickling anything.

save_tensors(path, model.state_dict(), {"note": "a text beside the tensors"})
tensors, metadata = read_tensors(path)
"""

from pathlib import Path

import safetensors
import safetensors.torch
from torch import Tensor

from fine.errors import FineError
from fine.io.files import written_whole


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
            f"{path} is damaged ({problem}): expected a safetensors file; train the run again"
        ) from problem
