"""Rehearsal shows the very puzzles of before, under rules numbered as in the whole set."""

from dataclasses import replace

import torch

from fine.continual.rehearsal import KEPT, rehearsed
from fine.rules import rule_set


def test_old_puzzles_are_those_of_before(task):
    both = replace(task, rules="reflection+swap", train_count=KEPT + 50)
    mixed = rehearsed(both, seed=3)
    old = replace(both, rules="reflection").training_puzzles(seed=3)
    assert len(mixed) == KEPT + KEPT + 50
    torch.testing.assert_close(mixed.render([0, 7]).images, old.render([0, 7]).images)


def test_new_puzzles_are_those_without_rehearsal(task):
    both = replace(task, rules="reflection+swap", train_count=KEPT + 50)
    mixed, new = rehearsed(both, seed=3), replace(both, rules="swap").training_puzzles(seed=3)
    numbers = [KEPT, KEPT + 9]
    torch.testing.assert_close(mixed.render(numbers).images, new.render([0, 9]).images)
    swaps = set(rule_set("reflection+swap").families["swap"])
    assert set(mixed.hidden[KEPT:]) <= swaps and not set(mixed.hidden[:KEPT]) & swaps


def test_few_training_puzzles_are_rehearsed_as_few(task):
    assert len(rehearsed(replace(task, rules="reflection+swap", train_count=10))) == 10 + 10
