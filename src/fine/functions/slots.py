"""Looking inside: which slots of its memory a model uses for what, and what is lost without one.

    use = slot_use(model, x, y)                        # (b, slots): the share of each slot in the function of each pair
    poorer = without_slot(model, 3)                    # the same model, and it has never had slot 3

A function is a mix of slots, each in all the forms it takes when pictures are turned or mirrored. A slot's part in a function
is the norm of what all its forms add to it together.
"""

import torch
from torch import Tensor

from fine.errors import FineError
from fine.models.backbones import LinearBackbone, ResidualBackbone
from fine.models.fine import FINE
from fine.models.growing import prune
from fine.models.memory import FunctionalMemory
from fine.puzzles import FIRST, Puzzles
from fine.rules import Warp

_CHUNK = 100


def memory_of(model: FINE) -> FunctionalMemory:
    """The one memory of a model, or an error if it has several or none with slots."""
    memories = model.backbone.memories
    if not isinstance(model.backbone, LinearBackbone | ResidualBackbone):
        raise FineError(
            f"a {model.config.backbone} backbone has {len(memories)} memories: only linear and residual ones have one"
        )
    memory = memories[0]
    if not isinstance(memory, FunctionalMemory) or not memory.slots:
        raise FineError("this model has no slots to look into: train it with slots=1 or more")
    return memory


@torch.no_grad()
def slot_use(model: FINE, x: Tensor, y: Tensor) -> Tensor:  # pictures (b, channels, size, size) -> (b, slots)
    """The share of every slot in the functions composed from pairs; together 1. Of several layers, in the first."""
    memory = memory_of(model)
    before, after = model.eval().encode(torch.stack((x, y), dim=1)).unbind(1)
    wanted = after - before if isinstance(model.backbone, ResidualBackbone) else after
    ways = len(memory.forms)
    mix = memory.mix(before, wanted).unflatten(1, (memory.slots, ways))  # (b, slots, ways)
    forms = memory.matrices()[1].flatten(1)[:, memory.forms]  # (slots, ways, o × i)
    parts = torch.einsum("bsw,swn->bsn", mix, forms).norm(dim=2)
    return parts / parts.sum(1, keepdim=True).clamp(min=1e-12)


def use_by_family(model: FINE, puzzles: Puzzles) -> dict[str, Tensor]:
    """The mean share of every slot, (slots,), in the functions of each family, over the hints of puzzles."""
    warp = Warp(puzzles.rules, size=model.size)
    x = puzzles.images.pixels[puzzles.specs[:, FIRST]].float() / 255
    y = warp(x, torch.from_numpy(puzzles.hidden.astype("int64")))
    uses = torch.cat([slot_use(model, *part) for part in zip(x.split(_CHUNK), y.split(_CHUNK), strict=True)])
    hidden = torch.from_numpy(puzzles.hidden.astype("int64"))
    shares = {}
    for family, members in puzzles.rules.families.items():
        own = torch.isin(hidden, torch.tensor(members))
        if own.any():
            shares[family] = uses[own].mean(0)
    return shares


def without_slot(model: FINE, slot: int) -> FINE:
    """A copy of the model whose memory lacks one slot, in all its forms; nothing is trained again."""
    slots = memory_of(model).slots
    if not 0 <= slot < slots or slots == 1:
        raise FineError(f"slot {slot} cannot be removed: there are {slots}, numbered from 0, and one has to be left")
    return prune(model, keep=[number for number in range(slots) if number != slot]).eval()
