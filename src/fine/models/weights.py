"""Weights put into a model, after checking every name and shape."""

from pathlib import Path

from torch import Tensor, nn

from fine.errors import FineError

_RENAMED = {
    ".misfits.mean": ".residuals.mean",
    ".misfits.row_spread": ".residuals.row_covariance",
    ".misfits.column_spread": ".residuals.column_covariance",
}
"""Ends of names that earlier versions wrote -> those of today."""


def load_weights(model: nn.Module, tensors: dict[str, Tensor], path: Path) -> None:
    """Put the tensors of a file into a model, or say in one line what does not fit."""
    own = model.state_dict()
    tensors = {_renamed(name): tensor for name, tensor in tensors.items()}
    for name in sorted(own.keys() ^ tensors.keys()):
        has, lacks = str(path), "the model in config.json"
        if name not in tensors:
            has, lacks = lacks, has
        raise FineError(
            f"{has} has '{name}', which {lacks} lacks: file and configuration do not match"
        )
    for name, tensor in own.items():
        given = tensors[name]
        if tensor.shape != given.shape:
            raise FineError(
                f"{path}: '{name}' has shape {list(given.shape)}, the model in config.json needs "
                f"{list(tensor.shape)}"
            )
        if tensor.is_floating_point() != given.is_floating_point() or given.is_complex():
            raise FineError(
                f"{path}: '{name}' holds {given.dtype}, the model in config.json needs "
                f"{tensor.dtype}"
            )
    model.load_state_dict(tensors)


def _renamed(name: str) -> str:
    for old, new in _RENAMED.items():
        if name.endswith(old):
            return name.removesuffix(old) + new
    return name
