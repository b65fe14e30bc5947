"""Run folders: what is in a finished one, what is refused, and one line for what is damaged."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from fine.errors import FineError
from fine.evaluation import evaluate
from fine.io.tensors import read_tensors
from fine.models import MODELS
from fine.puzzles.task import Task
from fine.training import Run, RunConfig, Training, resume, train
from support.runs import stop_after, weights


def test_a_finished_run_has_its_record_and_no_leftovers(tiny, finished):
    names = sorted(path.name for path in finished.iterdir())
    assert names == [
        *("config.json", "metrics.csv", "model.safetensors", "puzzles.png", "result.json")
    ]
    result = json.loads((finished / "result.json").read_text())
    low, high = result["interval"]
    assert 0 <= low < high <= 1 and low <= result["accuracy"] <= high
    assert result["accuracy"] + sum(result["mistakes"].values()) == pytest.approx(1, abs=1e-4)
    assert sum(row["puzzles"] for row in result["by_rule"]) == result["puzzles"] == 12


def test_a_loaded_run_answers_as_it_did_after_training(tiny, finished):
    evaluation = evaluate(Run(finished).load(), tiny.task.test_puzzles())
    result = json.loads((finished / "result.json").read_text())
    assert evaluation.accuracy == pytest.approx(result["accuracy"], abs=1e-5)


def test_a_started_run_names_every_setting(tiny, finished):
    content = json.loads((finished / "config.json").read_text())
    assert content["settings"].keys() == vars(MODELS["fine"].config).keys()
    assert content["settings"]["slots"] == 4 and content["channels"] == 1
    assert "kind" not in content  # the usual one


def test_a_run_outlives_the_defaults_of_its_model(finished, monkeypatch):
    recipe = MODELS["fine"]
    other = replace(recipe.config, embedding_size=512, columns=32, auxiliary_queries=0)
    monkeypatch.setitem(MODELS, "fine", recipe._replace(config=other))
    model = Run(finished).load()
    assert (model.encoder.columns, model.config.auxiliary_queries) == (16, 3)


def test_a_folder_that_holds_a_run_is_not_overwritten(tiny, finished):
    before = weights(finished)
    with pytest.raises(FineError, match="holds a run already: choose another folder"):
        train(tiny, finished)
    assert weights(finished) == before


def test_an_impossible_model_leaves_no_folder(tiny, tmp_path):
    with pytest.raises(FineError, match="square of places"):
        train(replace(tiny, settings={"embedding_size": 100, "columns": 5}), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_folder_without_a_run_is_not_touched(tmp_path):
    with pytest.raises(FineError, match="is not a run folder"):
        resume(tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()


def change_settings(folder: Path, settings: dict[str, object]) -> None:
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "settings": settings}))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda f: (f / "config.json").unlink(), "is not a run folder"),
        (lambda f: (f / "config.json").write_text("{"), "cannot be read as JSON"),
        (
            lambda f: (f / "config.json").write_text('{"format": 99}'),
            "has format 99, this version of fine reads format 4",
        ),
        (
            lambda f: (f / "config.json").write_text('{"format": 1}'),
            "not a valid run configuration",
        ),
        (lambda f: (f / "model.safetensors").write_bytes(b"nonsense"), "is damaged"),
        (lambda f: (f / "model.safetensors").unlink(), "is missing"),
        (
            lambda f: change_settings(f, {"slots": 9}),
            r"shape \[4, 16, 16\], the model in config.json needs \[9, 16, 16\]",
        ),
        (lambda f: change_settings(f, {"slots": 0}), "do not match"),
    ],
)
def test_a_damaged_run_is_named_in_one_line(finished, tmp_path, damage, message):
    folder = tmp_path / "run"
    folder.mkdir()
    for file in ("config.json", "model.safetensors"):
        (folder / file).write_bytes((finished / file).read_bytes())
    damage(folder)
    with pytest.raises(FineError, match=message) as problem:
        Run(folder).load()
    assert "\n" not in str(problem.value) and "run" in str(problem.value)


def test_an_encoder_can_be_taken_from_another_run(tiny, finished, tmp_path):
    config = replace(tiny, encoder_from=str(finished), settings={"slots": 5})
    start = config.start().state_dict()
    trained = read_tensors(Run(finished).weights)[0]
    encoder = [name for name in start if name.startswith("encoder.")]
    assert encoder and all(torch.equal(start[name], trained[name]) for name in encoder)
    with pytest.raises(FineError, match="needs"):
        replace(config, settings={"embedding_size": 512, "columns": 32}).start()
    with pytest.raises(FineError, match="is missing"):
        replace(config, encoder_from=str(tmp_path / "nowhere")).start()


@pytest.mark.slow
def test_a_resumed_run_does_not_need_the_run_its_encoder_came_from(tiny, finished, tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    (source / "model.safetensors").write_bytes(weights(finished))
    config = replace(tiny, encoder_from=str(source))
    train(config, tmp_path / "whole")
    stop_after(1, config, tmp_path / "stopped")
    (source / "model.safetensors").unlink()
    resume(tmp_path / "stopped")
    assert weights(tmp_path / "stopped") == weights(tmp_path / "whole")


@pytest.mark.parametrize(
    ("task", "message"),
    [
        ({"train_count": 1}, "train_count is 1: give at least 2"),
        ({"test_count": 0}, "test_count is 0: give at least 1"),
        ({"train_classes": -1}, "train_classes is -1: give at least 0"),
        ({"train_count": 10**9}, "train_count is 1,000,000,000: give at most 10,000,000"),
    ],
)
def test_impossible_counts_are_refused(tiny, task, message):
    with pytest.raises(FineError, match=message):
        replace(tiny, task=replace(tiny.task, **task)).check()


def test_symmetries_that_would_show_what_the_test_holds_back_are_refused():
    held_back = RunConfig(
        task=Task.preset("extreme-cifar100", rules="rotation"), training=Training(augment_puzzles=8)
    )
    with pytest.raises(FineError, match="a mirror turns 15° into 345°"):
        held_back.check()
    replace(held_back, training=Training(augment_puzzles=4)).check()
    replace(held_back, task=Task.preset("extreme-cifar100", rules="translation")).check()


@pytest.mark.parametrize(
    "changes", [{"augment_images": True}, {"augment_puzzles": 4}, {"conjugate": 0.5}]
)
def test_augmentations_of_images_are_refused_for_strings(changes):
    config = RunConfig(task=Task.preset("strings", rules="all"), training=Training(**changes))
    name = next(iter(changes))
    with pytest.raises(FineError, match=f"{name} is for images: a string .* leave it out"):
        config.check()
