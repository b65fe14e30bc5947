"""Submissions: a run is tested again, and what stands against it is said in one line."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from fine.errors import FineError
from fine.experiments import Cell, Ledger
from fine.experiments.submission import check_classes, check_submission
from fine.io.tensors import read_tensors, save_tensors
from fine.puzzles.task import Task
from fine.training import Run, RunConfig, Training, train

TASK = Task(
    images="glyphs",
    rules="translation",
    train_classes=20,
    test_classes=20,
    train_count=64,
    test_count=60,
)
CONFIG = RunConfig(
    model="corel-net", task=TASK, training=Training(epochs=2), settings={"encoder": "mlp"}
)
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def trained(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "trained"
    train(CONFIG, folder)
    return folder


@pytest.fixture
def run(trained, tmp_path) -> Run:
    """A copy that a test may spoil."""
    shutil.copytree(trained, tmp_path / "run")
    return Run(tmp_path / "run")


def change(run: Run, file: str, **changes: object) -> None:
    path = run.folder / file
    content = json.loads(path.read_text())
    for name, value in changes.items():
        inner = content
        *outer, last = name.split("__")
        for key in outer:
            inner = inner[key]
        inner[last] = value
    path.write_text(json.dumps(content))


def refusal(run: Run) -> str:
    with pytest.raises(FineError) as refused:
        check_submission(run)
    assert "\n" not in str(refused.value)
    return str(refused.value)


def test_a_run_becomes_the_record_of_its_cell(run, tmp_path):
    record = check_submission(run)
    assert record.key == Cell(CONFIG).key
    result = json.loads((run.folder / "result.json").read_text())
    assert (record.value, record.minutes) == (result["accuracy"], result["minutes"])
    assert record.commit == result["commit"] and len(record.curve) == 2
    assert len(record.weights) == 64
    ledger = Ledger(tmp_path / "ledger")
    ledger.write(record)
    assert ledger.read(record.key) == record


@pytest.mark.parametrize(
    ("file", "changes", "message"),
    [
        ("result.json", {"accuracy": 0.99}, "says 99.00% and its weights have"),
        ("result.json", {"commit": 3}, "is not a result"),
        ("result.json", {"minutes": -1.0}, "took -1 minutes"),
        ("config.json", {"training__learning_rate": 0.1}, "of its own: use one of the protocols"),
        ("config.json", {"training__epochs": 3}, "metrics.csv has 2 epochs and config.json 3"),
        ("config.json", {"task__validation": True}, "tested on training classes"),
        ("config.json", {"encoder_from": "nowhere"}, "what that has seen cannot be told"),
        ("config.json", {"variant__hints": 2}, "a run of another kind"),
    ],
)
def test_what_stands_against_a_run_is_said(run, file, changes, message):
    change(run, file, **changes)
    assert message in refusal(run)


def test_other_weights_are_noticed(run):
    weights, _ = read_tensors(run.weights)
    save_tensors(run.weights, {name: torch.zeros_like(t) for name, t in weights.items()})
    change(run, "result.json", accuracy=0.9)
    assert "its weights have" in refusal(run)


def test_an_unfinished_run_is_refused(run):
    run.weights.unlink()
    assert "is not finished" in refusal(run)


def test_an_encoder_that_has_seen_test_classes_is_refused(run, tmp_path):
    """With more training classes, those of the test are among them."""
    before = tmp_path / "before"
    seen = replace(CONFIG, task=replace(TASK, train_classes=30))
    Run(before).save_config(seen.complete())
    change(run, "config.json", encoder_from=str(before))
    assert f"the encoder of {before} has seen 10 of the 20 classes of glyphs" in refusal(run)
    Run(before).save_config(replace(seen, task=TASK, encoder_from=str(before)).complete())
    check_submission(run)  # the same classes, in an encoder whose own is itself


@pytest.mark.parametrize(
    ("learned", "tested"),
    [("glyphs+omniglot", "omniglot"), ("cutouts", "cifar100"), ("glyphs+cifar100", "cutouts")],
)
def test_classes_are_known_again_in_other_sources(learned, tested, data_root, tmp_path):
    """Of an encoder that was trained on a mixture, or on a source that shares its classes."""
    task = Task(images=learned, rules="swap", data_root=str(data_root))
    Run(tmp_path / "before").save_config(replace(CONFIG, task=task).complete())
    about = replace(task, images="glyphs", test_images=tested, train_classes=20)
    run = replace(CONFIG, task=about, encoder_from=str(tmp_path / "before"))
    with pytest.raises(FineError, match=f"has seen .* classes of {tested} that the test shows"):
        check_classes(run)
    check_classes(replace(run, encoder_from=""))
