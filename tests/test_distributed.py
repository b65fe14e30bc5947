"""A process group of one process: nothing is exchanged, and nothing waits."""

import pytest
import torch
from torch import nn

from fine.distributed import ALONE, ProcessGroup, leave, own_rank
from fine.errors import FineError


def test_one_process_is_alone(monkeypatch):
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    group = ProcessGroup.join(torch.device("cpu"))
    assert group == ALONE == ProcessGroup(rank=0, count=1) and group.first
    assert not ProcessGroup(rank=1, count=2).first


def test_alone_sums_and_averages_are_the_numbers_themselves():
    tensors = [torch.ones(2), torch.tensor(5.0)]
    ALONE.sum(tensors)
    assert tensors[0].tolist() == [1, 1] and tensors[1] == 5
    ALONE.sum([])
    layer = nn.BatchNorm1d(2)
    layer.running_mean.fill_(3)
    ALONE.average_buffers(layer)
    assert layer.running_mean.tolist() == [3, 3]
    ALONE.wait()
    leave()


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"WORLD_SIZE": "2", "RANK": "abc"}, "RANK is 'abc', expected a number from 0 on: unset"),
        ({"WORLD_SIZE": "2", "RANK": "-1"}, "RANK is '-1', expected a number from 0 on"),
        ({"WORLD_SIZE": "2", "RANK": "2"}, "RANK is 2 of 2 processes: start them with torchrun"),
        ({"WORLD_SIZE": "9" * 5000}, "WORLD_SIZE is '9+', expected a number from 1 on"),
        ({"WORLD_SIZE": "", "RANK": "0"}, "WORLD_SIZE is '', expected a number from 1 on"),
        ({"WORLD_SIZE": "0", "RANK": "0"}, "WORLD_SIZE is '0', expected a number from 1 on"),
        ({"WORLD_SIZE": "2"}, "cannot join the 2 processes of WORLD_SIZE .*: start all of them"),
        (
            {"WORLD_SIZE": "2", "RANK": "0", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "x"},
            "cannot join the 2 processes of WORLD_SIZE",
        ),
    ],
    ids=range(8),
)
def test_what_torchrun_would_not_set_is_refused_in_one_line(monkeypatch, variables, message):
    for name in ("WORLD_SIZE", "RANK", "MASTER_ADDR", "MASTER_PORT"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(FineError, match=message) as problem:
        ProcessGroup.join(torch.device("cpu"))
    assert "\n" not in str(problem.value)


def test_a_rank_means_nothing_to_a_process_that_is_alone(monkeypatch):
    """Other programs than torchrun set a variable of this name, too."""
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    monkeypatch.setenv("RANK", "abc")
    assert own_rank() == 0
    assert ProcessGroup.join(torch.device("cpu")) == ALONE
