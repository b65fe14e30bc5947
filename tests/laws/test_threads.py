"""Two threads compute the same bits every time, and what one computes but for the order of sums."""

import hashlib
import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn

from fine.models import make_model
from fine.puzzles import Batch
from fine.puzzles.task import Task
from fine.training.trainer import learn
from support.commands import PROGRAM
from support.small_models import SMALL


@pytest.fixture
def set_threads() -> Iterator[Callable[[int], None]]:
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


def answer(model: nn.Module, images: Tensor) -> tuple[Tensor, Tensor]:
    """The logits of a model, and the gradients of all its weights in one row."""
    model.zero_grad()
    logits = model(images)
    logits.logsumexp(1).sum().backward()
    return logits.detach(), torch.cat([weight.grad.flatten() for weight in model.parameters()])


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize(
    ("precision", "of_logits", "of_gradients"),
    [(torch.float32, 1e-4, 1e-2), (torch.float64, 1e-11, 1e-9)],
    ids=["single", "double"],
)
def test_one_thread_and_two_agree(name, set_threads, precision, of_logits, of_gradients):
    """Within a share of their norm. The last bits of sums differ, and normalising embeddings that
    are almost alike makes that larger: in single precision gradients agree to one part in 10²."""
    torch.manual_seed(0)
    model = make_model(name, channels=1, size=32).to(precision)
    images = torch.rand(8, 7, 1, 32, 32, dtype=precision)
    set_threads(1)
    logits, gradients = answer(model, images)
    set_threads(2)
    other_logits, other_gradients = answer(model, images)
    assert (logits - other_logits).norm() <= of_logits * logits.norm()
    assert (gradients - other_gradients).norm() <= of_gradients * gradients.norm()


@pytest.fixture(scope="module")
def batch() -> Batch:
    """A few puzzles: what threads could add in any order are weights, and as many for few."""
    task = replace(Task.preset("glyphs", rules="affine"), train_count=8, train_classes=40)
    return task.training_puzzles(seed=0).render(range(8))


def trained(model: nn.Module, batch: Batch, *, steps: int) -> str:
    """A digest of the weights of a model after some steps of training."""
    optimiser = torch.optim.Adam(model.parameters(), lr=3e-3, fused=True)
    for _ in range(steps):
        optimiser.zero_grad()
        learn(model, batch)[1].mean().backward()
        optimiser.step()
    numbers = [weight.detach().numpy().tobytes() for weight in model.parameters()]
    return hashlib.sha256(b"".join(numbers)).hexdigest()


@pytest.mark.parametrize(
    "settings",
    [
        {},
        pytest.param({"slots": 20}, marks=pytest.mark.slow),  # systems of 160 rows
    ],
    ids=str,
)
def test_two_threads_train_to_the_same_bits_every_time(settings, batch, set_threads):
    """The default model has weights that are read by index, where threads could add in any order.

    The more steps, the larger grows a difference in one bit.
    """
    set_threads(2)
    digests = set()
    for _ in range(3):
        torch.manual_seed(0)
        model = make_model("fine", channels=1, size=32, settings=settings)
        digests.add(trained(model, batch, steps=3))
    assert len(digests) == 1


@pytest.mark.slow
def test_two_threads_train_to_the_same_bits_in_every_process(tmp_path):
    """As `fine train` does by default on a machine of two cores."""
    environment = {**os.environ, "OMP_WAIT_POLICY": "passive"}  # the machine may be busy
    small = ("--train-count", "128", "--test-count", "20", "--epochs", "2", "--threads", "2")
    digests = set()
    for number in range(2):
        out = tmp_path / str(number)
        command = (*PROGRAM, "train", "--task", "glyphs", "--rules", "rotation", *small)
        train = subprocess.run([*command, "--out", str(out)], env=environment, capture_output=True)
        assert train.returncode == 0, train.stderr[-2000:]
        digests.add(hashlib.sha256((out / "model.safetensors").read_bytes()).hexdigest())
    assert len(digests) == 1
