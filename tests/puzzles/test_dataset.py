"""Puzzles are a map-style data set of torch."""

import pytest
import torch
from torch.utils.data import DataLoader, Dataset, random_split

from fine.puzzles import Batch, Puzzles, Variant
from fine.puzzles.task import Task

TASK = Task(images="glyphs", rules="rotation", test_classes=20, test_count=12)


@pytest.fixture(scope="module", params=["plain", "chain", "strings"])
def puzzles(request) -> Puzzles:
    if request.param == "strings":
        return Task(images="strings", rules="all", test_classes=200, test_count=12).test_puzzles()
    return TASK.test_puzzles(*([Variant("chain", hints=2)] if request.param == "chain" else []))


def test_an_item_is_a_puzzle_and_a_slice_stays_puzzles(puzzles):
    batch = puzzles.render([7])
    assert isinstance(puzzles, Dataset) and isinstance(puzzles[7], Batch)
    assert torch.equal(puzzles[7].images, batch.images[0])
    assert puzzles[7].answers == batch.answers[0] == puzzles.answers[7]
    assert torch.equal(puzzles[-5].images, batch.images[0])
    assert type(puzzles[4:]) is type(puzzles) and len(puzzles[4:]) == 8
    assert torch.equal(puzzles[4:][3].images, batch.images[0])


def test_a_number_beyond_the_last_ends_a_loop(puzzles):
    with pytest.raises(IndexError):
        puzzles[12]
    assert len(list(puzzles)) == 12


def test_a_loader_makes_the_batches_that_rendering_makes(puzzles):
    batches = list(DataLoader(puzzles, batch_size=5))
    assert [len(answers) for _, answers in batches] == [5, 5, 2]
    assert torch.equal(batches[1].images, puzzles.render(range(5, 10)).images)
    assert torch.equal(torch.cat([answers for _, answers in batches]), puzzles.render(range(12))[1])


def test_a_loader_shuffles_and_splits(puzzles):
    one, other = random_split(puzzles, [8, 4])
    answers = [*DataLoader(one, 4, shuffle=True), *DataLoader(other, 4)]
    assert sorted(torch.cat([answer for _, answer in answers]).tolist()) == sorted(puzzles.answers)
