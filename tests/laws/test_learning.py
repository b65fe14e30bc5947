"""What a trained model must and must not reach: the controls stay at chance, FINE does not."""

from dataclasses import replace
from pathlib import Path

import pytest

from fine.evaluation import Evaluation
from fine.puzzles.task import Task
from fine.training import RunConfig, Training, train

pytestmark = pytest.mark.slow

PUZZLES = 4_000
CHANCE_SPREAD = 5 * (0.25 * 0.75 / PUZZLES) ** 0.5
"""Five standard deviations of the accuracy of a blind guess on 4,000 puzzles: 3.4 %."""


def trained_on_glyphs(model: str, rules: str, folder: Path) -> Evaluation:
    task = replace(Task.preset("glyphs", rules=rules), train_count=2_500, test_count=PUZZLES)
    training = Training(epochs=3, resample_each_epoch=True)
    return train(RunConfig(model=model, task=task, training=training), folder)


@pytest.mark.parametrize("rules", ["affine", "black-white"])
def test_a_model_that_sees_only_the_choices_stays_at_25_percent(tmp_path, rules):
    evaluation = trained_on_glyphs("blind", rules, tmp_path / "run")
    assert abs(evaluation.accuracy - 0.25) < CHANCE_SPREAD


def test_a_model_that_does_not_see_the_example_stays_at_50_percent(tmp_path):
    # It finds the right object, so it does learn: otherwise the test above would prove nothing.
    # It reaches 39 %.
    evaluation = trained_on_glyphs("object-only", "translation", tmp_path / "run")
    assert 0.25 + CHANCE_SPREAD < evaluation.accuracy < 0.5 + CHANCE_SPREAD


@pytest.mark.parametrize(
    ("model", "puzzles", "training"),
    [
        ("fine", 3_000, Training(epochs=2)),  # reaches 96 %
        ("fine-nice", 4_000, Training(epochs=3, batch=16)),  # reaches 95 %
    ],
    ids=["fine", "fine-nice"],
)
def test_translation_over_unseen_omniglot_characters_is_learned(
    tmp_path, data_root, model, puzzles, training
):
    task = Task.preset("omniglot", rules="translation")
    task = replace(task, data_root=str(data_root), train_count=puzzles, test_count=1_500)
    evaluation = train(RunConfig(model=model, task=task, training=training), tmp_path / "run")
    assert evaluation.interval[0] > 0.9
