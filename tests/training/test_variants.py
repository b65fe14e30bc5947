"""Variants of puzzles in training: for every model that can solve them, and one line otherwise."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from fine.continual import ContinualConfig
from fine.errors import FineError
from fine.models.variant_solver import VariantSolver
from fine.puzzles.task import Task
from fine.puzzles.variants import Variant
from fine.training import Run, RunConfig, Trainer, Training, resume, train
from support.runs import stop_after, weights

CHAIN = Variant("chain", hints=2)


@pytest.fixture(scope="module")
def config(tiny) -> RunConfig:
    task = replace(tiny.task, rules="rotation", train_count=32)
    return replace(tiny, task=task, training=Training(epochs=2, batch=16), settings={})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("variant", "model"),
    [
        (Variant("hints", hints=3, noise=0.2), "fine"),
        (Variant("backwards"), "fine"),
        (Variant("backwards"), "fine-nice"),
        (Variant("backwards", by="swapped"), "transformer"),
        (Variant("odd-one-out", hints=3), "fine"),
    ],
    ids=str,
)
def test_a_variant_can_be_trained_for(config, tmp_path, variant, model):
    evaluation = train(replace(config, model=model, variant=variant), tmp_path)
    assert evaluation.puzzles.variant == Run(tmp_path).config().variant == variant
    assert (tmp_path / "puzzles.png").exists()
    result = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))
    assert result["accuracy"] == round(evaluation.accuracy, 5)


def test_a_model_learns_the_variant_it_is_tested_on(config, tmp_path):
    trainer = Trainer(Run(tmp_path), replace(config, variant=CHAIN), torch.device("cpu"))
    batch = trainer.puzzles.render(range(8))
    assert batch.images.shape[1] == 9  # two hints, x' and four choices
    logits = VariantSolver(trainer.model.eval(), CHAIN)(batch.images)
    torch.testing.assert_close(trainer.solver.eval()(batch.images), logits)
    logits.sum().backward()
    assert all(parameter.grad is not None for parameter in trainer.model.encoder.parameters())


def test_further_hints_are_of_training_classes(config, tmp_path):
    trainer = Trainer(Run(tmp_path), replace(config, variant=CHAIN), torch.device("cpu"))
    shown = trainer.puzzles.specs[:, [0, 1, 2, 7]].astype(np.int64)  # x, x', x'' and x of hint 2
    used = set(trainer.puzzles.images.labels[shown].flatten().tolist())
    assert used <= set(config.task.training_classes)


@pytest.mark.slow
def test_a_stopped_run_of_a_variant_resumes_to_the_same_bits(config, tmp_path):
    chain = replace(config, variant=CHAIN)
    train(chain, tmp_path / "whole")
    stop_after(1, chain, tmp_path / "stopped")
    resume(tmp_path / "stopped")
    assert weights(tmp_path / "stopped") == weights(tmp_path / "whole")


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (
            RunConfig(model="esbn", variant=CHAIN),
            "composes no function, so it cannot be asked 'a chain of 2'",
        ),
        (
            RunConfig(task=Task.preset("strings", rules="all"), variant=CHAIN),
            "strings .* 'a chain of 2'",
        ),
        (
            ContinualConfig(variant=CHAIN),
            "continual learning is about plain puzzles, not 'a chain of 2'",
        ),
    ],
    ids=["esbn", "strings", "continual"],
)
def test_impossible_variants_are_refused_before_anything_is_written(tmp_path, config, message):
    with pytest.raises(FineError, match=message):
        train(config, tmp_path / "run")
    assert not (tmp_path / "run").exists()
