"""Checkpoints: everything a run resumes from, and one line for a file that is no checkpoint."""

import json
from collections.abc import Callable
from dataclasses import asdict

import pytest
import torch
from torch import Tensor

from fine.errors import FineError
from fine.io.tensors import read_tensors, save_tensors
from fine.training import Run, Trainer, resume
from fine.training.checkpoint import CheckpointMeta, load_checkpoint, read_curve, write_curve
from support.runs import stop_after

CPU = torch.device("cpu")


@pytest.fixture
def stopped(tiny, tmp_path) -> Run:
    return stop_after(1, tiny, tmp_path / "run")


def test_a_checkpoint_restores_weights_optimiser_and_curve(stopped):
    trainer = Trainer(stopped, stopped.config(), CPU)
    tensors, metadata = read_tensors(stopped.checkpoint)
    assert trainer.epochs_done == len(trainer.metrics) == 1 and trainer.seconds > 0
    for name, weight in trainer.model.state_dict().items():
        assert torch.equal(weight, tensors[f"model.{name}"])
    for number, entry in trainer.optimiser.state_dict()["state"].items():
        assert entry["step"] == 4  # an epoch has 64 / 16 steps
        assert torch.equal(entry["exp_avg"], tensors[f"adam.{number}.exp_avg"])
    meta = CheckpointMeta(trainer.epochs_done, trainer.seconds, tuple(trainer.metrics))
    assert json.loads(metadata["progress"]) == json.loads(json.dumps(asdict(meta)))


def test_a_cut_checkpoint_is_named(stopped):
    stopped.checkpoint.write_bytes(stopped.checkpoint.read_bytes()[:1000])
    with pytest.raises(FineError, match=r"state\.safetensors is damaged"):
        resume(stopped.folder)


Change = Callable[[dict[str, Tensor], dict], object]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda _, meta: meta["metrics"][0].pop("epoch"), "has other columns than epoch, loss"),
        (lambda _, meta: meta["metrics"].pop(), "1 epochs, but 0 rows of a curve"),
        (lambda _, meta: meta.update(epochs=0), "0 epochs, but 1 rows of a curve"),
        (lambda _, meta: meta.update(epochs="1"), "epochs is '1' where int is expected"),
        (lambda _, meta: meta.pop("seconds"), "lacks 'seconds'"),
        (lambda tensors, _: tensors.pop("adam.0.step"), "the optimiser are not complete"),
        (
            lambda tensors, _: tensors.update({"adam.0.exp_avg": torch.zeros(1)}),
            "'adam.0.exp_avg' does not fit its parameter",
        ),
        (lambda tensors, _: tensors.update({"adam.x.step": torch.zeros(())}), "invalid literal"),
    ],
)
def test_what_no_training_has_written_is_refused_before_anything_is_restored(
    stopped, change: Change, message
):
    trainer = Trainer(stopped, stopped.config(), CPU)
    tensors, metadata = read_tensors(stopped.checkpoint)
    for name in list(tensors):
        if name.startswith("model.") and tensors[name].is_floating_point():
            tensors[name] += 1  # so that it would show if any of it were restored
    meta = json.loads(metadata["progress"])
    change(tensors, meta)
    save_tensors(stopped.checkpoint, tensors, {"progress": json.dumps(meta)})
    before = {name: weight.clone() for name, weight in trainer.model.state_dict().items()}
    with pytest.raises(FineError, match=f"is not a checkpoint .*{message}.*: delete it to start"):
        load_checkpoint(stopped.checkpoint, trainer.model, trainer.optimiser, trainer.parameters)
    after = trainer.model.state_dict()
    assert all(torch.equal(after[name], weight) for name, weight in before.items())


def test_a_curve_is_read_as_it_was_written(tmp_path):
    rows = [
        {"epoch": 1, "loss": 1.5, "accuracy": 0.25, "rate": 0.002, "puzzles/s": 100.0},
        {"epoch": 2, "loss": 0.1, "accuracy": 1.0, "rate": 1e-7, "puzzles/s": 99.5},
    ]
    write_curve(tmp_path / "metrics.csv", rows)
    texts = [{name: str(value) for name, value in row.items()} for row in rows]
    assert read_curve(tmp_path / "metrics.csv") == texts
