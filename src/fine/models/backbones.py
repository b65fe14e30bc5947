"""Backbones: small networks whose weights are composed from one example pair.

A backbone has two sides. ``compose(x, y)`` reads its memories, layer by layer, and returns the weights of each layer;
``run(weights, x)`` is the network with those weights. Codes are (b, rows, columns), and weights act on rows.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from fine.errors import FineError, unknown

Weights = Sequence[Tensor]
"""One (b, out, in) matrix a layer: a composed function, as numbers."""

MakeMemory = Callable[[int, int], nn.Module]
"""(rows in, rows out) -> a new memory; its slots and its query are the maker's business."""


class Backbone(nn.Module):
    """A network of composed layers; what layer t computes is up to the subclass."""

    layers: int
    """How many composed layers there are."""
    memories: nn.ModuleList
    pseudo_outputs: nn.ModuleList

    def compose(self, x: Tensor, y: Tensor) -> Weights:
        """The weights that take x to y: at each layer, what went in and a pseudo-output γ_t(y) are looked up in its memory."""
        weights: list[Tensor] = []
        state, carried = x, None
        for t in range(self.layers):
            weight, carried = self.recall(t, self.read(t, state), self.pseudo_output(t, y), carried)
            state = self.step(t, state, weight)
            weights.append(weight)
        return weights

    def run(self, weights: Weights, x: Tensor) -> Tensor:
        """The network with these weights, applied to x."""
        for t in range(self.layers):
            x = self.step(t, x, weights[t])
        return x

    def matrix(self, weights: Weights) -> Tensor | None:  # (b, rows, rows)
        """The whole network with these weights as one matrix on the rows of a code, or None where it is not linear."""
        return None

    def memory(self, t: int) -> nn.Module:
        """The memory that layer t reads."""
        return self.memories[t]

    def recall(self, t: int, x: Tensor, y: Tensor, carried: Any) -> tuple[Tensor, Any]:
        """The weight of layer t, looked up from what goes into it and its pseudo-output, and what to hand on to layer t + 1."""
        return self.memory(t)(x, y), carried

    def pseudo_output(self, t: int, y: Tensor) -> Tensor:
        """What layer t should make, guessed from y: γ_t(y), a linear layer on the rows."""
        return self.pseudo_outputs[t](y.mT).mT

    def read(self, t: int, state: Tensor) -> Tensor:
        """The part of the state that the weights of layer t multiply."""
        return state

    def step(self, t: int, state: Tensor, weight: Tensor) -> Tensor:
        """Layer t."""
        return weight @ state


class LinearBackbone(Backbone):
    """A single linear map, looked up from y itself."""

    layers = 1

    def __init__(self, *, rows: int, make_memory: MakeMemory):
        super().__init__()
        self.memories = nn.ModuleList([make_memory(rows, rows)])

    def matrix(self, weights: Weights) -> Tensor:
        return weights[0]

    def pseudo_output(self, t: int, y: Tensor) -> Tensor:
        return y


class ResidualBackbone(Backbone):
    """Layers that each make the change still to be made: W is looked up for y − state, and the state becomes state + W state.

    All layers read one memory, so that a rule stronger than its slots can say is made in several steps.
    """

    def __init__(self, *, rows: int, make_memory: MakeMemory, layers: int = 2):
        super().__init__()
        if not 1 <= layers <= 1000:
            raise FineError(f"a residual backbone cannot have {layers} layers: give 1 to 1000")
        self.layers = layers
        self.memories = nn.ModuleList([make_memory(rows, rows)])

    def matrix(self, weights: Weights) -> Tensor:
        return self.run(weights, torch.eye(weights[0].shape[-1], dtype=weights[0].dtype, device=weights[0].device))

    def recall(self, t: int, x: Tensor, y: Tensor, carried: Any) -> tuple[Tensor, Any]:
        return self.memories[0](x, y - x), carried

    def pseudo_output(self, t: int, y: Tensor) -> Tensor:
        return y

    def step(self, t: int, state: Tensor, weight: Tensor) -> Tensor:
        return state + weight @ state


class MLPBackbone(Backbone):
    """Two layers with a ReLU between them: for rules that need not be invertible."""

    layers = 2

    def __init__(self, *, rows: int, make_memory: MakeMemory):
        super().__init__()
        self.memories = nn.ModuleList(make_memory(rows, rows) for _ in range(2))
        self.pseudo_outputs = nn.ModuleList(nn.Linear(rows, rows) for _ in range(2))

    def step(self, t: int, state: Tensor, weight: Tensor) -> Tensor:
        return weight @ state if t else F.relu(weight @ state)


class NICEBackbone(Backbone):
    """Additive coupling layers (Dinh et al., 2014): one half of the rows moves by a function of the other, so it can be undone.

    Two consecutive layers share a memory, since each of them moves only half of the code.
    """

    def __init__(self, *, rows: int, make_memory: MakeMemory, layers: int = 4):
        super().__init__()
        if rows % 2:
            raise FineError(f"NICE splits the rows of a code into halves, so {rows} rows will not do: use an even number")
        if layers > 1000:
            raise FineError(f"NICE cannot have {layers} layers: give at most 1000")
        self.middle, self.layers = rows // 2, layers
        self.memories = nn.ModuleList(make_memory(self.middle, self.middle) for _ in range((layers + 1) // 2))
        self.pseudo_outputs = nn.ModuleList(nn.Linear(rows, self.middle) for _ in range(layers))

    def memory(self, t: int) -> nn.Module:
        return self.memories[t // 2]

    def read(self, t: int, state: Tensor) -> Tensor:
        still = state[:, : self.middle] if t % 2 == 0 else state[:, self.middle :]
        return F.relu(still)

    def step(self, t: int, state: Tensor, weight: Tensor) -> Tensor:
        return self._move(t, state, weight @ self.read(t, state))

    def invert(self, weights: Weights, y: Tensor) -> Tensor:
        """The x that ``run`` takes to y, exactly: the layers backwards, with their shifts taken away."""
        for t in reversed(range(self.layers)):
            y = self._move(t, y, -(weights[t] @ self.read(t, y)))
        return y

    def _move(self, t: int, state: Tensor, shift: Tensor) -> Tensor:
        first, second = state[:, : self.middle], state[:, self.middle :]
        return torch.cat((first, second + shift) if t % 2 == 0 else (first + shift, second), dim=1)


BACKBONES = ("linear", "residual", "mlp", "nice")


def make_backbone(name: str, *, rows: int, layers: int, make_memory: MakeMemory) -> Backbone:
    """The backbone called ``name``; ``layers`` is for residual and NICE, which with 0 gives way to the MLP."""
    if name not in BACKBONES:
        raise unknown("backbone", name, BACKBONES)
    if layers < 0:
        raise FineError(f"a backbone cannot have {layers} layers: give 0 or more")
    if name == "residual":
        return ResidualBackbone(rows=rows, layers=layers, make_memory=make_memory)
    if name == "linear":
        return LinearBackbone(rows=rows, make_memory=make_memory)
    if name == "mlp" or layers == 0:
        return MLPBackbone(rows=rows, make_memory=make_memory)
    return NICEBackbone(rows=rows, layers=layers, make_memory=make_memory)
