"""Fewer slots, or slots of a lower rank: what is not used goes without a trace."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from fine.errors import FineError
from fine.models import make_model
from fine.models.fine import FINE, FINEConfig
from fine.models.surgery import (
    compress,
    groups_of,
    memories,
    most_used,
    prune,
    slot_use,
    with_slots,
)
from fine.puzzles import Puzzles
from fine.puzzles.task import Task


@pytest.fixture(scope="module")
def puzzles() -> Puzzles:
    task = replace(Task.preset("glyphs", rules="translation+swap"), test_count=24)
    return task.test_puzzles()


@pytest.fixture(scope="module")
def images(puzzles) -> Tensor:
    return puzzles.render(range(20)).images


def make(**settings: object) -> FINE:
    torch.manual_seed(0)
    return FINE(FINEConfig(**{"slots": 4, **settings}), channels=1, size=32).eval()


def twice(model: FINE) -> FINE:
    """The model with its slots in two groups, the second a copy of the first."""
    numbers = torch.arange(model.config.slots)
    return with_slots(model, torch.cat((numbers, numbers)), [0, 0])


@torch.no_grad()
def test_a_slot_that_is_not_used_goes_without_a_trace(puzzles, images):
    whole = make()
    (memory,) = memories(whole)
    for slots in (memory.values, memory.keys):
        slots[2] = 0
    assert slot_use(whole, puzzles)[2] == 0
    assert most_used(whole, puzzles, 3) == [0, 1, 3]
    smaller = prune(whole, keep=[0, 1, 3])
    assert smaller.config.slots == 3
    torch.testing.assert_close(smaller(images), whole(images), atol=1e-4, rtol=1e-4)
    assert not torch.allclose(prune(whole, keep=[0, 1])(images), whole(images), atol=1e-2)


def test_a_memory_read_by_similarity_is_pruned_too(images):
    whole = make(analogy="similarity", ridge=0.1)
    smaller = prune(whole, keep=[3])
    assert smaller.config == replace(whole.config, slots=1)
    assert torch.equal(memories(smaller)[0].values[0], memories(whole)[0].values[3])


@torch.no_grad()
def test_pruning_a_group_leaves_the_others(images):
    small = make()
    large = twice(small)
    memories(large)[0].keys[4:] = torch.randn(4, 16, 16)
    pruned = prune(large, keep=range(4))
    assert (groups_of(large), groups_of(pruned)) == (2, 1)
    torch.testing.assert_close(pruned(images), small(images))


@pytest.mark.parametrize(
    ("keep", "message"),
    [
        ([0, 1, 4], r"would be left with \[2, 1\] slots: keep as many of each"),
        ([8], "from 0 to 7"),
        ([-1], "from 0 to 7"),
        ([], "give at least one"),
    ],
)
def test_slots_that_cannot_be_kept_are_refused(keep, message):
    with pytest.raises(FineError, match=message):
        prune(twice(make()), keep=keep)


@torch.no_grad()
def test_slots_compressed_to_their_own_rank_stay_as_they_are(images):
    low, whole = make(slot_form="rank-2"), make()
    (memory,) = memories(low)
    state = {k: v for k, v in low.state_dict().items() if "memories" not in k}
    state["backbone.memories.0.values"] = memory.value_matrices()
    state["backbone.memories.0.keys"] = memory.key_matrices()
    whole.load_state_dict(state)
    logits = whole(images)
    close = {"atol": 1e-4, "rtol": 1e-3}
    compressed = compress(whole, rank=2)
    assert compressed.config == replace(whole.config, slot_form="rank-2")
    torch.testing.assert_close(compressed(images), logits, **close)
    torch.testing.assert_close(compress(twice(whole), rank=2)(images), logits, **close)
    assert not torch.allclose(compress(whole, rank=1)(images), logits, atol=1e-2)


@torch.no_grad()
def test_a_compressed_slot_is_the_nearest_of_its_rank():
    whole = make()
    values, low = memories(whole)[0].values, memories(compress(whole, rank=3))[0].value_matrices()
    singular = torch.linalg.svdvals(values)
    missed = (values - low).flatten(1).norm(dim=1)  # Eckart and Young: the values that are left out
    torch.testing.assert_close(missed, singular[:, 3:].norm(dim=1))


@pytest.mark.parametrize("settings", [{"slot_form": "rank-2"}, {"slots": 0}])
def test_what_has_no_whole_matrices_is_not_compressed(settings):
    with pytest.raises(FineError, match="whole matrices"):
        compress(make(**settings), rank=1)


@pytest.mark.parametrize("training", [True, False])
def test_a_smaller_model_is_in_the_mode_of_the_whole(training, puzzles):
    whole = make().train(training)
    slot_use(whole, puzzles)
    assert whole.training is prune(whole, keep=[0]).training is training
    assert compress(whole, rank=1).training is training


def test_the_papers_slots_are_refused_and_so_are_more_than_there_are(puzzles):
    published = make_model("fine-nice", channels=1, size=32)
    for change in (
        lambda: prune(published, keep=[0]),
        lambda: compress(published, rank=2),
        lambda: most_used(published, puzzles, 1),
    ):
        with pytest.raises(FineError, match="of another kind"):
            change()
    with pytest.raises(FineError, match="give 1 to 4"):
        most_used(make(), puzzles, 99)
