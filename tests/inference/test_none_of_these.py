"""`fine calibrate` and `fine solve --allow-none`: a model may answer "none of these"."""

import json
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from fine import Task
from fine.evaluation.ood import RANDOM_PAIRS, ood_puzzles

MODEL = "all-glyphs"


@pytest.fixture
def files(tmp_path) -> list:
    """A puzzle whose hint is no rule: y belongs to another puzzle."""
    task = replace(Task.preset("glyphs", rules="rotation"), test_count=2)
    paths = []
    for number, image in enumerate(ood_puzzles(task, RANDOM_PAIRS)[1]):
        paths.append(tmp_path / f"{number}.png")
        Image.fromarray(np.round(255 * image[0].numpy()).astype(np.uint8)).save(paths[-1])
    return paths


@pytest.fixture
def folder(glyph_model, tmp_path):
    """A model that is not calibrated."""
    glyph_model.save_pretrained(tmp_path / "model")
    return tmp_path / "model"


def test_a_model_that_is_not_calibrated_cannot_answer_none(fine, files, folder):
    done = fine("solve", *files, "--model", folder, "--allow-none")
    assert done.code == 2 and "fine calibrate" in done.err


@pytest.mark.slow
def test_what_a_model_was_trained_on_has_to_be_known(fine, folder, tmp_path):
    done = fine("calibrate", folder)
    assert done.code == 2 and "give --task and --rules" in done.err
    out = tmp_path / "elsewhere.json"
    done = fine("calibrate", MODEL, "--task", "glyphs", "--out", out)
    assert done.code == 2 and "go together" in done.err
    assert not out.exists()
    done = fine("calibrate", MODEL, "--count", 80, "--out", out)
    assert done.code == 0 and out.exists()  # its folder says what it was trained on


@pytest.mark.slow
def test_a_calibrated_model_answers_none_if_it_may(fine, files, folder):
    options = ("--task", "glyphs", "--rules", "rotation", "--count", 80)
    done = fine("calibrate", folder, *options)
    assert done.code == 0 and "temperature" in done.out
    assert (folder / "calibration.json").exists()
    said = json.loads(fine("solve", *files, "--model", folder, "--json").out)
    assert said["answer"] is not None and said["doubts"] and 0 < said["confidence"] <= 1
    done = fine("solve", *files, "--model", folder, "--json", "--allow-none")
    assert json.loads(done.out)["answer"] is None
    done = fine("solve", *files, "--model", folder, "--allow-none")
    assert "answer: none of these" in done.out and "doubt: " in done.out
