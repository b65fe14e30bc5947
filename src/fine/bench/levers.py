"""Levers of speed, each with how to undo it: what it saves and whether it changes a number.

    setattr(*SAME_NUMBERS["channels last in memory; else first"])  # from now on they are first

`benchmarks/levers.py` trains with one lever undone at a time.
"""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from fine.models import encoders, memory
from fine.models.fine import FINE, standardise
from fine.models.group_convolution import GroupBatchNorm, GroupConv
from fine.models.paper import regularised
from fine.training import trainer


def one_convolution_an_element(self: GroupConv, maps: Tensor) -> Tensor:
    banks = [
        self.weight[:, :, permutation].permute(0, 2, 1, 3, 4).flatten(1, 2)
        for permutation in self.permutations
    ]
    made = [F.conv2d(maps, bank, stride=self.stride, padding=self.padding) for bank in banks]
    return torch.stack(made).mean(0) if self.pooling else torch.cat(made, dim=1)


def channels_first(self: GroupConv, maps: Tensor) -> Tensor:
    bank = self.weight[:, :, self.permutations].permute(2, 0, 3, 1, 4, 5)
    bank = (bank.mean(0, keepdim=True) if self.pooling else bank).flatten(2, 3).flatten(0, 1)
    return F.conv2d(maps.contiguous(), bank.contiguous(), stride=self.stride, padding=self.padding)


def slot_by_slot(values: Tensor, x: Tensor, y: Tensor, *, ridge: float) -> Tensor:
    made = (values @ x[:, None]).flatten(2)  # (b, s, o × c): what every slot makes of x
    gram = regularised(made @ made.mT, ridge)
    return torch.linalg.solve(gram, (made @ y.flatten(1)[..., None])[..., 0])


def image_by_image(self: FINE, images: Tensor) -> Tensor:
    seen = standardise(images, self.config.standardise)
    return torch.stack([self.encoder(seen[:, place]) for place in range(seen.shape[1])], dim=1)


def tensor_by_tensor(
    *args: Any, adam: type[torch.optim.Adam] = torch.optim.Adam, **given: Any
) -> torch.optim.Adam:
    return adam(*args, **given | {"fused": False})


Undoing = tuple[object, str, object]
"""Whose attribute is replaced, which, and by what."""
SAME_NUMBERS: dict[str, Undoing] = {
    "memory kept between steps; else handed back to the system": (
        trainer,
        "keep_freed_memory",
        lambda: None,
    ),
    "filters of all group elements in one convolution; else one for each": (
        GroupConv,
        "forward",
        one_convolution_an_element,
    ),
    "channels last in memory; else first": (GroupConv, "forward", channels_first),
    "the fit as one matrix product; else slot by slot": (memory, "fit", slot_by_slot),
    "fused Adam; else tensor by tensor": (torch.optim, "Adam", tensor_by_tensor),
}
"""Levers that change how a number is found, not which."""
OTHER_NUMBERS: dict[str, Undoing] = {
    "one encoder batch; else seven, each normalised by itself": (FINE, "encode", image_by_image),
    "a bias in the first layer; else a normalisation": (encoders, "GroupBias", GroupBatchNorm),
}
