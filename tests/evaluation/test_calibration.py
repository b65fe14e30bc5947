"""Laws of calibration: temperatures, thresholds and errors are those they are defined to be."""

import json
from dataclasses import replace

import pytest
import torch

from fine import FineError, Task, load
from fine.evaluation.calibration import (
    Calibration,
    all_ood_scores,
    best_temperature,
    calibrate,
    calibration_error,
    held_back,
    ood_scores,
    reliability,
)
from fine.inference import residual


@pytest.fixture(scope="module")
def task() -> Task:
    return replace(Task.preset("glyphs", rules="rotation"), test_count=60)


@pytest.fixture(scope="module")
def model():
    return load("all-glyphs")


# Numbers


@pytest.mark.parametrize("temperature", [0.5, 1.0, 4.0])
def test_a_temperature_is_found_again(temperature):
    """Answers are drawn by the softmax of logits; the logits that are shown are a multiple."""
    draw = torch.Generator().manual_seed(0)
    logits = 2 * torch.randn(20_000, 4, generator=draw)
    answers = torch.multinomial(logits.softmax(1), 1, generator=draw)[:, 0]
    # The standard error of log T is about 1 % at this size.
    assert best_temperature(temperature * logits, answers) == pytest.approx(temperature, rel=0.05)


def test_the_calibration_error_is_the_gap_between_confidence_and_accuracy():
    confidences = torch.tensor([0.95] * 10 + [0.55] * 10)
    right = torch.tensor([True] * 10 + [True] * 2 + [False] * 8)
    # Half of the answers are 0.05 too modest, half are 0.35 too sure.
    assert calibration_error(confidences, right) == pytest.approx((0.05 + 0.35) / 2, abs=1e-4)
    rows = reliability(confidences, right)
    found = [(row["from"], row["puzzles"], row["right"]) for row in rows]
    assert found == [(0.5, 10, 0.2), (0.9, 10, 1.0)]
    assert calibration_error(torch.ones(5), torch.ones(5, dtype=torch.bool)) == 0


# Scores and thresholds


@pytest.mark.slow
def test_scores_are_the_models_own(model, task):
    images = task.test_puzzles().render(range(6)).images
    scores = ood_scores(model, images)
    with torch.no_grad():
        torch.testing.assert_close(scores.logits, model(images))
    own = residual(images[:, 0], images[:, 1], model=model)
    torch.testing.assert_close(scores.residual, own, rtol=1e-2, atol=1e-3)
    # A fit leaves no more of y than there is.
    assert (scores.residual >= 0).all() and (scores.residual <= 1).all()
    torch.testing.assert_close(all_ood_scores(model, images).distance, scores.distance)


@pytest.mark.slow
def test_what_is_held_back_was_not_shown(task):
    training = replace(task, train_count=500).training_puzzles(seed=0)
    shown = {tuple(spec) for spec in training.specs.tolist()}
    kept = held_back(task, 200)
    assert not shown & {tuple(spec) for spec in kept.specs.tolist()}
    labels = kept.images.labels.numpy()
    assert set(labels[kept.specs[:, 0]]) <= set(task.training_classes)
    validated = replace(task, validation=True)
    kept = held_back(validated, 200)
    classes = set(kept.images.labels.numpy()[kept.specs[:, 0]])
    assert not classes & set(validated.training_classes)
    assert classes <= set(task.training_classes)


@pytest.mark.slow
def test_thresholds_refuse_the_share_that_they_are_asked_for(model, task):
    puzzles = held_back(task, 200)
    found = calibrate(model, puzzles, false_alarms=0.3)
    beyond = found.beyond(all_ood_scores(model, puzzles.render(range(200)).images))
    # A third of the share, a tenth of 200 each; thresholds are rounded to five digits.
    assert all(abs(int(each.sum()) - 20) <= 1 for each in beyond)
    assert found.puzzles == 200 and found.false_alarms == 0.3


@pytest.mark.parametrize(
    ("share", "count", "message"),
    [
        (0.0, 100, "between 0 and 1"),
        (1.5, 100, "between 0 and 1"),
        (0.01, 100, "too few"),
    ],
)
def test_thresholds_that_cannot_be_found_are_refused(model, task, share, count, message):
    with pytest.raises(FineError, match=message):
        calibrate(model, held_back(task, count), false_alarms=share)


# Files

CALIBRATION = Calibration(
    temperature=0.8,
    max_residual=0.1,
    max_distance=0.7,
    min_confidence=0.5,
    false_alarms=0.05,
    puzzles=1000,
)


def test_a_calibration_is_read_as_it_was_written(tmp_path):
    path = tmp_path / "calibration.json"
    CALIBRATION.save(path)
    assert Calibration.read(path) == CALIBRATION
    path.write_text(json.dumps({"format": 2, "temperature": "hot"}), encoding="utf-8")
    with pytest.raises(FineError, match="is not a calibration"):
        Calibration.read(path)


@pytest.mark.parametrize(
    "change",
    [
        {"temperature": 0.0},
        {"temperature": -1.0},
        {"temperature": 1e-300},
        {"temperature": 1e9},
        {"false_alarms": 2.0},
    ],
    ids=str,
)
def test_what_no_calibration_can_have_found_is_refused(change, tmp_path):
    """A temperature near 0 would make a confidence that is not a number."""
    path = tmp_path / "calibration.json"
    replace(CALIBRATION, **change).save(path)
    with pytest.raises(FineError, match="is not a calibration") as refusal:
        Calibration.read(path)
    assert f"{next(iter(change.values())):g}" in str(refusal.value)


def test_a_calibration_of_format_1_is_read_in_the_words_of_today(tmp_path):
    path = tmp_path / "calibration.json"
    words = {"strangest_hint": 0.1, "farthest_answer": 0.7, "least_sure": 0.5}
    rest = {"temperature": 0.8, "false_alarms": 0.05, "puzzles": 1000}
    path.write_text(json.dumps({"format": 1, **words, **rest}), encoding="utf-8")
    assert Calibration.read(path) == CALIBRATION
    path.write_text(json.dumps({"format": 2, **words, **rest}), encoding="utf-8")
    with pytest.raises(FineError, match="is not a calibration"):
        Calibration.read(path)
