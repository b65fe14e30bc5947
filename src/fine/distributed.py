"""One process or several: under ``torchrun`` every process takes its share of each batch.

    torchrun --nproc-per-node=2 -m fine train …

Gradients are summed over all processes, and batch normalisation sees the whole batch
(training/sync_batchnorm.py), so any number of processes trains as one does.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import Tensor, nn

from fine.errors import FineError


@dataclass(frozen=True)
class ProcessGroup:
    """This process among those that train one model."""

    rank: int = 0
    count: int = 1

    @staticmethod
    def join(device: torch.device) -> "ProcessGroup":
        """The process group that torchrun started, or this process alone."""
        count = process_count()
        if count == 1:
            return ALONE
        own_rank()  # refuses what is no rank
        if not dist.is_initialized():
            try:
                dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
            except (ValueError, RuntimeError) as problem:
                raise FineError(
                    f"this process cannot join the {count} processes of WORLD_SIZE ({problem}): "
                    "start all of them with torchrun, or unset WORLD_SIZE"
                ) from problem
        return ProcessGroup(dist.get_rank(), count)

    @property
    def first(self) -> bool:
        """Whether this is the process that writes files and shows progress."""
        return self.rank == 0

    def sum(self, tensors: Iterable[Tensor]) -> None:
        """Sum tensors over all processes, in place, in one exchange."""
        parts = list(tensors)
        if self.count == 1 or not parts:
            return
        flat = torch.cat([part.flatten() for part in parts])
        dist.all_reduce(flat)
        sizes = [part.numel() for part in parts]
        for part, total in zip(parts, flat.split(sizes), strict=True):
            part.copy_(total.view_as(part))

    def average_buffers(self, model: nn.Module) -> None:
        """Average a model's buffers over all processes; those of a custom layer may differ."""
        buffers = [buffer for buffer in model.buffers() if buffer.is_floating_point()]
        self.sum(buffers)
        for buffer in buffers:
            buffer /= self.count

    def wait(self) -> None:
        """Return once all processes have called this."""
        if self.count > 1:
            dist.barrier()


ALONE = ProcessGroup()
"""The only process."""


def process_count() -> int:
    """How many processes train together, as torchrun has set it; 1 without torchrun."""
    return _number("WORLD_SIZE", 1, least=1)


def own_rank() -> int:
    """The number of this process, from 0, among those that train together."""
    count = process_count()
    rank = _number("RANK", 0, least=0) if count > 1 else 0
    if rank >= count:
        raise FineError(f"RANK is {rank} of {count} processes: start them with torchrun")
    return rank


def _number(name: str, default: int, *, least: int) -> int:
    """An environment variable that torchrun sets."""
    text = os.environ.get(name, str(default))
    if not text.isdecimal() or len(text) > 9 or int(text) < least:
        raise FineError(
            f"the environment variable {name} is {text[:40]!r}, expected a number from {least} on: "
            "unset it, or start with torchrun"
        )
    return int(text)


def leave() -> None:
    """Leave the process group once all are done: ending early may break the others' connections."""
    if dist.is_initialized():
        dist.barrier()
        dist.destroy_process_group()
