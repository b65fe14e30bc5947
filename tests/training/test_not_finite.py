"""Numbers that are not finite stop a training at the step where they appear, with a name."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from fine.errors import FineError
from fine.training import Run, Silent, Trainer
from support.runs import stop_after, with_training

CPU = torch.device("cpu")


@pytest.fixture
def trainer(tiny, tmp_path) -> Trainer:
    """Two epochs of two steps."""
    config = with_training(replace(tiny, task=replace(tiny.task, train_count=8)), epochs=2, batch=4)
    run = Run(tmp_path / "run")
    run.save_config(config)
    return Trainer(run, run.config(), CPU)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
def test_a_weight_is_named_at_the_step_it_appears(trainer, bad):
    with torch.no_grad():
        trainer.model.backbone.memories[0].keys[0, 0, 0] = bad
    name = r"^backbone\.memories\.0\.keys and \d+ more are not finite at step 1, epoch 1: train"
    with pytest.raises(FineError, match=name):
        trainer.fit(Silent())
    assert not trainer.run.checkpoint.exists()


def test_a_gradient_is_named_alone(trainer):
    spoilt = trainer.model.distance.raw
    spoilt.register_hook(lambda gradient: torch.full_like(gradient, float("inf")))
    name = r"^the gradient of distance\.raw and 1 more are not finite at step 1"  # and the norm
    with pytest.raises(FineError, match=name):
        trainer.fit(Silent())
    assert torch.isfinite(spoilt).all()


def test_a_gradient_that_is_too_long_to_measure_is_named_as_such(trainer):
    trainer.model.distance.raw.register_hook(lambda gradient: torch.full_like(gradient, 1e30))
    with pytest.raises(FineError, match=r"^the norm of the gradient is not finite at step 1"):
        trainer.fit(Silent())


def test_a_loss_is_named_though_no_gradient_is(trainer, monkeypatch):
    learn = trainer.model.learn

    def infinite(images: Tensor, answers: Tensor) -> tuple[Tensor, Tensor]:
        logits, losses = learn(images, answers)
        return logits, losses + float("inf")

    monkeypatch.setattr(trainer.model, "learn", infinite)
    with pytest.raises(FineError, match=r"^the loss is not finite at step 1"):
        trainer.fit(Silent())


def test_a_run_that_fails_keeps_its_last_checkpoint(tiny, tmp_path):
    run = stop_after(2, tiny, tmp_path / "run")
    before = run.checkpoint.read_bytes()
    trainer = Trainer(run, run.config(), CPU)
    with torch.no_grad():
        trainer.model.distance.raw[0, 0] = float("nan")
    # Epochs have 64 / 16 = 4 steps, so the first of the third is the 9th.
    kept = r"not finite at step 9, epoch 3: the checkpoint of epoch 2 is kept in .*; train again"
    with pytest.raises(FineError, match=kept):
        trainer.fit(Silent())
    assert run.checkpoint.read_bytes() == before


def test_what_the_last_step_of_an_epoch_spoils_is_not_kept(trainer):
    class Spoil(Silent):
        """Has the last step of the epoch after this one write NaN."""

        def epoch(self, **_: float) -> None:
            checkpoints.append(trainer.run.checkpoint.read_bytes())
            step = trainer.optimiser.step

            def last(*arguments: object) -> None:
                step(*arguments)
                steps.append(1)
                if len(steps) == 2:  # an epoch has 8 / 4 steps
                    with torch.no_grad():
                        trainer.model.distance.raw.fill_(float("nan"))

            trainer.optimiser.step = last

    checkpoints: list[bytes] = []
    steps: list[int] = []
    name = r"^distance\.raw is not finite at step 4, epoch 2: the checkpoint of epoch 1 is kept in"
    with pytest.raises(FineError, match=name):
        trainer.fit(Spoil())
    assert [trainer.run.checkpoint.read_bytes()] == checkpoints
