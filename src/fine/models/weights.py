"""Weights put into a model, after checking every name, shape and number.

model = load_trained("fine", path, channels=1, size=32, settings={"slots": 16})
load_weights(model, tensors, path)
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from fine.errors import FineError
from fine.io.tensors import read_tensors
from fine.models.initialisation import filled_later
from fine.models.registry import make_model, refuse_giant

_RENAMED = {
    ".misfits.mean": ".residuals.mean",
    ".misfits.row_spread": ".residuals.row_covariance",
    ".misfits.column_spread": ".residuals.column_covariance",
}
"""Ends of names that earlier versions wrote -> those of today."""


_FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
_INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool)


def load_trained(
    name: str, path: Path, *, channels: int, size: int, settings: Mapping[str, Any]
) -> nn.Module:
    """The model of this name and these settings with the weights of a file, ready to answer.

    Both may come from anywhere. Their shapes are compared before the model is made, so that it
    takes no more memory and time than its file.
    """
    outline = refuse_giant(name, channels=channels, size=size, settings=settings)
    tensors = read_tensors(path)[0]
    if outline is not None:
        _check_shapes(outline.state_dict(), _with_todays_names(tensors), path)
    with filled_later():
        model = make_model(name, channels=channels, size=size, settings=settings)
    load_weights(model, tensors, path)
    return model.eval()


def load_weights(model: nn.Module, tensors: dict[str, Tensor], path: Path) -> None:
    """Put the tensors of a file into a model, or say in one line what does not fit."""
    own, given = model.state_dict(), _with_todays_names(tensors)
    _check_shapes(own, given, path)
    # First in the precision of the model, where a large number may be infinite.
    weights = {name: given[name].to(tensor.dtype) for name, tensor in own.items()}
    for name, tensor in weights.items():
        if fault := _fault(name, tensor):
            raise FineError(
                f"{path}: '{name}' {fault}, so the model could not answer: train it again, or get "
                "it again"
            )
    model.load_state_dict(weights)


def _check_shapes(own: Mapping[str, Tensor], given: Mapping[str, Tensor], path: Path) -> None:
    """Refuse tensors that are not those of a model, by their names, shapes and types."""
    for name in sorted(own.keys() ^ given.keys()):
        has, lacks = str(path), "the model in config.json"
        if name not in given:
            has, lacks = lacks, has
        raise FineError(
            f"{has} has '{name}', which {lacks} lacks: file and configuration do not match"
        )
    for name, tensor in own.items():
        other = given[name]
        if tensor.shape != other.shape:
            raise FineError(
                f"{path}: '{name}' has shape {list(other.shape)}, the model in config.json needs "
                f"{list(tensor.shape)}"
            )
        kinds = _FLOATS if tensor.is_floating_point() else _INTEGERS
        if other.dtype not in kinds:
            raise FineError(
                f"{path}: '{name}' holds {other.dtype}, the model in config.json needs "
                f"{tensor.dtype}"
            )


def _fault(name: str, tensor: Tensor) -> str:
    """What is wrong with numbers that no training can have ended in; empty: nothing."""
    if not tensor.isfinite().all():
        return "has numbers that are not finite"
    if name.endswith("running_var") and (tensor < 0).any():
        return "has a negative variance"
    if name.endswith("_covariance") and torch.linalg.cholesky_ex(tensor).info.any():
        return "is not positive definite"
    return ""


def _with_todays_names(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {_renamed(name): tensor for name, tensor in tensors.items()}


def _renamed(name: str) -> str:
    for old, new in _RENAMED.items():
        if name.endswith(old):
            return name.removesuffix(old) + new
    return name
