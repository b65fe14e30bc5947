"""Families learned one after another: what is frozen stays, and a sequence is a run like others."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor

from fine.continual import ContinualConfig, figures
from fine.continual.sequence import FROZEN_EPOCHS, FROZEN_RATE, PRETRAINING_SLOTS, stages
from fine.errors import FineError
from fine.evaluation import evaluate
from fine.models.groups import GroupedFINE
from fine.models.surgery import groups_of
from fine.pretrained import load
from fine.pretrained.exporting import export
from fine.puzzles.variants import Variant
from fine.rules import rule_set
from fine.training import RunConfig, Silent, Training, resume, train
from fine.training.run import Run

pytestmark = pytest.mark.slow  # all of it rests on trained runs

FAMILIES = ["translation", "reflection", "swap"]
VALUES, KEYS = "backbone.memories.0.values", "backbone.memories.0.keys"


def state(folder: Path) -> dict[str, Tensor]:
    return load(folder).state_dict()


# The stages.


def test_half_of_the_puzzles_are_of_the_first_family_and_the_others_share_the_rest(anchored_config):
    made = stages(anchored_config.complete(), Path("run"))
    assert [stage.family for stage in made] == FAMILIES
    assert [stage.config.task.rules for stage in made] == FAMILIES
    assert [stage.config.task.train_count for stage in made] == [32, 16, 16]
    assert [stage.config.task.test_count for stage in made] == [8, 8, 8]


def test_a_stage_starts_from_the_one_before(anchored_config):
    first, second, third = stages(anchored_config.complete(), Path("run"))
    assert type(first.config) is RunConfig  # the first is a run like any other
    assert second.config.start_from == str(first.folder) == "run/1-translation"
    assert third.config.start_from == str(second.folder) == "run/2-reflection"


def test_every_stage_of_anchor_has_one_more_group(anchored_config):
    made = stages(anchored_config.complete(), Path("run"))
    settings = [stage.config.settings for stage in made]
    assert [(one["slots"], one["groups"]) for one in settings] == [(2, 1), (4, 2), (6, 3)]


def test_a_frozen_encoder_allows_more_epochs_at_a_higher_rate(anchored_config):
    first, *later = (stage.config.training for stage in stages(anchored_config.complete(), Path()))
    assert (first.epochs, first.learning_rate) == (1, 2e-3)
    for training in later:
        assert (training.epochs, training.learning_rate) == (FROZEN_EPOCHS, FROZEN_RATE * 2e-3)


@pytest.mark.parametrize(
    ("strategy", "rules"),
    [
        ("plain", FAMILIES),
        ("rehearsal", ["translation", "translation+reflection", "translation+reflection+swap"]),
    ],
)
def test_other_strategies_add_no_slots(task, strategy, rules):
    config = ContinualConfig(task=task, settings={"slots": 2}, strategy=strategy).complete()
    made = [stage.config for stage in stages(config, Path("run"))]
    assert [one.task.rules for one in made] == rules
    assert all(one.model == "fine" and one.settings["slots"] == 2 for one in made)
    assert all(one.training == config.training for one in made)


def test_pretraining_has_slots_of_its_own_and_new_puzzles_in_every_epoch(anchored_config, task):
    starting = replace(task, rules="patchwork+reflection+swap", test_rules="reflection+swap")
    settings = {"slots": 4, "groups": 2}
    config = replace(anchored_config, task=starting, settings=settings).complete()
    first, second, _ = (stage.config for stage in stages(config, Path("run")))
    assert (first.model, first.settings["slots"]) == ("fine", PRETRAINING_SLOTS)
    assert first.training.resample_each_epoch and not second.training.resample_each_epoch
    assert (second.settings["slots"], second.settings["groups"]) == (2, 1)


def test_an_encoder_to_start_from_is_that_of_the_first_stage(anchored_config):
    config = replace(anchored_config, encoder_from="runs/other").complete()
    first, *later = stages(config, Path("run"))
    assert first.config.encoder_from == "runs/other"
    for stage in later:
        assert stage.config.encoder_from == ""
        stage.config.check()


# Training.


def test_nothing_old_changes_while_a_family_is_learned_with_an_anchor(anchored):
    old, new = state(anchored / "1-translation"), state(anchored / "3-swap")
    for name, tensor in old.items():
        kept = new[name][: len(tensor)] if name.startswith("backbone.memories") else new[name]
        assert torch.equal(kept, tensor), name
    groups = new[VALUES].chunk(3)
    assert not torch.equal(groups[0], groups[1]) and not torch.equal(groups[1], groups[2])


def test_growing_without_an_anchor_changes_the_encoder_and_no_old_slot(anchored_config, tmp_path):
    train(replace(anchored_config, strategy="grow"), tmp_path / "run")
    old, new = state(tmp_path / "run/1-translation"), state(tmp_path / "run/2-reflection")
    assert torch.equal(new[KEYS][:2], old[KEYS])
    assert not torch.equal(new["encoder.layers.0.weight"], old["encoder.layers.0.weight"])


def test_after_its_stage_a_group_knows_its_residuals(anchored):
    means = state(anchored)["backbone.memories.0.residuals.mean"]
    assert all(mean.any() for mean in means)
    assert not torch.equal(means[0], means[1])


def test_of_pretraining_the_encoder_is_kept_and_no_slot(anchored_config, task, tmp_path):
    starting = replace(task, rules="patchwork+reflection+swap", test_rules="reflection+swap")
    settings = {"slots": 4, "groups": 2}
    train(replace(anchored_config, task=starting, settings=settings), tmp_path / "run")
    first, last = load(tmp_path / "run/1-patchwork"), load(tmp_path / "run")
    assert (groups_of(first), groups_of(last), last.config.slots) == (0, 2, 4)
    old, new = first.state_dict(), last.state_dict()
    others = [name for name in old if not name.startswith("backbone.memories")]
    assert all(torch.equal(new[name], old[name]) for name in others)
    assert not torch.equal(new[VALUES][:2], old[VALUES][:2])


class StopAfter(Silent):
    """Stops training after so many epochs, counted over all stages."""

    def __init__(self, epochs: int):
        self.left = epochs

    def epoch(self, **_: float) -> None:
        self.left -= 1
        if not self.left:
            raise KeyboardInterrupt


@pytest.mark.parametrize("strategy", ["rehearsal", "anchor"])
def test_a_sequence_stopped_and_resumed_ends_in_the_same_weights(
    strategy, anchored_config, task, tmp_path
):
    config = replace(anchored_config, training=Training(epochs=2, batch=16))
    if strategy == "rehearsal":
        config = ContinualConfig(
            task=task, training=config.training, settings={"slots": 2}, strategy=strategy
        )
    train(config, tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):  # in the middle of the second stage
        train(config, tmp_path / "parts", progress=StopAfter(3))
    assert not Run(tmp_path / "parts").finished
    resume(tmp_path / "parts")
    assert Run(tmp_path / "parts").weights.read_bytes() == (
        Run(tmp_path / "whole").weights.read_bytes()
    )
    result = json.loads((tmp_path / "parts/result.json").read_text(encoding="utf-8"))
    assert [row["family"] for row in result["stages"]] == FAMILIES
    later = 2 * FROZEN_EPOCHS if strategy == "anchor" else 2
    rows = (tmp_path / "parts/metrics.csv").read_text(encoding="utf-8").splitlines()
    assert len(rows) == 1 + 2 + later + later
    assert [row.split(",")[0] for row in rows[1:]] == [str(n) for n in range(1, len(rows))]


def test_progress_of_a_sequence_is_that_of_one_run(anchored_config, task, tmp_path):
    class Recorder(Silent):
        def __init__(self) -> None:
            self.done: list[int] = []
            self.epochs: list[int] = []

        def step(self, *, epoch: int, done: int, **_: float) -> None:
            self.done.append(done)
            assert 1 <= epoch <= 2

        def epoch(self, *, epoch: int, **_: float) -> None:
            self.epochs.append(epoch)

    recorder = Recorder()
    config = replace(anchored_config, training=Training(epochs=2, batch=16))
    train(config, tmp_path / "run", progress=recorder)
    assert recorder.epochs == [1, 2] * 3
    assert recorder.done == sorted(recorder.done) and recorder.done[-1] <= 2 * task.train_count


def test_a_sequence_is_a_run_like_any_other(anchored, task, tmp_path):
    whole = load(anchored)
    assert isinstance(whole, GroupedFINE)
    assert (whole.config.slots, whole.config.groups) == (6, 3)
    export(anchored, tmp_path / "model")
    puzzles = task.test_puzzles()
    answers = [evaluate(model, puzzles).chosen for model in (whole, load(tmp_path / "model"))]
    assert (answers[0] == answers[1]).all()
    result = json.loads((anchored / "result.json").read_text(encoding="utf-8"))
    assert result["accuracy"] == round(evaluate(whole, puzzles).accuracy, 5)
    assert result["stages"][-1]["accuracy"].keys() == rule_set(task.rules).families.keys()


def test_the_configuration_of_a_sequence_is_read_again(anchored, anchored_config):
    assert Run(anchored).config() == anchored_config.complete()
    assert json.loads((anchored / "config.json").read_text())["kind"] == "continual"


# Refusals.


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model": "fine", "settings": {}}, "set --model fine-grouped and groups=3"),
        ({"settings": {"slots": 4, "groups": 2}}, "3 families learned by anchor need a group"),
        ({"strategy": "grows"}, "unknown continual learning strategy 'grows': did you mean 'grow'"),
        ({"variant": Variant("chain", 2)}, "about plain puzzles, not 'a chain of 2'"),
        ({"model": "esbn", "settings": {}, "strategy": "plain"}, "esbn has no slots to add"),
        ({"model": "fine-nice", "settings": {}, "strategy": "plain"}, "fine-nice has no slots"),
        ({"start_from": "x", "encoder_from": "y"}, "a model to start from brings its encoder"),
    ],
    ids=str,
)
def test_what_cannot_be_learned_is_refused_before_anything_is_written(
    anchored_config, changes, message, tmp_path
):
    with pytest.raises(FineError, match=message):
        train(replace(anchored_config, **changes), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_one_family_is_no_sequence(anchored_config, task, tmp_path):
    config = replace(anchored_config, task=replace(task, rules="swap"))
    with pytest.raises(FineError, match="'swap' is one family: with --continual anchor give sever"):
        train(config, tmp_path / "run")


# Figures.


def test_figures_of_a_sequence_worked_out_by_hand():
    rows = [
        {"family": "a", "accuracy": {"a": 0.9, "b": 0.6, "c": 0.5}},
        {"family": "b", "accuracy": {"a": 0.7, "b": 0.8, "c": 0.4}},
        {"family": "c", "accuracy": {"a": 0.8, "b": 0.9, "c": 1.0}},
    ]
    found = figures(rows)
    assert found.average == pytest.approx(0.9)
    assert found.forgetting == pytest.approx(((0.9 - 0.8) + (0.8 - 0.9)) / 2)
    assert found.transfer == pytest.approx(((0.6 - 0.5) + (0.4 - 0.5)) / 2)


def test_a_family_that_is_never_tested_is_in_no_figure():
    rows = [
        {"family": "patchwork", "accuracy": {"a": 0.5, "b": 0.7}},
        {"family": "a", "accuracy": {"a": 0.9, "b": 0.6}},
        {"family": "b", "accuracy": {"a": 0.8, "b": 1.0}},
    ]
    found = figures(rows)
    assert found.average == pytest.approx(0.9)
    assert found.forgetting == pytest.approx(0.1)
    assert found.transfer == pytest.approx(((0.5 - 0.5) + (0.6 - 0.5)) / 2)


def test_families_for_pretraining_are_in_no_test(task):
    both = replace(task, rules="patchwork+swap")
    assert list(both.training_puzzles().rules.families) == ["patchwork", "swap"]
    assert list(both.test_puzzles().rules.families) == ["swap"]
