"""Laws of out-of-distribution scores: AUROC counts pairs, and odd puzzles are odd in one way."""

from dataclasses import replace

import pytest
import torch

from fine import FineError, Task
from fine.evaluation.ood import (
    NO_RIGHT_CHOICE,
    RANDOM_PAIRS,
    auroc,
    auroc_interval,
    ood_puzzles,
)


@pytest.fixture(scope="module")
def task() -> Task:
    return replace(Task.preset("glyphs", rules="rotation"), test_count=60)


def test_auroc_counts_pairs():
    assert auroc(torch.tensor([3.0, 1.0]), torch.tensor([0.0, 2.0])) == pytest.approx(3 / 4)
    assert auroc(torch.tensor([1.0]), torch.tensor([1.0])) == 0.5
    low, high = auroc_interval(0.75, 100, 100)
    wider = auroc_interval(0.75, 50, 50)
    assert low < 0.75 < high and high - low < wider[1] - wider[0]


@pytest.mark.slow
def test_random_pairs_differ_in_y_alone(task):
    plain = task.test_puzzles().render(range(60)).images
    pairs = ood_puzzles(task, RANDOM_PAIRS)
    assert torch.equal(pairs[:, 2:], plain[:, 2:]) and torch.equal(pairs[:, 0], plain[:, 0])
    assert torch.equal(pairs[1:, 1], plain[:-1, 1])


@pytest.mark.slow
def test_without_a_right_choice_the_others_stay(task):
    plain = task.test_puzzles().render(range(60))
    rest = ood_puzzles(task, NO_RIGHT_CHOICE)
    assert rest.shape[1] == 6 and torch.equal(rest[:, :3], plain.images[:, :3])
    for number, answer in enumerate(plain.answers.tolist()):
        right = plain.images[number, 3 + answer]
        assert not (rest[number, 3:] == right).flatten(1).all(1).any()


@pytest.mark.slow
def test_another_family_makes_other_puzzles(task):
    few = replace(task, test_count=5)
    expected = replace(few, rules="swap").test_puzzles().render(range(5)).images
    assert torch.equal(ood_puzzles(few, "swap"), expected)
    with pytest.raises(FineError, match="unknown kind of out-of-distribution puzzle 'dreams'"):
        ood_puzzles(task, "dreams")
