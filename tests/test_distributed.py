"""A process group of one process: nothing is exchanged, and nothing waits."""

import torch
from torch import nn

from fine.distributed import ALONE, ProcessGroup, leave


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
