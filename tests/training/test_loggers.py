"""Curves for TensorBoard and Weights & Biases; the weights of a run are the same with them."""

import builtins
from dataclasses import replace
from pathlib import Path

import pytest

from fine.errors import FineError
from fine.puzzles.task import Task
from fine.training import RunConfig, Training, train
from fine.training.loggers import LOGS, Several, open_log
from fine.training.progress import Silent

own_warnings = pytest.mark.filterwarnings("ignore")


class Notes(Silent):
    def __init__(self):
        self.epochs: list[float] = []

    def epoch(self, *, epoch: int, loss: float, accuracy: float, speed: float) -> None:
        self.epochs.append(accuracy)


@pytest.fixture
def config(noisy_images) -> RunConfig:
    task = Task(images=f"folder:{noisy_images}", rules="swap", train_count=32, test_count=8)
    return RunConfig(task=task, training=Training(epochs=2, batch=8))


def trained(name: str, config: RunConfig, folder: Path) -> list[float]:
    """Trains with a log; the accuracy of every epoch."""
    notes = Notes()
    with open_log(name, folder, config) as log:
        log.result(train(config, folder, progress=Several(notes, log)))
    return notes.epochs


@own_warnings
@pytest.mark.slow
def test_tensorboard_has_the_curves(config, tmp_path):
    pytest.importorskip("tensorboard")
    accuracies = trained("tensorboard", config, tmp_path / "run")
    events = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    found = events.EventAccumulator(str(tmp_path / "run" / "tensorboard"))
    found.Reload()
    points = found.Scalars("epoch/accuracy")
    assert [point.step for point in points] == [1, 2]
    assert [point.value for point in points] == pytest.approx(accuracies)
    assert len(found.Scalars("test/accuracy")) == 1 and found.Scalars("step/loss")
    train(config, tmp_path / "plain")
    weights = [(tmp_path / name / "model.safetensors").read_bytes() for name in ("run", "plain")]
    assert weights[0] == weights[1]


@own_warnings
@pytest.mark.slow
def test_weights_and_biases_has_the_curves_offline(config, tmp_path, monkeypatch):
    wandb = pytest.importorskip("wandb")
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_SILENT", "true")
    for name in ("WANDB_CACHE_DIR", "WANDB_CONFIG_DIR", "WANDB_DATA_DIR"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    accuracies = trained("wandb", config, tmp_path / "run")
    assert len(accuracies) == 2
    wandb.teardown()  # its process flushes the file when it ends
    (file,) = (tmp_path / "run" / "wandb").glob("offline-run-*/*.wandb")
    content = file.read_bytes()
    for name in (b"epoch/accuracy", b"step/loss", b"test/accuracy", b"swap"):
        assert name in content


@own_warnings
def test_a_refused_run_leaves_no_log(config, tmp_path):
    pytest.importorskip("tensorboard")
    bad = replace(config, settings={"slots": -1})
    with (
        pytest.raises(FineError),
        open_log("tensorboard", tmp_path / "run", bad) as log,
    ):
        train(bad, tmp_path / "run", progress=log)
    assert not (tmp_path / "run").exists()


def test_without_a_name_nothing_is_written(config, tmp_path):
    with open_log("", tmp_path / "run", config) as log:
        log.step(epoch=1, done=8, loss=1.0, accuracy=0.5)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("name", LOGS)
def test_a_missing_library_is_one_line(name, config, tmp_path, monkeypatch):
    real = builtins.__import__

    def absent(module, *arguments, **named):
        if "tensorboard" in str((module, arguments)) or module == "wandb":
            raise ImportError(module)
        return real(module, *arguments, **named)

    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(FineError, match=rf"functional-indirection\[{name}\]"):
        open_log(name, tmp_path, config).__enter__()


def test_an_unknown_log_is_refused(config, tmp_path):
    with pytest.raises(FineError, match="did you mean 'wandb'"):
        open_log("wandbb", tmp_path, config).__enter__()
