"""Reading a functional memory in batches, against one pair at a time: python benchmarks/memory.py

Both go forward and backward, and must agree before they are timed (CPU time, one thread).
"""

import sys
import time
from collections.abc import Callable
from statistics import median

import torch
from torch import Tensor

from fine.models.memory import FunctionalMemory
from timing import median_ratio, show, take_turns, verdict

TARGET = 5
"""How many times faster the batch must be."""
BATCH = 32
SHAPES = ((16, 8, 64, 0.1), (64, 1, 48, 0.0))
"""(rows, columns, slots, ridge) of memories; the second is the paper's."""


def read_one(memory: FunctionalMemory, x: Tensor, y: Tensor) -> Tensor:  # (i, c), (o, c) -> (o, i)
    """The weight of a single pair, in plain matrices."""
    gram = x.T @ x
    gram = gram + (memory.ridge * gram.diagonal().mean() + 1e-8) * torch.eye(len(gram))
    query = y @ torch.linalg.solve(gram, x.T)
    similarity = torch.einsum("oi,soi->s", query, memory.values) / memory.scale  # Eq. 1
    return torch.einsum("s,soi->oi", similarity, memory.keys)  # Eq. 2


def read_each(memory: FunctionalMemory, x: Tensor, y: Tensor) -> Tensor:
    return torch.stack([read_one(memory, *pair) for pair in zip(x, y, strict=True)])


class Reading:
    """One way to read a memory, forward and backward."""

    def __init__(self, read: Callable[..., Tensor], memory: FunctionalMemory, x: Tensor, y: Tensor):
        self.read, self.inputs = read, (memory, x, y)
        self.wanted = (x, y, memory.values, memory.keys)

    def __call__(self) -> tuple[Tensor, ...]:
        weights = self.read(*self.inputs)
        return weights, *torch.autograd.grad(weights.square().sum(), self.wanted)


def check_agreement(batch: Reading, loop: Reading) -> None:
    for one, two in zip(batch(), loop(), strict=True):
        tolerance = 1e-4 * float(two.detach().abs().max())
        torch.testing.assert_close(one, two, rtol=1e-3, atol=tolerance)


def main() -> int:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    rows, met = [], True
    for side, columns, slots, ridge in SHAPES:
        memory = FunctionalMemory(side, side, slots=slots, ridge=ridge)
        x, y = (torch.randn(BATCH, side, columns, requires_grad=True) for _ in range(2))
        batch = Reading(FunctionalMemory.__call__, memory, x, y)
        loop = Reading(read_each, memory, x, y)
        check_agreement(batch, loop)
        times = take_turns((batch, loop), rounds=30, clock=time.process_time)
        ratio = median_ratio(times[1], times[0])
        met &= ratio >= TARGET
        milliseconds = (f"{1000 * median(taken):.2f}" for taken in times)
        shape = (f"{side}×{side}", f"{columns}", f"{slots}")
        rows.append((*shape, *milliseconds, f"{ratio:.1f}×", verdict(ratio >= TARGET)))
    header = ("weights", "columns", "slots", "batch ms", "loop ms", "faster", f"≥ {TARGET}×")
    show(f"Memory reading, forward and backward, {BATCH} pairs", header, rows)
    return not met


if __name__ == "__main__":
    sys.exit(main())
