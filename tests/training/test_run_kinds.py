"""Kinds of runs: a subclass of the trainer with a configuration of its own is trained like any."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import pytest
import torch

from fine.continual import ContinualConfig
from fine.errors import FineError
from fine.io.files import read_json, write_json
from fine.io.tensors import read_tensors
from fine.puzzles import Puzzles
from fine.training import (
    Run,
    RunConfig,
    Trainer,
    Training,
    register_run_kind,
    resume,
    train,
)
from fine.training.run import RUN_KINDS, as_dict, from_dict, kind_of
from support.runs import stop_after, weights

CPU = torch.device("cpu")


@dataclass(frozen=True)
class ShiftedConfig(RunConfig):
    shift: float = 0.0
    """Added to the weights of the metric after training."""


class ShiftedTrainer(Trainer):
    """Freezes the encoder, trains on half of the puzzles, and shifts weights after training."""

    config: ShiftedConfig
    calls: list[str]

    def prepare(self) -> None:
        self.calls = [f"prepare, optimiser: {hasattr(self, 'optimiser')}"]
        for name, parameter in self.model.named_parameters():
            parameter.requires_grad_(not name.startswith("encoder."))

    def draw(self) -> Puzzles:
        self.calls.append(f"draw for epoch {self.epochs_done}")
        puzzles = super().draw()
        return puzzles[: len(puzzles) // 2]

    def after_training(self) -> None:
        saved = self.run.weights.exists()
        self.calls.append(f"after {self.epochs_done} epochs, saved: {saved}")
        with torch.no_grad():
            self.model.distance.raw += self.config.shift


@pytest.fixture(autouse=True)
def shifted() -> Iterator[list[ShiftedTrainer]]:
    """The kind `shifted` is known during a test; the trainers that were made are yielded."""
    before, made = dict(RUN_KINDS), []

    def make(run: Run, config: ShiftedConfig, device: torch.device) -> ShiftedTrainer:
        made.append(ShiftedTrainer(run, config, device))
        return made[-1]

    register_run_kind("shifted", ShiftedConfig, make)
    yield made
    RUN_KINDS.clear()
    RUN_KINDS.update(before)


@pytest.fixture
def config(tiny) -> ShiftedConfig:
    return ShiftedConfig(**vars(tiny), shift=2.5)


@pytest.mark.slow
def test_hooks_are_called_in_their_turn(config, shifted, tmp_path):
    train(config, tmp_path / "run")
    assert [trainer.calls for trainer in shifted] == [
        ["prepare, optimiser: False", "draw for epoch 0", "after 3 epochs, saved: False"]
    ]


@pytest.mark.slow
def test_a_run_that_resamples_draws_for_every_epoch(config, shifted, tmp_path):
    training = replace(config.training, resample_each_epoch=True)
    train(replace(config, training=training), tmp_path / "run")
    assert [call for call in shifted[0].calls if "draw" in call] == [
        f"draw for epoch {epoch}" for epoch in range(3)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("augment_images", [False, True])  # with cached embeddings, and without
def test_what_prepare_freezes_does_not_change(config, shifted, tmp_path, augment_images):
    training = replace(config.training, augment_images=augment_images)
    train(replace(config, training=training), tmp_path / "run")
    assert (shifted[0].cache is None) == augment_images
    torch.manual_seed(config.training.seed)
    start, trained = config.start().state_dict(), read_tensors(Run(tmp_path / "run").weights)[0]
    assert start.keys() == trained.keys()
    for name in start:  # statistics of the encoder's normalisation among them
        assert torch.equal(start[name], trained[name]) == name.startswith("encoder."), name


@pytest.mark.slow
def test_a_cache_of_embeddings_changes_nothing(config, shifted, tmp_path, monkeypatch):
    """The encoder is frozen, so the puzzles have the same embeddings in every epoch."""
    train(config, tmp_path / "cached")
    monkeypatch.setattr("fine.training.trainer.MOST_CACHED", 0)
    train(config, tmp_path / "uncached")
    cached, uncached = shifted
    assert cached.cache is not None and uncached.cache is None
    losses, expected = ([row["loss"] for row in one.metrics] for one in (uncached, cached))
    assert losses == pytest.approx(expected, rel=1e-4)
    torch.testing.assert_close(uncached.model.state_dict(), cached.model.state_dict())


@pytest.mark.slow
def test_training_is_on_the_puzzles_that_draw_returns(config, shifted, tmp_path):
    train(config, tmp_path / "run")
    steps = {int(entry["step"]) for entry in shifted[0].optimiser.state.values()}
    assert steps == {3 * 32 // 16}  # 3 epochs of half of 64 puzzles


@pytest.mark.slow
def test_after_training_changes_what_is_tested_and_saved(config, shifted, tmp_path):
    train(config, tmp_path / "shifted")
    train(replace(config, shift=0.0), tmp_path / "plain")
    shifted_raw, raw = (
        read_tensors(Run(tmp_path / name).weights)[0]["distance.raw"]
        for name in ("shifted", "plain")
    )
    torch.testing.assert_close(shifted_raw, raw + 2.5)


@pytest.mark.slow
def test_a_stopped_run_of_this_kind_is_resumed_by_its_trainer(config, shifted, tmp_path):
    train(config, tmp_path / "whole")
    stop_after(2, config, tmp_path / "stopped")
    assert read_json(tmp_path / "stopped/config.json")["kind"] == "shifted"
    assert Run(tmp_path / "stopped").config() == config.complete()
    resume(tmp_path / "stopped")
    assert weights(tmp_path / "stopped") == weights(tmp_path / "whole")


def test_a_name_and_a_class_are_for_one_kind_each():
    class Other(ShiftedConfig):
        pass

    with pytest.raises(FineError, match="there is a kind of run called 'shifted' already"):
        register_run_kind("shifted", Other, ShiftedTrainer)
    with pytest.raises(FineError, match="ShiftedConfig is for runs of kind 'shifted'"):
        register_run_kind("other", ShiftedConfig, ShiftedTrainer)
    with pytest.raises(FineError, match="RunConfig is for runs of kind 'plain'"):
        register_run_kind("other", RunConfig, ShiftedTrainer)
    register_run_kind("other", Other, ShiftedTrainer)
    assert kind_of(Other()) == "other"


def test_a_configuration_of_no_known_kind_is_refused_before_anything_is_written(tiny, tmp_path):
    class Unknown(RunConfig):
        pass

    with pytest.raises(FineError, match="Unknown is for no known kind of run: see `register_run"):
        train(Unknown(**vars(tiny)), tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("kind", ["unheard-of", "", 3, None, ["plain"], {"plain": 1}])
def test_a_config_json_of_an_unknown_kind_is_named_in_one_line(tiny, tmp_path, kind):
    Run(tmp_path).save_config(tiny)
    write_json(tmp_path / "config.json", {**read_json(tmp_path / "config.json"), "kind": kind})
    with pytest.raises(FineError, match=r"its kind is .*, which is not known here"):
        Run(tmp_path).config()


CONTINUAL = ContinualConfig(
    model="fine-grouped",
    training=Training(epochs=2),
    settings={"slots": 16, "groups": 2},
    strategy="grow",
)


@pytest.mark.parametrize(
    "config",
    [
        RunConfig(),
        RunConfig(model="esbn", training=Training(augment_puzzles=8), settings={"hidden": 3}),
        CONTINUAL,
        replace(CONTINUAL, start_from="affine-omniglot", strategy="anchor"),
    ],
    ids=["plain", "esbn", "sequence", "stage"],
)
def test_configurations_round_trip_through_config_json(config: RunConfig, tmp_path: Path):
    Run(tmp_path).save_config(config)
    assert Run(tmp_path).config() == config
    assert type(Run(tmp_path).config()) is type(config)
    assert from_dict(as_dict(config)) == config
    plain = type(config) is RunConfig
    assert as_dict(config) == ({} if plain else {"kind": "continual"}) | asdict(config)


def test_fields_of_another_kind_are_refused(tmp_path):
    Run(tmp_path).save_config(CONTINUAL)
    content = read_json(tmp_path / "config.json")
    del content["kind"]
    write_json(tmp_path / "config.json", content)
    with pytest.raises(FineError, match=r"has '(start_from|strategy)', which is not known here"):
        Run(tmp_path).config()
