"""What a trained model must and must not reach: the controls stay at chance, FINE does not."""

from dataclasses import replace

import pytest

from fine.protocols import Training
from fine.runs import RunConfig
from fine.tasks import Task
from fine.training import train

PUZZLES = 4_000
CHANCE_SPREAD = 5 * (0.25 * 0.75 / PUZZLES) ** 0.5
"""Five standard deviations of the accuracy of a blind guess on 4,000 puzzles: 3.4 %."""


@pytest.mark.parametrize("rules", ["affine", "black-white"])
def test_a_model_that_sees_only_the_choices_stays_at_25_percent(tmp_path, rules):
    task = replace(Task.preset("glyphs", rules=rules), train_count=3_000, test_count=PUZZLES)
    evaluation = train(RunConfig(model="blind", task=task, training=Training(epochs=3, fresh=True)), tmp_path / "run")
    assert abs(evaluation.accuracy - 0.25) < CHANCE_SPREAD


def test_a_model_that_does_not_see_the_example_stays_at_50_percent(tmp_path):
    # Shape is all there is to go by, so this control does learn: without that, the test above would prove nothing.
    task = replace(Task.preset("glyphs", rules="translation"), train_count=3_000, test_count=PUZZLES)
    evaluation = train(RunConfig(model="object-only", task=task, training=Training(epochs=4, fresh=True)), tmp_path / "run")
    assert 0.25 + CHANCE_SPREAD < evaluation.accuracy < 0.5 + CHANCE_SPREAD


@pytest.mark.parametrize(("model", "epochs"), [("fine", 2), ("fine-nice", 3)])
def test_translation_over_unseen_omniglot_characters_is_learned(tmp_path, data_root, model, epochs):
    task = replace(Task.preset("omniglot", rules="translation"), data_root=str(data_root), test_count=5_000)
    evaluation = train(RunConfig(model=model, task=task, training=Training(epochs=epochs)), tmp_path / "run")
    assert evaluation.interval[0] > 0.9
