"""Trainings on strings: rules over unseen strings are learned, by every kind of model."""

from dataclasses import replace

import pytest

from fine.models.string_encoder import PLACE, STRING_SETTINGS
from fine.puzzles import OBJECT_CHANCE, Task
from fine.training import RunConfig, Training, train


def quick_config(**task: object) -> RunConfig:
    """A run of seconds, which sees two places from either end."""
    chosen = {"train_count": 2_000, "test_count": 1_000, **task}
    return RunConfig(
        task=replace(Task.preset("strings", rules="all"), **chosen),
        training=Training(epochs=3, resample_each_epoch=True, learning_rate=5e-3),
        settings={**STRING_SETTINGS, "embedding_size": 2 * PLACE, "slots": 8},
    )


@pytest.mark.slow
def test_rules_over_unseen_strings_are_learned(tmp_path):
    evaluation = train(quick_config(), tmp_path / "run")
    lowest, _ = evaluation.interval
    assert lowest > OBJECT_CHANCE + 0.05  # better than finding the object and ignoring the rule


@pytest.mark.slow
def test_the_same_seed_makes_the_same_model(tmp_path):
    config = quick_config(train_count=200, test_count=50)
    first, second = (train(config, tmp_path / name).probabilities for name in "ab")
    assert first.tolist() == second.tolist()


@pytest.mark.slow
def test_a_comparison_model_takes_strings_as_it_takes_images(tmp_path):
    task = replace(Task.preset("strings", rules="all"), train_count=40, test_count=40)
    config = RunConfig(model="relation-net", task=task, training=Training(epochs=1))
    assert len(train(config, tmp_path / "run").puzzles) == 40
