"""Networks with weights of their own for every sample: python benchmarks/any_backbone.py

Composing and running all of a batch in one pass, against one network after the other, forward and
backward. Both must agree before they are timed (CPU time, one thread). Also the same network with
one set of weights for all samples, and what the weights of a batch take.
"""

import sys
import time
from collections.abc import Callable
from statistics import median

import torch
from torch import Tensor, nn
from torch.func import functional_call

from fine.models.any_backbone import ComposedNetwork, WeightMemory, compose_weights
from timing import median_ratio, show, take_turns, verdict

TARGET = 1.3
"""How many times faster one pass must be; convolutions have the most arithmetic to do in both."""
BATCH, ROWS, SLOTS = 64, 16, 24
NETWORKS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "MLP, 2 layers of 64": (
        lambda: nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64)),
        (64,),
    ),
    "convolutions, 1 → 8 → 1": (
        lambda: nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 1, 3, padding=1)
        ),
        (1, 16, 16),
    ),
    "attention, width 32": (
        lambda: nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, dropout=0.0),
        (7, 32),
    ),
}


def one_by_one(composed: ComposedNetwork, inputs: Tensor, x: Tensor, y: Tensor) -> Tensor:
    weights = composed.compose(x, y)
    outputs = [
        functional_call(composed.network, {k: w[n] for k, w in weights.items()}, sample[None])
        for n, sample in enumerate(inputs)
    ]
    return torch.cat(outputs)


class Pass:
    """Forward and backward."""

    def __init__(self, run: Callable[[], Tensor], weights: list[Tensor]):
        self.run, self.weights = run, weights

    def __call__(self) -> tuple[Tensor, ...]:
        outputs = self.run()
        return outputs, *torch.autograd.grad(outputs.square().mean(), self.weights)


def main() -> int:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    rows, met = [], True
    for name, (make, shape) in NETWORKS.items():
        network = make()
        composed = compose_weights(network, WeightMemory(network, rows=ROWS, slots=SLOTS))
        inputs, (x, y) = torch.randn(BATCH, *shape), torch.randn(2, BATCH, ROWS, ROWS)
        trained = list(composed.parameters())
        together = Pass(lambda c=composed, i=inputs, x=x, y=y: c(i, x, y), trained)
        loop = Pass(lambda c=composed, i=inputs, x=x, y=y: one_by_one(c, i, x, y), trained)
        shared = Pass(lambda n=network, i=inputs: n(i), list(network.parameters()))
        for one, two in zip(together(), loop(), strict=True):
            torch.testing.assert_close(one, two, rtol=1e-3, atol=1e-4)
        times = take_turns((together, loop, shared), rounds=15, clock=time.process_time)
        ratio = median_ratio(times[1], times[0])
        met &= ratio >= TARGET
        numbers = sum(weight.numel() for weight in network.parameters())
        in_memory = sum(weight.numel() for weight in composed.memory.parameters())
        sizes = (f"{numbers:,}", f"{in_memory:,}", f"{4 * BATCH * numbers / 1e6:.1f}")
        shown = (f"{1000 * median(taken):.1f}" for taken in times)
        rows.append((name, *sizes, *shown, f"{ratio:.1f}×", verdict(ratio >= TARGET)))
    columns = ("network", "weights", "in the memory", "MB per batch", "one pass, ms", "loop, ms")
    title = f"Weights composed for each of {BATCH} samples, {SLOTS} slots, forward and backward"
    show(title, (*columns, "shared, ms", "faster", f"≥ {TARGET}×"), rows)
    return not met


if __name__ == "__main__":
    sys.exit(main())
