"""Checkpoints: everything a run resumes from, and one line for a file that is no checkpoint."""

import json
import random
import shutil
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from fine.errors import FineError
from fine.io.files import read_json, write_json
from fine.io.tensors import read_tensors, save_tensors
from fine.training import Run, Trainer, resume, train
from fine.training.checkpoint import (
    CheckpointMeta,
    checksum,
    load_checkpoint,
    read_curve,
    write_curve,
)
from support.runs import stop_after

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def stopped_once(quick, tmp_path_factory) -> Path:
    """A run that was stopped after its first epoch."""
    return stop_after(1, quick, tmp_path_factory.mktemp("runs") / "stopped").folder


@pytest.fixture
def stopped(stopped_once, tmp_path) -> Run:
    return Run(Path(shutil.copytree(stopped_once, tmp_path / "run")))


def test_a_checkpoint_restores_weights_optimiser_and_curve(stopped):
    trainer = Trainer(stopped, stopped.config(), CPU)
    tensors, metadata = read_tensors(stopped.checkpoint)
    assert trainer.epochs_done == len(trainer.metrics) == 1 and trainer.seconds > 0
    for name, weight in trainer.model.state_dict().items():
        assert torch.equal(weight, tensors[f"model.{name}"])
    for number, entry in trainer.optimiser.state_dict()["state"].items():
        assert entry["step"] == 2  # an epoch has 8 / 4 steps
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
        load(stopped, trainer)
    after = trainer.model.state_dict()
    assert all(torch.equal(after[name], weight) for name, weight in before.items())


def load(run: Run, trainer: Trainer) -> None:
    """Read a checkpoint into a trainer."""
    parts = trainer.model, trainer.optimiser, trainer.parameters
    load_checkpoint(run.checkpoint, trainer.config, *parts)


def edit_config(run: Run, name: str, value: object) -> None:
    """Change a field of config.json by hand, such as `training.seed`."""
    content = read_json(run.folder / "config.json")
    *outer, last = name.split(".")
    part = content
    for key in outer:
        part = part[key]
    part[last] = value
    write_json(run.folder / "config.json", content)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("task.rules", "rotation"),
        ("task.train_count", 48),
        ("task.test_count", 6),
        ("training.seed", 1),
        ("training.learning_rate", 1e-3),
        ("training.batch", 32),
        ("training.epochs", 5),
        ("settings.ridge", 0.5),
        ("variant", {"name": "chain", "hints": 2}),
    ],
)
def test_a_run_whose_configuration_was_changed_is_not_resumed(stopped, name, value):
    before = sorted(path.name for path in stopped.folder.iterdir())
    edit_config(stopped, name, value)
    message = rf"was changed since its last checkpoint \({name}.* was .* and is .*\): put it back"
    with pytest.raises(FineError, match=message) as problem:
        resume(stopped.folder)
    assert "\n" not in str(problem.value)
    assert sorted(path.name for path in stopped.folder.iterdir()) == before


def test_where_something_is_may_change_while_a_run_is_stopped(stopped):
    edit_config(stopped, "task.data_root", "/elsewhere")
    edit_config(stopped, "encoder_from", "runs/moved")
    Trainer(stopped, stopped.config(), CPU)


def test_one_changed_bit_anywhere_is_noticed(stopped):
    """Only the blanks that fill up the header may hold anything."""
    trainer = Trainer(stopped, stopped.config(), CPU)
    whole = stopped.checkpoint.read_bytes()
    header = 8 + int.from_bytes(whole[:8], "little")
    filling = range(len(whole[:header].rstrip(b" ")), header)
    chance = random.Random(0)
    places = [chance.randrange(header) for _ in range(12)]
    places += [chance.randrange(header, len(whole)) for _ in range(8)]
    for place in places:
        damaged = bytearray(whole)
        damaged[place] ^= 1 << chance.randrange(8)
        stopped.checkpoint.write_bytes(damaged)
        if place in filling:
            continue
        with pytest.raises(FineError) as problem:
            load(stopped, trainer)
        text = str(problem.value)
        assert "is damaged" in text or "is not a checkpoint" in text


def test_a_checkpoint_of_another_run_is_not_resumed(stopped, tmp_path):
    """Two stopped runs whose files were mixed up."""
    config = stopped.config()
    other = replace(config, training=replace(config.training, seed=1))
    stop_after(1, other, tmp_path / "other")
    shutil.copy(tmp_path / "other/state.safetensors", stopped.checkpoint)
    with pytest.raises(FineError, match=r"\(training.seed was 1 and is 0\)"):
        resume(stopped.folder)


def test_a_checkpoint_without_its_configuration_is_for_no_new_run(stopped):
    config = stopped.config()
    (stopped.folder / "config.json").unlink()
    with pytest.raises(FineError, match="is the checkpoint of another run: delete it, or choose"):
        train(config, stopped.folder)


def test_a_checkpoint_of_format_3_has_no_checksum_and_is_resumed(stopped):
    tensors, texts = read_tensors(stopped.checkpoint)
    save_tensors(stopped.checkpoint, tensors, {"progress": texts["progress"]})
    load(stopped, Trainer(stopped, stopped.config(), CPU))
    save_tensors(stopped.checkpoint, tensors, {**texts, "checksum": ""})
    with pytest.raises(FineError, match=r"is damaged \(its checksum does not match\)"):
        Trainer(stopped, stopped.config(), CPU)
    del texts["checksum"]
    save_tensors(stopped.checkpoint, tensors, texts)
    with pytest.raises(FineError, match=r"is not a checkpoint \('checksum'\)"):
        Trainer(stopped, stopped.config(), CPU)


def test_a_checksum_is_of_names_types_shapes_numbers_and_texts():
    tensors = {"a": torch.zeros(2, 3), "b": torch.tensor(1, dtype=torch.int64)}
    texts = {"progress": "{}"}
    others: list[tuple[dict[str, Any], dict[str, str]]] = [
        ({**tensors, "a": torch.zeros(3, 2)}, texts),
        ({**tensors, "a": torch.zeros(2, 3, dtype=torch.int32)}, texts),
        ({**tensors, "a": -torch.zeros(2, 3)}, texts),
        ({"a": tensors["a"], "c": tensors["b"]}, texts),
        (tensors, {"progress": "{ }"}),
    ]
    sums = {checksum(tensors, texts), *(checksum(*other) for other in others)}
    assert len(sums) == 6
    assert checksum(dict(reversed(tensors.items())), texts) == checksum(tensors, texts)


def test_a_curve_is_read_as_it_was_written(tmp_path):
    rows = [
        {"epoch": 1, "loss": 1.5, "accuracy": 0.25, "rate": 0.002, "puzzles/s": 100.0},
        {"epoch": 2, "loss": 0.1, "accuracy": 1.0, "rate": 1e-7, "puzzles/s": 99.5},
    ]
    write_curve(tmp_path / "metrics.csv", rows)
    texts = [{name: str(value) for name, value in row.items()} for row in rows]
    assert read_curve(tmp_path / "metrics.csv") == texts
