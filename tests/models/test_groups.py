"""Slots in groups: the group that a pair belongs to answers, and a learning group learns alone."""

from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F

from fine.errors import FineError
from fine.models.fine import FINE, FINEConfig
from fine.models.groups import GroupedFINE, GroupedFINEConfig, GroupedMemory
from fine.puzzles.task import Task


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def make(**settings: object) -> GroupedFINE:
    config = GroupedFINEConfig(**{"slots": 4, "groups": 2, **settings})
    return GroupedFINE(config, channels=1, size=32).eval()


def make_memory(groups: int = 2) -> GroupedMemory:
    options = {"slots": 4, "ridge": 1e-6, "analogy": "least-squares", "keys": "shared"}
    return GroupedMemory(6, 6, groups=groups, columns=3, **options)


def test_the_group_that_explains_the_pair_answers():
    memory = make_memory()
    x, hidden = torch.randn(5, 6, 3), torch.randn(6, 6)
    with torch.no_grad():
        memory.values[2] = hidden  # a slot of the second group is the very map that made y
        weight, coefficients = memory(x, hidden @ x), memory.coefficients(x, hidden @ x)
    assert not coefficients[:, :2].any() and coefficients[:, 2:].any()
    torch.testing.assert_close(weight, hidden.expand(5, 6, 6), atol=1e-3, rtol=1e-3)


@torch.no_grad()
def test_a_group_read_alone_leaves_what_its_values_do_not_explain():
    memory = make_memory()
    x, y = torch.randn(5, 6, 3), torch.randn(5, 6, 3)
    for group in range(2):
        alone = make_memory(groups=1)
        own = slice(2 * group, 2 * group + 2)
        alone.values = torch.nn.Parameter(memory.values[own].clone())
        alone.slots = 2
        reading = memory.read(x, y, group=group)
        torch.testing.assert_close(reading.weight, alone(x, y))
        torch.testing.assert_close(reading.residual, y - alone.reconstruct(x, y))
        share = reading.residual.square().sum((1, 2)) / y.square().sum((1, 2))
        torch.testing.assert_close(reading.residual_share, share)


@torch.no_grad()
@pytest.mark.parametrize("settings", [{}, {"backbone": "residual"}, {"slot_form": "rank-2"}])
def test_one_group_is_a_fine_without_groups(settings):
    grouped = make(groups=1, **settings)
    plain = FINE(FINEConfig(slots=4, **settings), channels=1, size=32).eval()
    state = {k: v for k, v in grouped.state_dict().items() if ".residuals." not in k}
    plain.load_state_dict(state)
    images = torch.rand(3, 7, 1, 32, 32)
    assert torch.equal(grouped(images), plain(images))


def test_a_learning_group_has_all_the_gradient():
    model = make().train()
    model.learning_group = 1
    images, answers = torch.rand(3, 7, 1, 32, 32), torch.tensor([2, 0, 3])
    model.learn(images, answers)[1].sum().backward()
    (memory,) = model.backbone.memories
    for slots in (memory.values, memory.keys):
        assert not slots.grad[:2].any() and slots.grad[2:].any()


def test_a_learning_group_is_also_trained_to_explain_its_pairs():
    model = make(auxiliary_queries=0).train()
    model.learning_group = 1
    embeddings = model.encode(torch.rand(3, 7, 1, 32, 32))
    answers = torch.tensor([2, 0, 3])
    logits, loss = model.learn_from_embeddings(embeddings, answers)
    (memory,) = model.backbone.memories
    reading = memory.read(embeddings[:, 0], embeddings[:, 1], group=1)
    expected = F.cross_entropy(logits, answers, reduction="none") + reading.residual_share
    torch.testing.assert_close(loss, expected)


def test_a_learning_group_answers_in_training_only():
    model = make()
    x, y = model.encode(torch.rand(3, 2, 1, 32, 32)).unbind(1)
    plain = model.compose(x, y)[0]
    model.learning_group = 0
    assert torch.equal(model.compose(x, y)[0], plain)
    alone = model.compose_by_group(x, y, 0)[0][0]
    assert torch.equal(model.train().compose(x, y)[0], alone)


@pytest.mark.slow
def test_the_last_group_learns_its_residuals():
    task = replace(Task.preset("glyphs", rules="swap"), train_count=120)
    model = make().train()
    (memory,) = model.backbone.memories
    model.learn_residuals(task.training_puzzles())
    assert model.training
    images = task.training_puzzles().render(range(120)).images[:, :2]
    model.eval()
    with torch.no_grad():
        x, y = model.encode(images).unbind(1)
        residuals = memory.read(x, y, group=1).residual
    torch.testing.assert_close(memory.residuals.mean[1], residuals.mean(0), rtol=1e-3, atol=1e-4)
    assert not memory.residuals.mean[0].any()


@pytest.mark.parametrize("groups", [1, 2])
def test_after_training_only_a_single_group_learns_its_residuals(groups):
    # In a sequence the stage of a group sees to its own.
    model = make(groups=groups)
    model.after_training(
        replace(Task.preset("glyphs", rules="swap"), train_count=20).training_puzzles()
    )
    (memory,) = model.backbone.memories
    assert bool(memory.residuals.mean.any()) is (groups == 1)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"groups": 3}, "4 slots cannot be in 3 groups of equally many"),
        ({"groups": 0}, "4 slots cannot be in 0 groups"),
        ({"slots": 0}, "0 slots cannot be in 2 groups"),
        ({"analogy": "similarity"}, "set analogy=least-squares"),
    ],
)
def test_groups_that_cannot_be_are_refused(settings, message):
    with pytest.raises(FineError, match=message):
        make(**settings)
