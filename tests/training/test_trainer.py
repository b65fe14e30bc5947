"""The trainer: what a step is, and how an epoch is made of steps."""

import copy
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from fine.distributed import ProcessGroup
from fine.errors import FineError
from fine.puzzles import Batch
from fine.training import Run, Silent, Trainer, learn, train
from fine.training.checkpoint import read_curve
from support.runs import with_training

CPU = torch.device("cpu")


@pytest.fixture
def trainer(tiny, tmp_path) -> Trainer:
    trainer = Trainer(Run(tmp_path / "run"), tiny, CPU)
    trainer.model.train()
    return trainer


@pytest.fixture
def batch(trainer) -> Batch:
    return trainer.puzzles.render(range(16))


def parameters(model: nn.Module) -> list[Tensor]:
    return [parameter.detach().clone() for parameter in model.parameters()]


@pytest.mark.parametrize("grad_clip", [1e-3, 10.0])
def test_a_step_is_one_of_adam_on_the_mean_loss_with_the_gradient_clipped(
    tiny, tmp_path, grad_clip
):
    trainer = Trainer(Run(tmp_path), with_training(tiny, grad_clip=grad_clip), CPU)
    model = copy.deepcopy(trainer.model)
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-3)
    for number in range(2):
        batch = trainer.puzzles.render(range(16 * number, 16 * number + 16))
        logits, losses = learn(model, batch)
        optimiser.zero_grad()
        losses.mean().backward()
        nn.utils.clip_grad_norm_(model.parameters(), grad_clip)
        optimiser.step()
        step = trainer.step(batch, learning_rate=1e-3, size=16, number=number)
        assert step.loss.item() == pytest.approx(losses.sum().item(), rel=1e-5)
        assert step.right == (logits.argmax(1) == batch.answers).sum()
    torch.testing.assert_close(parameters(trainer.model), parameters(model))


def test_a_step_at_learning_rate_zero_moves_nothing(trainer, batch):
    before = parameters(trainer.model)
    trainer.step(batch, learning_rate=0.0, size=16, number=0)
    torch.testing.assert_close(parameters(trainer.model), before, rtol=0, atol=0)


def test_gradients_are_those_of_the_whole_batch_a_share_belongs_to(tiny, tmp_path, batch):
    trainer = Trainer(Run(tmp_path), with_training(tiny, grad_clip=1e9), CPU)
    gradients = []
    for size in (16, 32):
        trainer.step(batch, learning_rate=0.0, size=size, number=0)
        gradients.append([p.grad.clone() for p in trainer.model.parameters()])
    whole, share = gradients
    torch.testing.assert_close(share, [gradient / 2 for gradient in whole])


def test_steps_bring_the_loss_down(trainer, batch):
    losses = [trainer.step(batch, learning_rate=1e-3, size=16, number=n).loss for n in range(8)]
    assert losses[-1] < 0.9 * losses[0]


@pytest.mark.slow
def test_training_brings_the_loss_down(tiny, tmp_path):
    task = replace(tiny.task, train_count=320)
    train(with_training(replace(tiny, task=task), epochs=4), tmp_path / "run")
    losses = [float(row["loss"]) for row in read_curve(tmp_path / "run/metrics.csv")]
    assert losses[-1] < 0.8 * losses[0]


def test_a_model_without_a_loss_of_its_own_learns_by_cross_entropy(batch):
    model = nn.Sequential(nn.Flatten(), nn.Linear(7 * 32 * 32, 4))
    logits, losses = learn(model, batch)
    torch.testing.assert_close(losses.mean(), F.cross_entropy(logits, batch.answers))


def test_a_last_batch_of_one_puzzle_is_left_out(tiny, tmp_path):
    config = replace(tiny, task=replace(tiny.task, train_count=33))
    trainer = Trainer(Run(tmp_path / "run"), with_training(config, epochs=1), CPU)
    trainer.fit(Silent())  # 16, 16, and one that could not be normalised
    assert {int(entry["step"]) for entry in trainer.optimiser.state.values()} == {2}


def test_a_batch_with_too_few_puzzles_for_all_processes_is_refused(tiny, tmp_path):
    config = replace(tiny, task=replace(tiny.task, train_count=50))
    trainer = Trainer(Run(tmp_path), config, CPU)
    trainer.group = ProcessGroup(rank=0, count=3)
    message = "the last batch of an epoch has 2 puzzles, too few for 3 processes"
    with pytest.raises(FineError, match=message):
        trainer.fit(Silent())


@pytest.mark.slow
def test_tests_on_the_way_are_in_the_curve_and_change_nothing(tiny, tmp_path):
    plain = train(tiny, tmp_path / "plain", progress=Silent())
    tested = with_training(tiny, test_epochs=(1, tiny.training.epochs, 1000))
    on_the_way = train(tested, tmp_path / "tested", progress=Silent())
    rows = read_curve(tmp_path / "tested" / "metrics.csv")
    assert [int(row["epoch"]) for row in rows if row["test accuracy"]] == [1, tiny.training.epochs]
    assert float(rows[-1]["test accuracy"]) == on_the_way.accuracy == plain.accuracy
    weights = [(tmp_path / name / "model.safetensors").read_bytes() for name in ("plain", "tested")]
    assert weights[0] == weights[1]
    assert "test accuracy" not in read_curve(tmp_path / "plain" / "metrics.csv")[0]
