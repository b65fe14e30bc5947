"""One process or several: under ``torchrun`` every process takes its share of each batch, and all make the same step.

torchrun --nproc-per-node=2 -m fine train …

Gradients are added up, and batch normalisation looks at the whole batch, so that any number of processes trains as one does.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import Tensor, nn

from fine.models.together import normalise_together


@dataclass(frozen=True)
class Processes:
    """This process among those that train together."""

    rank: int = 0
    count: int = 1

    @staticmethod
    def join(device: torch.device) -> "Processes":
        """Meet the others if torchrun started us; otherwise be the only one."""
        count = int(os.environ.get("WORLD_SIZE", "1"))
        if count == 1:
            return Processes()
        if not dist.is_initialized():
            dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
        return Processes(dist.get_rank(), count)

    @property
    def first(self) -> bool:
        """Whether this process writes files and shows progress."""
        return self.rank == 0

    def sum(self, tensors: Iterable[Tensor]) -> None:
        """Add up tensors over all processes, in place, in one exchange."""
        parts = list(tensors)
        if self.count == 1 or not parts:
            return
        flat = torch.cat([part.flatten() for part in parts])
        dist.all_reduce(flat)
        for part, total in zip(parts, flat.split([part.numel() for part in parts]), strict=True):
            part.copy_(total.view_as(part))

    def share(self, model: nn.Module) -> nn.Module:
        """The model, made to look at the whole batch where it looks at more than one puzzle."""
        if self.count > 1:
            normalise_together(model)
        return model

    def agree_on_buffers(self, model: nn.Module) -> None:
        """Average what a model has gathered in each process: equal numbers, but for layers of the user's own."""
        buffers = [buffer for buffer in model.buffers() if buffer.is_floating_point()]
        self.sum(buffers)
        for buffer in buffers:
            buffer /= self.count

    def wait(self) -> None:
        """Go on when all have come this far."""
        if self.count > 1:
            dist.barrier()


def part() -> None:
    """Leave the others, once all have come this far: one that just goes away may take the line down under the rest."""
    if dist.is_initialized():
        dist.barrier()
        dist.destroy_process_group()


ALONE = Processes()
"""The only process."""
