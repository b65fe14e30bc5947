"""Checkpoints: weights, optimiser and learning curve after a whole epoch, in one safetensors file.

    save_checkpoint(path, config, model, optimiser, CheckpointMeta(epochs, seconds, metrics))
    meta = load_checkpoint(path, config, model, optimiser, parameters)

All randomness is addressed by (seed, epoch), so there is no generator state to save. The metadata
has the progress of the run, its configuration, and a checksum of everything. A run whose
configuration was changed is not resumed, nor is a file with one bit changed. Checkpoints of formats
1 to 3 have the progress only.
"""

import csv
import hashlib
import io
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from fine.errors import FineError
from fine.io.files import write_text
from fine.io.tables import read_table
from fine.io.tensors import read_tensors, save_tensors
from fine.io.typed_json import parse_json, read_as
from fine.models.weights import load_weights
from fine.training.run import RunConfig, difference, from_format, with_format

CURVE = ("epoch", "loss", "accuracy", "rate", "puzzles/s")
"""Columns of a run's learning curve, metrics.csv."""
TEST_ACCURACY = "test accuracy"
"""A further column, filled in after the epochs of `Training.test_epochs`."""
_MOMENTS = {"step", "exp_avg", "exp_avg_sq"}  # what Adam keeps for a parameter


@dataclass(frozen=True)
class CheckpointMeta:
    """The progress of a run when its checkpoint was written."""

    epochs: int
    """Epochs trained."""
    seconds: float
    """Seconds of training."""
    metrics: tuple[dict[str, Any], ...]
    """The learning curve, one row per epoch."""

    def check(self) -> None:
        """Refuse what no training can have written."""
        if self.epochs < 1 or len(self.metrics) != self.epochs:
            raise ValueError(f"{self.epochs} epochs, but {len(self.metrics)} rows of a curve")
        if any(row.keys() - {TEST_ACCURACY} != set(CURVE) for row in self.metrics):
            columns = ", ".join(CURVE)
            raise ValueError(f"a row of its learning curve has other columns than {columns}")


def save_checkpoint(
    path: Path,
    config: RunConfig,
    model: nn.Module,
    optimiser: torch.optim.Optimizer,
    meta: CheckpointMeta,
) -> None:
    """Write a checkpoint, whole or not at all."""
    tensors = {f"model.{name}": tensor for name, tensor in model.state_dict().items()}
    for number, entry in optimiser.state_dict()["state"].items():
        tensors |= {f"adam.{number}.{name}": tensor for name, tensor in entry.items()}
    texts = {
        "progress": json.dumps(asdict(meta)),
        "config": json.dumps(with_format(config), sort_keys=True),
    }
    save_tensors(path, tensors, {**texts, "checksum": checksum(tensors, texts)})


def load_checkpoint(
    path: Path,
    config: RunConfig,
    model: nn.Module,
    optimiser: torch.optim.Optimizer,
    parameters: list[nn.Parameter],
) -> CheckpointMeta:
    """Restore a model and the optimiser of its ``parameters``, once all is checked."""
    tensors, texts = read_tensors(path)
    try:
        if texts.keys() != {"progress"}:  # otherwise it is of format 3, or an earlier one
            _check_texts(path, config, tensors, texts)
        meta = read_as(CheckpointMeta, parse_json(texts["progress"]), "progress")
        meta.check()
        moments = _moments(tensors, parameters)
        names = [name for name in tensors if name.startswith("model.")]
        weights = {name.removeprefix("model."): tensors[name] for name in names}
        load_weights(model, weights, path)
        optimiser.load_state_dict({**optimiser.state_dict(), "state": moments})
    except (KeyError, IndexError, ValueError, TypeError) as problem:
        raise FineError(
            f"{path} is not a checkpoint ({problem}): delete it to start the run again"
        ) from problem
    return meta


def _check_texts(
    path: Path, config: RunConfig, tensors: dict[str, Tensor], texts: dict[str, str]
) -> None:
    """Refuse a checkpoint that was damaged, or is of another configuration."""
    content = {name: texts[name] for name in ("progress", "config")}
    if checksum(tensors, content) != texts["checksum"]:
        raise FineError(
            f"{path} is damaged (its checksum does not match): delete it to start the run again"
        )
    changed = difference(from_format(parse_json(texts["config"])), config)
    if changed:
        raise FineError(
            f"{path.parent} was changed since its last checkpoint ({changed}): put it back in "
            "config.json, or train in another folder"
        )


def checksum(tensors: dict[str, Tensor], texts: dict[str, str]) -> str:
    """A digest of tensors, their names, types and shapes, and of texts."""
    digest = hashlib.sha256(json.dumps(texts, sort_keys=True).encode())
    for name, tensor in sorted(tensors.items()):
        digest.update(f"{name} {tensor.dtype} {list(tensor.shape)}".encode())
        numbers = tensor.detach().cpu().contiguous().flatten()
        digest.update(numbers.view(torch.uint8).numpy().data)
    return digest.hexdigest()


def _moments(
    tensors: dict[str, Tensor], parameters: list[nn.Parameter]
) -> dict[int, dict[str, Tensor]]:
    """What Adam had kept for each parameter, by number."""
    moments: dict[int, dict[str, Tensor]] = {}
    for name, tensor in tensors.items():
        if not name.startswith("adam."):
            continue
        _, number, entry = name.split(".")
        shape = torch.Size() if entry == "step" else parameters[int(number)].shape
        if tensor.shape != shape or tensor.dtype != torch.float32:
            raise ValueError(f"'{name}' does not fit its parameter")
        moments.setdefault(int(number), {})[entry] = tensor
    if not moments or any(entry.keys() != _MOMENTS for entry in moments.values()):
        raise ValueError("the numbers of the optimiser are not complete")
    return moments


def write_curve(path: Path, metrics: list[dict[str, Any]]) -> None:
    """Write a learning curve as CSV, one row per epoch."""
    table = io.StringIO()
    tested = any(TEST_ACCURACY in row for row in metrics)
    columns = (*CURVE, TEST_ACCURACY) if tested else CURVE
    writer = csv.DictWriter(table, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(metrics)
    write_text(path, table.getvalue())


def read_curve(path: Path) -> list[dict[str, str]]:
    """The rows that `write_curve` wrote, with their values as texts."""
    return read_table(path)
