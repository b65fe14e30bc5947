"""Which slots of its memory a model uses for what, and what is lost without one.

    shares = slot_shares(model, x, y)        # (b, slots): of each slot in the function of each pair
    smaller = without_slot(model, 3)         # the same model, without slot 3

A weight is a sum over slots, each of them in its whole orbit under rotations and mirrors. The part
of a slot is the norm of what its orbit adds.
"""

import torch
from torch import Tensor

from fine.errors import FineError
from fine.models import paper
from fine.models.backbones import LinearBackbone, ResidualBackbone
from fine.models.fine import FINE
from fine.models.finite import check_finite
from fine.models.memory import FunctionalMemory
from fine.models.orbit import expand
from fine.models.surgery import prune
from fine.puzzles import FIRST, Puzzles
from fine.rules import Warp

_CHUNK = 100


def memory_of(model: paper.FINE) -> FunctionalMemory:
    """The one memory of a model, or an error if it has several, or none with slots."""
    memories = model.backbone.memories
    if not isinstance(model.backbone, LinearBackbone | ResidualBackbone):
        raise FineError(
            f"a {model.config.backbone} backbone has {len(memories)} memories: only linear and "
            "residual ones have one"
        )
    memory = memories[0]
    if not isinstance(memory, FunctionalMemory) or not memory.slots:
        raise FineError("this model has no slots to look into: train it with slots=1 or more")
    return memory


@torch.no_grad()
def slot_shares(model: paper.FINE, x: Tensor, y: Tensor) -> Tensor:  # (b, c, size, size) twice
    """The share of every slot in the functions composed from pairs of images: (b, slots).

    Together they are 1. Of several layers, it is the share in the first.
    """
    memory = memory_of(model)
    before, after = model.eval().encode(torch.stack((x, y), dim=1)).unbind(1)
    wanted = after - before if isinstance(model.backbone, ResidualBackbone) else after
    by_slot = (memory.slots, len(memory.orbit))
    coefficients = memory.coefficients(before, wanted).unflatten(1, by_slot)  # (b, slots, elements)
    keys = expand(memory.key_matrices(), memory.orbit).flatten(1).unflatten(0, by_slot)
    parts = torch.einsum("bse,sen->bsn", coefficients, keys).norm(dim=2)  # n = o × i
    return check_finite(parts / parts.sum(1, keepdim=True).clamp(min=1e-12))


def slot_shares_by_family(model: paper.FINE, puzzles: Puzzles) -> dict[str, Tensor]:
    """Of each family, the mean share of every slot in the functions of its hints: (slots,)."""
    hidden = torch.from_numpy(puzzles.hidden.astype("int64"))
    x = puzzles.images.pixels[puzzles.specs[:, FIRST]].float() / 255
    y = Warp(puzzles.rules, size=model.size)(x, hidden)
    chunks = zip(x.split(_CHUNK), y.split(_CHUNK), strict=True)
    shares = torch.cat([slot_shares(model, *chunk) for chunk in chunks])
    means = {}
    for family, members in puzzles.rules.families.items():
        own = torch.isin(hidden, torch.tensor(members))
        if own.any():
            means[family] = shares[own].mean(0)
    return means


def without_slot(model: paper.FINE, slot: int) -> FINE:
    """A copy of the model whose memory lacks one slot, with its orbit; nothing is retrained."""
    slots = memory_of(model).slots
    if not 0 <= slot < slots or slots == 1:
        raise FineError(
            f"slot {slot} cannot be removed: there are {slots}, numbered from 0, and one has to be "
            "left"
        )
    assert isinstance(model, FINE)  # no other has a memory of this kind
    return prune(model, keep=[number for number in range(slots) if number != slot]).eval()
