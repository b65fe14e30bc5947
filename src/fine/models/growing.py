"""Memories that grow and shrink: a FINE with more slots, or with fewer, that otherwise is the one it was.

larger = grow(model)                           # one more group of slots, which says nothing new until it is taught
smaller = prune(model, keep=most_used(model, puzzles, 4))
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from fine.errors import FineError
from fine.models.fine import FINE
from fine.models.memory import FunctionalMemory
from fine.puzzles import Puzzles

MISFITS = 1_000
"""Puzzles from which a group of slots learns what it leaves of its rules."""
_MEMORIES = "backbone.memories."


def memories(model: FINE) -> list[FunctionalMemory]:
    """The memories of a FINE, all of them alike."""
    return [memory for memory in model.backbone.memories if isinstance(memory, FunctionalMemory)]


def grow(model: FINE, *, like: int = -1) -> FINE:
    """The same model with one more group of slots, of as many as a group has: a copy of the group ``like``.

    A copy leaves of a pair exactly what that leaves which it was copied from, so the functions of the model stay as they are;
    and slots that have learnt one rule are a better start for another than random ones.
    """
    config = model.config
    if not config.slots:
        raise FineError("a model without slots has nothing to grow: it takes the query itself as the weight")
    if config.analogy != "fit":
        raise FineError(f"a memory read by {config.analogy} cannot grow in groups: expected a model with analogy=fit")
    groups = range(max(1, config.groups))
    numbers = torch.arange(config.slots)
    return _of_slots(model, torch.cat((numbers, numbers.chunk(len(groups))[like])), [*groups, groups[like]])


def in_a_group(model: FINE) -> FINE:
    """The same model with its slots in a group of their own, if they are not in groups already; the group knows no misfits."""
    return model if model.config.groups else _of_slots(model, torch.arange(model.config.slots), [0])


@torch.no_grad()
def learn_misfits(model: FINE, puzzles: Puzzles, *, batch: int = 100) -> None:
    """Have the last group of slots learn what it leaves of pairs of its own rules, such as these."""
    render, last = puzzles.renderer(next(model.parameters()).device), max(1, model.config.groups) - 1
    left: dict[FunctionalMemory, list[Tensor]] = {memory: [] for memory in memories(model)}
    was_training = model.training
    model.eval()
    for memory in left:
        memory.train().learning = last
    for at in range(0, len(puzzles), batch):
        x, y = model.encode(render(puzzles.specs[at : at + batch]).pictures[:, :2]).unbind(1)
        model.compose(x, y)
        for memory, parts in left.items():
            if memory.left is not None:
                parts.append(memory.left)
    for memory, parts in left.items():
        if memory.misfits is not None:
            memory.misfits.learn(last, torch.cat(parts))
        memory.learning = memory.left = memory.unexplained = None
    model.train(was_training)


def grown_to_match(model: FINE, other: nn.Module) -> FINE:
    """The model, grown by as many groups as another has more; refused if they would differ in anything else.

    Another with a single group has nothing to keep: it begins with as many of the model's slots as it has itself.
    """
    if not isinstance(other, FINE):
        raise FineError(f"a {type(other).__name__} has no slots to add: only a FINE can go on from another model")
    if other.config.groups == 1 and model.config.slots >= other.config.slots:
        model = _of_slots(model, torch.arange(other.config.slots), [0])
    while max(1, model.config.groups) < other.config.groups and model.config.slots < other.config.slots:
        model = grow(model)
    if model.config != other.config or (model.channels, model.size) != (other.channels, other.size):
        raise FineError("the model to go on from has other settings than this run: leave them as they are, or add whole groups")
    return model


def hold_still(model: nn.Module, arrival: str) -> None:
    """Hold still what must not change while a model learns a rule that arrives this way.

    To grow, a group is read alone while it learns, so that no other slot has any share in a mistake. Whoever is anchored holds
    everything else as well: old slots are of use only to the codes that they were learnt with.
    """
    if not isinstance(model, FINE):
        raise FineError(f"a {type(model).__name__} has no slots: only a FINE can learn rules one after another")
    if arrival in ("grow", "anchor"):
        for memory in memories(model):
            memory.learning = memory.groups - 1
    if arrival == "anchor":
        for name, parameter in model.named_parameters():
            parameter.requires_grad_(name.startswith(_MEMORIES))


def prune(model: FINE, *, keep: Sequence[int]) -> FINE:
    """The same model with the slots of these numbers only, in every memory; of groups, whole ones or as many of each."""
    config, numbers = model.config, sorted(set(keep))
    if not numbers or numbers[0] < 0 or numbers[-1] >= config.slots:
        raise FineError(f"slots {list(keep)} cannot be kept: give at least one number from 0 to {config.slots - 1}")
    each = config.slots // max(1, config.groups)
    kept = [sum(number // each == group for number in numbers) for group in range(max(1, config.groups))]
    left = [count for count in kept if count]
    if len(set(left)) > 1:
        raise FineError(f"of the groups {kept} slots would be left: keep as many of each, or none")
    groups = [group for group, count in enumerate(kept) if count] if config.groups else []
    settings: dict[str, Any] = {}
    if config.analogy == "fit":
        # The ridge is measured in mean squares of a slot. With it as it was, a slot of zeros could not go without a trace.
        settings["ridge"] = config.ridge * left[0] / each
    return _of_slots(model, torch.tensor(numbers), groups, **settings)


@torch.no_grad()
def compress(model: FINE, *, rank: int) -> FINE:
    """The same model with slots of this rank, each the nearest there is to the whole matrix it takes the place of."""
    if model.config.slot_form or not model.config.slots:
        raise FineError("only slots that are whole matrices can be cut to a rank: this model has none")
    config = replace(model.config, slot_form=f"rank-{rank}")
    made = FINE(config, channels=model.channels, size=model.size)
    state: dict[str, Tensor] = {}
    for name, tensor in model.state_dict().items():
        if name.startswith(_MEMORIES) and ".misfits." not in name:
            left, sizes, right = torch.linalg.svd(tensor, full_matrices=False)
            shares = sizes[:, :rank].sqrt()
            state[f"{name}.left"] = left[:, :, :rank] * shares[:, None]
            state[f"{name}.right"] = shares[..., None] * right[:, :rank]
        else:
            state[name] = tensor
    made.load_state_dict(state)
    return made.to(next(model.parameters()).device).train(model.training)


@torch.no_grad()
def use(model: FINE, puzzles: Puzzles, *, batch: int = 100) -> Tensor:  # (slots,)
    """How much of each slot is in the functions of some puzzles: the mean size of what it adds, in all its forms and layers."""
    found, render = torch.zeros(model.config.slots), puzzles.renderer()
    taken: list[tuple[FunctionalMemory, Tensor]] = []
    handles = [memory.register_forward_hook(lambda m, given, _: taken.append((m, m.mix(*given)))) for memory in memories(model)]
    was_training = model.training
    model.eval()
    try:
        for at in range(0, len(puzzles), batch):
            codes = model.encode(render(puzzles.specs[at : at + batch]).pictures[:, :2])
            model.compose(codes[:, 0], codes[:, 1])
            for memory, mix in taken:
                sizes = memory.matrices()[1].flatten(1).norm(dim=1)  # of keys
                found += mix.abs().unflatten(1, (memory.slots, -1)).sum((0, 2)) * sizes
            taken.clear()
    finally:
        for handle in handles:
            handle.remove()
        model.train(was_training)
    return found / len(puzzles)


def most_used(model: FINE, puzzles: Puzzles, count: int) -> list[int]:
    """The numbers of the slots that these puzzles need most."""
    return sorted(use(model, puzzles).topk(count).indices.tolist())


def _of_slots(model: FINE, numbers: Tensor, groups: Sequence[int], **settings: Any) -> FINE:
    """A FINE whose slots, and groups of them, are those of another with these numbers."""
    made = FINE(
        replace(model.config, slots=len(numbers), groups=len(groups), **settings), channels=model.channels, size=model.size
    )
    state = made.state_dict()  # where there were no groups, with misfits that say nothing
    for name, tensor in model.state_dict().items():
        if name.startswith(_MEMORIES):
            tensor = tensor[list(groups) if ".misfits." in name else numbers]
        state[name] = tensor
    made.load_state_dict(state)
    return made.to(next(model.parameters()).device).train(model.training)
