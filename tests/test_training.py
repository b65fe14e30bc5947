"""Promises of training: the same weights from the same seed, nothing lost when stopped, clear words when it cannot go on."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from fine.errors import FineError
from fine.evaluation import evaluate
from fine.models import MODELS
from fine.progress import Silent
from fine.protocols import PROTOCOLS, Training
from fine.runs import Run, RunConfig, read_tensors, save_tensors
from fine.tasks import Task
from fine.training import Trainer, resume, train

TINY = RunConfig(
    model="fine",
    task=replace(Task.preset("glyphs", rules="translation"), train_count=96, test_count=60),
    training=Training(epochs=3, batch=16),
    settings={"slots": 4},
)


def weights(folder: Path) -> bytes:
    return (folder / "model.safetensors").read_bytes()


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "whole"
    train(TINY, folder)
    return folder


class StopAfter(Silent):
    """Stops training as Ctrl-C would, once an epoch is on disk."""

    def __init__(self, epoch: int):
        self.last = epoch

    def epoch(self, *, epoch: int, **_: float) -> None:
        if epoch == self.last:
            raise KeyboardInterrupt


def test_two_runs_of_one_seed_give_the_same_bits(finished, tmp_path):
    train(TINY, tmp_path / "again")
    assert weights(tmp_path / "again") == weights(finished)


def test_another_seed_gives_other_weights(finished, tmp_path):
    train(replace(TINY, training=replace(TINY.training, seed=1)), tmp_path / "other")
    assert weights(tmp_path / "other") != weights(finished)


@pytest.mark.parametrize("epoch", [1, 2])
def test_a_stopped_run_resumes_to_the_same_bits(finished, tmp_path, epoch):
    with pytest.raises(KeyboardInterrupt):
        train(TINY, tmp_path / "stopped", progress=StopAfter(epoch))
    resume(tmp_path / "stopped")
    assert weights(tmp_path / "stopped") == weights(finished)
    assert (tmp_path / "stopped/metrics.csv").read_text().count("\n") == 1 + TINY.training.epochs


def test_a_run_with_fresh_puzzles_resumes_to_the_same_bits(tmp_path):
    config = replace(TINY, training=replace(TINY.training, fresh=True))
    train(config, tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        train(config, tmp_path / "stopped", progress=StopAfter(2))
    resume(tmp_path / "stopped")
    assert weights(tmp_path / "stopped") == weights(tmp_path / "whole")


def test_kill_minus_nine_loses_at_most_an_epoch(tmp_path):
    config = replace(TINY, training=replace(TINY.training, epochs=40))
    Run(tmp_path / "killed").save_config(config)
    Run(tmp_path / "whole").save_config(config)
    command = [sys.executable, "-m", "fine", "train", "--resume"]
    process = subprocess.Popen([*command, tmp_path / "killed"], stdout=subprocess.DEVNULL)
    metrics = tmp_path / "killed/metrics.csv"
    deadline = time.monotonic() + 120
    while not metrics.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert metrics.exists() and not (tmp_path / "killed/model.safetensors").exists()
    subprocess.run([*command, tmp_path / "killed"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([*command, tmp_path / "whole"], check=True, stdout=subprocess.DEVNULL)
    assert weights(tmp_path / "killed") == weights(tmp_path / "whole")


def test_a_finished_run_has_its_record_and_no_leftovers(finished):
    names = sorted(path.name for path in finished.iterdir())
    assert names == ["config.json", "metrics.csv", "model.safetensors", "puzzles.png", "result.json"]
    result = json.loads((finished / "result.json").read_text())
    low, high = result["interval"]
    assert low < result["accuracy"] < high
    assert result["accuracy"] + sum(result["mistakes"].values()) == pytest.approx(1, abs=1e-4)
    assert sum(row["puzzles"] for row in result["by_rule"]) == result["puzzles"] == 60


def test_a_loaded_run_answers_as_it_did_after_training(finished):
    evaluation = evaluate(Run(finished).load(), TINY.task.test_puzzles())
    assert evaluation.accuracy == pytest.approx(json.loads((finished / "result.json").read_text())["accuracy"], abs=1e-5)


def test_the_loss_falls(tmp_path):
    config = replace(TINY, task=replace(TINY.task, train_count=640), training=replace(TINY.training, epochs=4))
    train(config, tmp_path / "run")
    rows = (tmp_path / "run/metrics.csv").read_text().splitlines()
    losses = [float(row.split(",")[1]) for row in rows[1:]]
    assert losses[-1] < 0.8 * losses[0]


def test_a_loss_that_is_not_finite_stops_and_keeps_the_last_state(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        train(TINY, tmp_path / "run", progress=StopAfter(2))
    before = (tmp_path / "run/state.safetensors").read_bytes()
    trainer = Trainer(Run(tmp_path / "run"), Run(tmp_path / "run").config(), torch.device("cpu"))
    with torch.no_grad():
        trainer.model.distance.raw[0, 0] = float("nan")
    with pytest.raises(FineError, match=r"not finite at step 13, epoch 3: the state after epoch 2 is kept"):
        trainer.fit(Silent())  # epochs of 96 / 16 = 6 steps: the first of the third is the 13th
    assert (tmp_path / "run/state.safetensors").read_bytes() == before


def test_a_folder_that_holds_a_run_is_not_overwritten(finished):
    before = weights(finished)
    with pytest.raises(FineError, match="holds a run already"):
        train(TINY, finished)
    assert weights(finished) == before


def test_an_impossible_model_leaves_no_folder(tmp_path):
    with pytest.raises(FineError, match="square of places"):
        train(replace(TINY, settings={"code": 100, "columns": 5}), tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda f: (f / "config.json").unlink(), "is not a run folder"),
        (lambda f: (f / "config.json").write_text("{"), "cannot be read as JSON"),
        (lambda f: (f / "config.json").write_text('{"format": 99}'), "has format 99, this version of fine reads format 2"),
        (lambda f: (f / "config.json").write_text('{"format": 1}'), "not a valid run configuration"),
        (lambda f: (f / "model.safetensors").write_bytes(b"nonsense"), "is damaged"),
        (lambda f: (f / "model.safetensors").unlink(), "is missing"),
        (lambda f: change_config(f, {"slots": 9}), r"shape \[4, 16, 16\], the model in config.json needs \[9, 16, 16\]"),
        (lambda f: change_config(f, {"slots": 0}), "do not match"),
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


def test_a_run_outlives_the_defaults_of_its_model(finished, monkeypatch):
    other = replace(MODELS["fine"].config, code=512, columns=32, readings=1)
    monkeypatch.setitem(MODELS, "fine", MODELS["fine"]._replace(config=other))
    model = Run(finished).load()
    assert (model.encoder.columns, model.config.readings) == (16, 4)


def change_config(folder: Path, settings: dict) -> None:
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "settings": settings}))


def test_a_damaged_state_is_named(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        train(TINY, tmp_path / "run", progress=StopAfter(1))
    state = tmp_path / "run/state.safetensors"
    state.write_bytes(state.read_bytes()[:1000])
    with pytest.raises(FineError, match="is damaged"):
        resume(tmp_path / "run")


def test_a_state_without_its_learning_curve_is_named(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        train(TINY, tmp_path / "run", progress=StopAfter(1))
    state = tmp_path / "run/state.safetensors"
    tensors, texts = read_tensors(state)
    progress = json.loads(texts["progress"])
    del progress["metrics"][0]["epoch"]
    save_tensors(state, tensors, {**texts, "progress": json.dumps(progress)})
    with pytest.raises(FineError, match="has other columns than epoch, loss"):
        resume(tmp_path / "run")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"epochs": 0}, "epochs is 0"),
        ({"batch": 1}, "batch is 1"),
        ({"rate": -1.0}, "rate is -1"),
        ({"rate": float("nan")}, "rate is nan"),
        ({"schedule": "onecycle"}, "did you mean 'one-cycle'"),
        ({"views": 2}, "views is 2"),
        ({"through": 1.5}, "through is 1.5: give the share"),
        ({"seed": 2**40}, "seed is"),
    ],
)
def test_impossible_training_is_refused(change, message):
    with pytest.raises(FineError, match=message):
        replace(Training(), **change).check()


def test_an_encoder_can_be_taken_from_another_run(finished, tmp_path):
    config = replace(TINY, encoder_from=str(finished), settings={"slots": 5})
    start = config.start()
    trained = read_tensors(Run(finished).weights)[0]
    assert all(torch.equal(tensor, trained[name]) for name, tensor in start.state_dict().items() if name.startswith("encoder."))
    source = tmp_path / "source"
    source.mkdir()
    (source / "model.safetensors").write_bytes(Run(finished).weights.read_bytes())
    with pytest.raises(KeyboardInterrupt):
        train(replace(config, encoder_from=str(source)), tmp_path / "run", progress=StopAfter(1))
    (source / "model.safetensors").unlink()
    resume(tmp_path / "run")
    with pytest.raises(FineError, match="needs"):
        replace(config, settings={"code": 512, "columns": 32}).start()
    with pytest.raises(FineError, match="is missing"):
        replace(config, encoder_from=str(tmp_path / "nowhere")).start()


def test_views_that_would_show_what_the_test_holds_back_are_refused():
    held_back = replace(TINY, task=Task.preset("extreme-cifar100", rules="rotation"), training=Training(views=8))
    with pytest.raises(FineError, match="a mirror turns 15° into 345°"):
        held_back.check()
    replace(held_back, training=Training(views=4)).check()
    replace(held_back, task=Task.preset("extreme-cifar100", rules="translation")).check()


@pytest.mark.parametrize("shown", [{"turned": True}, {"views": 8}, {"through": 0.5}])
def test_a_run_with_puzzles_shown_otherwise_resumes_to_the_same_bits(tmp_path, shown):
    config = replace(TINY, training=replace(TINY.training, **shown))
    train(config, tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        train(config, tmp_path / "stopped", progress=StopAfter(2))
    resume(tmp_path / "stopped")
    assert weights(tmp_path / "stopped") == weights(tmp_path / "whole")


def test_the_rate_rises_and_falls_once():
    training = PROTOCOLS["quick"]
    rates = [training.rate_at(step, 100) for step in range(100)]
    peak = rates.index(max(rates))
    assert rates[peak] == training.rate and peak == 30
    assert rates[:peak] == sorted(rates[:peak]) and rates[peak:] == sorted(rates[peak:], reverse=True)
    assert rates[-1] < training.rate / 100
    assert {PROTOCOLS["paper"].rate_at(step, 100) for step in range(100)} == {5e-4}
