"""Laws of knowing what one knows: temperatures, limits and errors are those they are defined to be, and "none" can be said."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from PIL import Image

import fine as library
from fine import FineError, Task
from fine.functions import misfit
from fine.functions.calibration import (
    Calibration,
    best_temperature,
    calibrate,
    calibration_error,
    held_back,
    reliability,
    signs_of,
    signs_of_all,
)
from fine.functions.noticing import NO_RIGHT_CHOICE, RANDOM_PAIRS, auroc, auroc_interval, strange_puzzles
from fine.solving.judging import NONE_FITS, STRANGE_HINT, judge

MODEL = "all-glyphs"


@pytest.fixture(scope="module")
def task() -> Task:
    return replace(Task.preset("glyphs", rules="rotation"), test_count=60)


@pytest.fixture(scope="module")
def model():
    return library.load(MODEL)


@pytest.fixture(scope="module")
def calibration(model, task) -> Calibration:
    return calibrate(model, held_back(task, 100))


# --- numbers ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("temperature", [0.5, 1.0, 4.0])
def test_a_temperature_is_found_again(temperature):
    """Answers drawn by the softmax of logits; the logits then shown are so many times as large."""
    draw = torch.Generator().manual_seed(0)
    logits = 2 * torch.randn(20_000, 4, generator=draw)
    answers = torch.multinomial(logits.softmax(1), 1, generator=draw)[:, 0]
    # The standard error of log T is about 1 % at this size.
    assert best_temperature(temperature * logits, answers) == pytest.approx(temperature, rel=0.05)


def test_the_error_of_confidence_is_its_distance_from_what_is_right():
    confidences, right = torch.tensor([0.95] * 10 + [0.55] * 10), torch.tensor([True] * 10 + [True] * 2 + [False] * 8)
    # Half of the answers are 0.05 too modest, half are 0.35 too sure.
    assert calibration_error(confidences, right) == pytest.approx((0.05 + 0.35) / 2, abs=1e-4)
    rows = reliability(confidences, right)
    assert [(row["from"], row["puzzles"], row["right"]) for row in rows] == [(0.5, 10, 0.2), (0.9, 10, 1.0)]
    assert calibration_error(torch.ones(5), torch.ones(5, dtype=torch.bool)) == 0


def test_auroc_counts_pairs():
    assert auroc(torch.tensor([3.0, 1.0]), torch.tensor([0.0, 2.0])) == pytest.approx(3 / 4)
    assert auroc(torch.tensor([1.0]), torch.tensor([1.0])) == 0.5
    low, high = auroc_interval(0.75, 100, 100)
    assert low < 0.75 < high and high - low < auroc_interval(0.75, 50, 50)[1] - auroc_interval(0.75, 50, 50)[0]


# --- signs and limits -------------------------------------------------------------------------------------------------------


def test_signs_are_the_models_own(model, task):
    pictures = task.test_puzzles().render(range(6)).pictures
    signs = signs_of(model, pictures)
    with torch.no_grad():
        torch.testing.assert_close(signs.logits, model(pictures))
    torch.testing.assert_close(signs.hint, misfit(model, pictures[:, 0], pictures[:, 1]), rtol=1e-2, atol=1e-3)
    assert (signs.hint >= 0).all() and (signs.hint <= 1).all()  # a fit leaves no more of y than there is
    torch.testing.assert_close(signs_of_all(model, pictures).answer, signs.answer)


def test_what_is_held_back_was_not_shown(task):
    shown = {tuple(spec) for spec in replace(task, train_count=500).training_puzzles(seed=0).specs.tolist()}
    kept = held_back(task, 200)
    assert not shown & {tuple(spec) for spec in kept.specs.tolist()}
    labels = kept.images.labels.numpy()
    assert set(labels[kept.specs[:, 0]]) <= set(task.training_classes)
    apart = replace(task, validation=True)
    labels = held_back(apart, 200).images.labels.numpy()[held_back(apart, 200).specs[:, 0]]
    assert not set(labels) & set(apart.training_classes) and set(labels) <= set(task.training_classes)


def test_limits_leave_the_share_outside_that_they_are_asked_for(model, task):
    puzzles = held_back(task, 200)
    found = calibrate(model, puzzles, false_alarms=0.3)
    beyond = found.beyond(signs_of_all(model, puzzles.render(range(200)).pictures))
    # A third of the share, a tenth of 200 each; limits are rounded to five digits.
    assert all(abs(int(each.sum()) - 20) <= 1 for each in beyond)
    assert found.puzzles == 200 and found.false_alarms == 0.3


def test_a_calibration_is_read_as_it_was_written(calibration, tmp_path):
    calibration.save(tmp_path / "calibration.json")
    assert Calibration.read(tmp_path / "calibration.json") == calibration
    (tmp_path / "calibration.json").write_text(json.dumps({"format": 1, "temperature": "hot"}), encoding="utf-8")
    with pytest.raises(FineError, match="is not a calibration"):
        Calibration.read(tmp_path / "calibration.json")


@pytest.mark.parametrize(
    ("share", "count", "message"), [(0.0, 100, "between 0 and 1"), (1.5, 100, "between 0 and 1"), (0.01, 100, "too few")]
)
def test_limits_that_cannot_be_found_are_refused(model, task, share, count, message):
    with pytest.raises(FineError, match=message):
        calibrate(model, held_back(task, count), false_alarms=share)


# --- what is strange --------------------------------------------------------------------------------------------------------


def test_strange_puzzles_are_strange_in_one_way(task):
    puzzles = task.test_puzzles()
    plain = puzzles.render(range(60))
    pairs = strange_puzzles(task, RANDOM_PAIRS)
    assert torch.equal(pairs[:, 2:], plain.pictures[:, 2:]) and torch.equal(pairs[1:, 1], plain.pictures[:-1, 1])
    rest = strange_puzzles(task, NO_RIGHT_CHOICE)
    assert rest.shape[1] == 6 and torch.equal(rest[:, :3], plain.pictures[:, :3])
    for number, answer in enumerate(plain.answers.tolist()):
        assert not (rest[number, 3:] == plain.pictures[number, 3 + answer]).flatten(1).all(1).any()
    with pytest.raises(FineError, match="unknown strange thing"):
        strange_puzzles(task, "dreams")


def test_a_model_says_none_where_it_should(model, calibration, task):
    plain = task.test_puzzles().render(range(30)).pictures
    pairs, rest = (strange_puzzles(replace(task, test_count=30), what) for what in (RANDOM_PAIRS, NO_RIGHT_CHOICE))

    def judged(puzzles: torch.Tensor) -> list:
        return [judge(model, calibration, x, y, new, choices) for x, y, new, *choices in puzzles]

    answered = judged(plain)
    assert sum(verdict.none for verdict in answered) <= 8  # 5 % are expected, and classes are new
    assert all(0 < verdict.confidence <= 1 for verdict in answered)
    strange = judged(pairs)
    assert sum(STRANGE_HINT in verdict.doubts for verdict in strange) >= 15
    assert sum(NONE_FITS in verdict.doubts for verdict in judged(rest)) >= 10


# --- the commands -----------------------------------------------------------------------------------------------------------


def test_none_of_these_on_the_command_line(fine, task, tmp_path):
    folder = tmp_path / "model"
    library.load(MODEL).save_pretrained(folder)
    x, y, new, *choices = strange_puzzles(replace(task, test_count=2), RANDOM_PAIRS)[1]
    files = []
    for number, picture in enumerate((x, y, new, *choices)):
        files.append(tmp_path / f"{number}.png")
        Image.fromarray(np.round(255 * picture[0].numpy()).astype(np.uint8)).save(files[-1])
    done = fine("solve", *files, "--model", folder, "--allow-none")
    assert done.code == 2 and "fine calibrate" in done.err
    done = fine("calibrate", folder)
    assert done.code == 2 and "give --task and --rules" in done.err
    done = fine("calibrate", MODEL, "--task", "glyphs", "--out", tmp_path / "elsewhere.json")
    assert done.code == 2 and "go together" in done.err
    done = fine("calibrate", MODEL, "--count", 80, "--out", tmp_path / "elsewhere.json")
    assert done.code == 0 and (tmp_path / "elsewhere.json").exists()  # its folder says what it was trained on
    done = fine("calibrate", folder, "--task", "glyphs", "--rules", "rotation", "--count", 80)
    assert done.code == 0 and "temperature" in done.out and (folder / "calibration.json").exists()
    done = fine("solve", *files, "--model", folder, "--json")
    told = json.loads(done.out)
    assert told["answer"] is not None and told["doubts"] and 0 < told["confidence"] <= 1
    done = fine("solve", *files, "--model", folder, "--json", "--allow-none")
    assert json.loads(done.out)["answer"] is None
    done = fine("solve", *files, "--model", folder, "--allow-none")
    assert "answer: none of these" in done.out and "doubt: " in done.out
