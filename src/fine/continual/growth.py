"""Memories that grow: a FINE with one more group of slots, which changes nothing until it learns.

larger = grow(model)
freeze(larger, "anchor")             # so that only the new group learns
"""

from dataclasses import replace

import torch
from torch import nn

from fine.errors import FineError
from fine.models.fine import FINE
from fine.models.groups import RESIDUAL_PUZZLES, GroupedFINE
from fine.models.surgery import groups_of, with_slots
from fine.pretrained import load
from fine.puzzles.task import Task
from fine.rules import rule_set


def grow(model: FINE) -> FINE:
    """The same model with one more group of slots, a copy of its last group.

    A copy leaves exactly the residuals of the group it was copied from, so the functions of the
    model stay as they are; and slots that have learned one rule start better than random ones.
    """
    config = model.config
    if not config.slots:
        raise FineError(
            "a model without slots has nothing to grow: it takes the query itself as the weight"
        )
    if config.analogy != "least-squares":
        raise FineError(
            f"a memory read by {config.analogy} cannot grow in groups: expected a model with "
            "analogy=least-squares"
        )
    groups = range(max(1, groups_of(model)))
    numbers = torch.arange(config.slots)
    last = numbers.chunk(len(groups))[-1]
    return with_slots(model, torch.cat((numbers, last)), [*groups, groups[-1]])


def grown_to_match(model: FINE, other: nn.Module) -> FINE:
    """The model with as many groups as another, if the two differ in nothing else.

    Another with a single group has no old slots to keep: the model is cut to as many as it has.
    """
    if not isinstance(other, FINE):
        raise FineError(
            f"a {type(other).__name__} has no slots to add: only a FINE can start from another "
            "model"
        )
    if groups_of(other) == 1 and model.config.slots >= other.config.slots:
        model = with_slots(model, torch.arange(other.config.slots), [0])
    while max(1, groups_of(model)) < groups_of(other) and model.config.slots < other.config.slots:
        model = grow(model)
    same_shape = (model.channels, model.size) == (other.channels, other.size)
    if model.config != other.config or not same_shape:
        raise FineError(
            "the model to start from has other settings than this run: leave them as they are, or "
            "add whole groups"
        )
    return model


def freeze(model: nn.Module, strategy: str) -> None:
    """Freeze what must not change while a model learns a family by this strategy.

    With `grow` and `anchor` only the new group is read while it learns, so no other slot changes.
    With `anchor` everything else is frozen as well, because old slots fit only the embeddings that
    they were learned with.
    """
    if not isinstance(model, FINE):
        raise FineError(
            f"a {type(model).__name__} has no slots: only a FINE can learn rules one after another"
        )
    if strategy in ("grow", "anchor") and isinstance(model, GroupedFINE):
        model.learning_group = model.config.groups - 1
    if strategy == "anchor":
        for name, parameter in model.named_parameters():
            parameter.requires_grad_(name.startswith("backbone.memories."))


def to_continue(source: str, task: Task, model: nn.Module) -> FINE:
    """The model called ``source``, with as many slots as the ``model`` of a stage of this task.

    One whose slots are in no group first looks at pairs of its old rules, to learn its residuals.
    """
    old = load(source)
    if not isinstance(old, FINE):
        raise FineError(
            f"{source} is a model of the paper, whose memory cannot grow: give a `fine`"
        )
    if groups_of(old) or not isinstance(model, FINE) or groups_of(model) < 2:
        return grown_to_match(old, model)
    new = rule_set(task.rules).families
    tested = rule_set(task.test_rules or task.rules).families
    known = [family for family in tested if family not in new]
    if not known:
        raise FineError(
            f"nothing says which rules {source} knows: give test_rules, the old rules with the new "
            "ones"
        )
    grouped = with_slots(old, torch.arange(old.config.slots), [0])
    assert isinstance(grouped, GroupedFINE)
    about = replace(task, rules="+".join(known), train_count=RESIDUAL_PUZZLES)
    grouped.learn_residuals(about.training_puzzles())
    return grown_to_match(grouped, model)
