"""Several processes train, test and resume as one does. They meet over gloo on this machine."""

import copy
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.distributed as dist
from torch import nn

from fine.distributed import ProcessGroup
from fine.evaluation import evaluate
from fine.io.files import read_json
from fine.io.tensors import read_tensors
from fine.training import Run, RunConfig, Training, resume, train
from fine.training.checkpoint import read_curve
from fine.training.sync_batchnorm import convert_sync_batchnorm
from support.processes import in_two_processes
from support.runs import StopAfter

pytestmark = pytest.mark.slow  # two processes take seconds to start


@pytest.fixture(scope="module")
def config(tiny) -> RunConfig:
    """Epochs of three batches of 16 puzzles, and one of 2: one for each of two processes."""
    task = replace(tiny.task, train_count=50, test_count=250)
    return replace(tiny, task=task, training=Training(epochs=2, batch=16))


@pytest.fixture(scope="module")
def alone(config, tmp_path_factory) -> Path:
    """The run, trained by one process."""
    folder = tmp_path_factory.mktemp("runs") / "alone"
    train(config, folder)
    return folder


def assert_the_same_run(one: Path, two: Path) -> None:
    """The same curve and weights, but for the order in which numbers are summed."""
    losses, expected = (
        [float(row["loss"]) for row in read_curve(folder / "metrics.csv")] for folder in (two, one)
    )
    assert losses == pytest.approx(expected, rel=1e-3)
    config = Run(one).config()
    weights, others = (read_tensors(Run(folder).weights)[0] for folder in (one, two))
    torch.manual_seed(config.training.seed)
    for name, tensor in config.build().state_dict().items():
        if tensor.is_floating_point():
            moved = (weights[name] - tensor).norm()
            assert (others[name] - weights[name]).norm() < 0.1 * moved, name
    accuracies = [read_json(folder / "result.json")["accuracy"] for folder in (one, two)]
    assert accuracies[1] == pytest.approx(accuracies[0], abs=2 / config.task.test_count)


def normalise(channels: int = 4) -> None:
    """A share of a batch, normalised with the other's, against the whole batch at once."""
    torch.manual_seed(0)
    whole = torch.randn(7, channels, 3, 5, dtype=torch.float64) * 3 + 5
    mine, wanted = (slice(5, 7) if dist.get_rank() else slice(0, 5)), torch.randn_like(whole)
    at_once = nn.Sequential(nn.BatchNorm2d(channels)).double()
    nn.init.normal_(at_once[0].weight)
    shared = copy.deepcopy(at_once)
    convert_sync_batchnorm(shared)
    assert shared.state_dict().keys() == at_once.state_dict().keys()
    share = whole[mine].clone().requires_grad_()
    whole.requires_grad_()
    expected, found = at_once(whole), shared(share)
    (expected * wanted).sum().backward()
    (found * wanted[mine]).sum().backward()
    gradients = [weight.grad for weight in shared.parameters()]
    ProcessGroup(dist.get_rank(), 2).sum(gradients)
    torch.testing.assert_close(found, expected[mine])
    torch.testing.assert_close(share.grad, whole.grad[mine])
    torch.testing.assert_close(gradients, [weight.grad for weight in at_once.parameters()])
    torch.testing.assert_close(shared.state_dict(), at_once.state_dict())
    torch.testing.assert_close(shared.eval()(share), at_once.eval()(whole)[mine])


def exchange() -> None:
    """Sums are taken in place over both processes, and buffers averaged."""
    group = ProcessGroup.join(torch.device("cpu"))
    assert group == ProcessGroup(dist.get_rank(), 2) and group.first == (dist.get_rank() == 0)
    tensors = [torch.full((2, 3), group.rank + 1.0), torch.tensor(float(group.rank))]
    group.sum(tensors)
    assert tensors[0].tolist() == [[3.0] * 3] * 2 and tensors[1] == 1
    layer = nn.BatchNorm1d(2)
    layer.running_mean.fill_(float(group.rank))
    group.average_buffers(layer)
    assert layer.running_mean.tolist() == [0.5, 0.5] and layer.num_batches_tracked == 0


def answer(alone: Path, folder: Path) -> None:
    """Each process answers every other batch, and learns what the other answered."""
    group = ProcessGroup(dist.get_rank(), 2)
    puzzles = Run(alone).config().task.test_puzzles()
    evaluation = evaluate(Run(alone).load(), puzzles, group=group)
    np.save(folder / f"{group.rank}.npy", evaluation.probabilities)


def stop_after_an_epoch(config: RunConfig, folder: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        train(config, folder, progress=StopAfter(1))


def everything(config: RunConfig, alone: Path, folder: Path) -> None:
    """Not a test each: starting two processes takes longer than all that they do."""
    normalise()
    exchange()
    answer(alone, folder)
    resume(folder / "from one")
    stop_after_an_epoch(config, folder / "from two")


def test_two_processes_normalise_answer_and_resume_as_one(config, alone, tmp_path):
    stop_after_an_epoch(config, tmp_path / "from one")
    in_two_processes(everything, config, alone, tmp_path)
    answered = evaluate(Run(alone).load(), config.task.test_puzzles()).probabilities
    for rank in range(2):
        assert np.array_equal(np.load(tmp_path / f"{rank}.npy"), answered)
    resume(tmp_path / "from two")
    assert_the_same_run(alone, tmp_path / "from one")
    assert_the_same_run(alone, tmp_path / "from two")


def test_torchrun_trains_as_one_process_does(alone, tmp_path, warm_python):
    Run(tmp_path / "pair").save_config(Run(alone).config())
    launch = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", "--no-python")
    program = (*warm_python.command, "-m", "fine", "train", "--resume", str(tmp_path / "pair"))
    environment = {**os.environ, "GLOO_SOCKET_IFNAME": "lo"}
    done = warm_python.run(*launch, *program, environment=environment)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.count("95 % interval") == 1  # one speaks for both
    assert_the_same_run(alone, tmp_path / "pair")
