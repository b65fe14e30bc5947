"""Smaller memories: a trained FINE with fewer slots, or with slots of a lower rank.

    smaller = prune(model, keep=most_used(model, puzzles, 4))
    smaller = compress(model, rank=4)

All other weights stay as they are, and nothing is retrained.
"""

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import torch
from torch import Tensor, nn

from fine.errors import FineError
from fine.models.fine import FINE, FINEConfig
from fine.models.finite import check_finite
from fine.models.groups import GroupedFINE, GroupedFINEConfig
from fine.models.memory import FunctionalMemory
from fine.puzzles import Puzzles

_MEMORIES, _RESIDUALS = "backbone.memories.", ".residuals."


def memories(model: FINE) -> list[FunctionalMemory]:
    """The memories of a FINE, all with the same number of slots."""
    return [memory for memory in model.backbone.memories if isinstance(memory, FunctionalMemory)]


def groups_of(model: FINE) -> int:
    """The number of groups that the slots of a model are in; 0 if they are in none."""
    return model.config.groups if isinstance(model, GroupedFINE) else 0


def prune(model: FINE, *, keep: Sequence[int]) -> FINE:
    """The same model with only the slots of these numbers, in every memory.

    Slots in groups must be kept as whole groups, or equally many of each group.
    """
    _check_slots(model)
    config, numbers = model.config, sorted(set(keep))
    if not numbers or numbers[0] < 0 or numbers[-1] >= config.slots:
        raise FineError(
            f"slots {list(keep)} cannot be kept: give at least one number from 0 to "
            f"{config.slots - 1}"
        )
    count = max(1, groups_of(model))
    size = config.slots // count
    kept = [sum(number // size == group for number in numbers) for group in range(count)]
    sizes = {slots for slots in kept if slots}
    if len(sizes) > 1:
        raise FineError(
            f"the groups would be left with {kept} slots: keep as many of each, or none"
        )
    groups = [group for group, slots in enumerate(kept) if slots] if groups_of(model) else []
    settings: dict[str, Any] = {}
    if config.analogy == "least-squares":
        # The ridge is relative to the mean square of the slots. Scaled like this, it stays the same
        # if a slot of zeros goes, and so do all functions.
        settings["ridge"] = config.ridge * sizes.pop() / size
    return with_slots(model, torch.tensor(numbers), groups, **settings)


@torch.no_grad()
def compress(model: FINE, *, rank: int) -> FINE:
    """The same model with slots of this rank, each the nearest to the matrix it replaces."""
    _check_slots(model)
    if model.config.slot_form or not model.config.slots:
        raise FineError("only slots that are whole matrices can be compressed: this model has none")
    config = replace(model.config, slot_form=f"rank-{rank}")
    compressed = type(model)(config, channels=model.channels, size=model.size)
    state: dict[str, Tensor] = {}
    for name, tensor in model.state_dict().items():
        if not name.startswith(_MEMORIES) or _RESIDUALS in name:
            state[name] = tensor
            continue
        left, singular, right = torch.linalg.svd(tensor, full_matrices=False)
        roots = singular[:, :rank].sqrt()  # each factor takes the root of the singular values
        state[f"{name}.left"] = left[:, :, :rank] * roots[:, None]
        state[f"{name}.right"] = roots[..., None] * right[:, :rank]
    return _filled(compressed, state, like=model)


@torch.no_grad()
def slot_use(model: FINE, puzzles: Puzzles, *, batch: int = 100) -> Tensor:  # (slots,)
    """How much of each slot there is in the functions of some puzzles.

    That is the mean size of what the slot adds, summed over its orbit and all layers.
    """
    use, render = torch.zeros(model.config.slots), puzzles.renderer()
    read: list[tuple[FunctionalMemory, Tensor]] = []

    def note(memory: FunctionalMemory, pair: tuple[Tensor, Tensor], _: Tensor) -> None:
        read.append((memory, memory.coefficients(*pair)))

    handles = [memory.register_forward_hook(note) for memory in memories(model)]
    was_training = model.training
    model.eval()
    try:
        for at in range(0, len(puzzles), batch):
            images = render(puzzles.specs[at : at + batch]).images[:, :2]
            model.compose(*model.encode(images).unbind(1))
            for memory, coefficients in read:
                sizes = memory.key_matrices().flatten(1).norm(dim=1)
                by_slot = coefficients.abs().unflatten(1, (memory.slots, -1)).sum((0, 2))
                use += by_slot * sizes
            read.clear()
    finally:
        for handle in handles:
            handle.remove()
        model.train(was_training)
    return check_finite(use / len(puzzles))


def most_used(model: FINE, puzzles: Puzzles, count: int) -> list[int]:
    """The numbers of the slots that these puzzles need most."""
    _check_slots(model)
    if not 1 <= count <= model.config.slots:
        raise FineError(f"count is {count}: give 1 to {model.config.slots}, the slots there are")
    return sorted(slot_use(model, puzzles).topk(count).indices.tolist())


def _check_slots(model: nn.Module) -> None:
    """Refuse models whose slots are of another kind."""
    if not isinstance(model, FINE):
        raise FineError("a model of the paper has slots of another kind: give a `fine`")


def with_slots(model: FINE, numbers: Tensor, groups: Sequence[int], **settings: Any) -> FINE:
    """A copy of a model that has the slots of these ``numbers``, repeated or left out as they are.

    ``groups`` are the groups they come from, whose residuals are copied; empty: they are in none.
    """
    fields = {**asdict(model.config), "slots": len(numbers), **settings}
    fields.pop("groups", None)
    shape = {"channels": model.channels, "size": model.size}
    copy: FINE
    if groups:
        copy = GroupedFINE(GroupedFINEConfig(**fields, groups=len(groups)), **shape)
    else:
        copy = FINE(FINEConfig(**fields), **shape)
    state = copy.state_dict()  # slots that were in no group have no residuals to copy
    for name, tensor in model.state_dict().items():
        if name.startswith(_MEMORIES):
            tensor = tensor[list(groups) if _RESIDUALS in name else numbers]
        if name in state:
            state[name] = tensor
    return _filled(copy, state, like=model)


def _filled(model: FINE, state: dict[str, Tensor], *, like: FINE) -> FINE:
    """A model with these weights, on the device and in the mode of another."""
    model.load_state_dict(state)
    return model.to(next(like.parameters()).device).train(like.training)
