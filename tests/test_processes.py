"""Several processes train, test and go on as one does. They meet over gloo on this machine alone."""

import copy
import csv
import os
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.distributed as dist
import torch.multiprocessing
from torch import nn

from fine.errors import FineError
from fine.evaluation import evaluate
from fine.models.together import normalise_together
from fine.processes import Processes
from fine.progress import Silent
from fine.protocols import Training
from fine.runs import Run, RunConfig, read_tensors
from fine.storage import read_json
from fine.tasks import Task
from fine.training import Trainer, resume, train

# Epochs of 50 puzzles are three batches of 16, and one of 2, of which each of two processes has one.
TINY = RunConfig(
    task=replace(Task.preset("glyphs", rules="translation"), train_count=50, test_count=250),
    training=Training(epochs=2, batch=16),
    settings={"slots": 4},
)


def together(work, *arguments) -> None:
    """``work(*arguments)`` in two processes that have met."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    torch.multiprocessing.spawn(_meet, (port, work, arguments), nprocs=2)


def _meet(rank: int, port: int, work, arguments) -> None:
    os.environ |= {"RANK": str(rank), "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    work(*arguments)
    dist.destroy_process_group()


class StopAfter(Silent):
    """Stops training as Ctrl-C would, once an epoch is on disk."""

    def __init__(self, epoch: int):
        self.last = epoch

    def epoch(self, *, epoch: int, **_: float) -> None:
        if epoch == self.last:
            raise KeyboardInterrupt


def stop_after_an_epoch(folder: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        train(TINY, folder, progress=StopAfter(1))


def losses(folder: Path) -> list[float]:
    with (folder / "metrics.csv").open(encoding="utf-8") as file:
        return [float(row["loss"]) for row in csv.DictReader(file)]


def assert_the_same_run(one: Path, two: Path) -> None:
    """The same loss curve and the same weights, as far as the order in which numbers are added up can tell."""
    assert losses(two) == pytest.approx(losses(one), rel=1e-3)
    weights, others = (read_tensors(Run(folder).weights)[0] for folder in (one, two))
    start = RunConfig(settings=TINY.settings)
    torch.manual_seed(TINY.training.seed)
    for name, tensor in start.build().state_dict().items():
        if tensor.is_floating_point():
            moved = (weights[name] - tensor).norm()
            assert (others[name] - weights[name]).norm() < 0.1 * moved, name
    accuracies = [read_json(folder / "result.json")["accuracy"] for folder in (one, two)]
    assert accuracies[1] == pytest.approx(accuracies[0], abs=2 / TINY.task.test_count)


@pytest.fixture(scope="module")
def alone(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "alone"
    train(TINY, folder)
    return folder


def normalise(channels: int = 4) -> None:
    """A share of a batch, normalised with the other's, against the whole batch normalised at once."""
    torch.manual_seed(0)
    whole = torch.randn(7, channels, 3, 5, dtype=torch.float64) * 3 + 5
    mine, wanted = (slice(5, 7) if dist.get_rank() else slice(0, 5)), torch.randn_like(whole)
    at_once = nn.Sequential(nn.BatchNorm2d(channels)).double()
    nn.init.normal_(at_once[0].weight)
    shared = copy.deepcopy(at_once)
    normalise_together(shared)
    assert shared.state_dict().keys() == at_once.state_dict().keys()
    share = whole[mine].clone().requires_grad_()
    whole.requires_grad_()
    expected, found = at_once(whole), shared(share)
    (expected * wanted).sum().backward()
    (found * wanted[mine]).sum().backward()
    gradients = [weight.grad for weight in shared.parameters()]
    Processes(dist.get_rank(), 2).sum(gradients)
    torch.testing.assert_close(found, expected[mine])
    torch.testing.assert_close(share.grad, whole.grad[mine])
    torch.testing.assert_close(gradients, [weight.grad for weight in at_once.parameters()])
    torch.testing.assert_close(shared.state_dict(), at_once.state_dict())
    torch.testing.assert_close(shared.eval()(share), at_once.eval()(whole)[mine])


def answer(alone: Path, folder: Path) -> None:
    """Each process answers every other batch, and knows what the other answered."""
    processes = Processes(dist.get_rank(), 2)
    evaluation = evaluate(Run(alone).load(), TINY.task.test_puzzles(), processes=processes)
    np.save(folder / f"{processes.rank}.npy", evaluation.probabilities)


def all_of_it(alone: Path, folder: Path) -> None:
    """What two processes are started for; not in a test each, for starting them takes longer than what they do."""
    normalise()
    answer(alone, folder)
    resume(folder / "from one")
    stop_after_an_epoch(folder / "from two")


def test_two_processes_normalise_answer_and_go_on_as_one(alone, tmp_path):
    stop_after_an_epoch(tmp_path / "from one")
    together(all_of_it, alone, tmp_path)
    answered = evaluate(Run(alone).load(), TINY.task.test_puzzles()).probabilities
    for rank in range(2):
        assert np.array_equal(np.load(tmp_path / f"{rank}.npy"), answered)
    resume(tmp_path / "from two")
    assert_the_same_run(alone, tmp_path / "from one")
    assert_the_same_run(alone, tmp_path / "from two")


def test_torchrun_trains_as_one_process_does(alone, tmp_path):
    Run(tmp_path / "pair").save_config(Run(alone).config())
    said = torchrun("train", "--resume", tmp_path / "pair")
    assert said.count("95 % interval") == 1  # one speaks for both
    assert_the_same_run(alone, tmp_path / "pair")


def torchrun(*arguments) -> str:
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", "-m", "fine"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
    done = subprocess.run([*command, *arguments], env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_a_batch_with_too_few_puzzles_for_all_is_refused(tmp_path):
    trainer = Trainer(Run(tmp_path), TINY, torch.device("cpu"))
    trainer.processes = Processes(rank=0, count=3)
    with pytest.raises(FineError, match="the last batch of an epoch has 2 puzzles, too few for 3 processes"):
        trainer.fit(Silent())
