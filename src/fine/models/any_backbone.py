"""Any network as the backbone: your own module, with other weights for every sample.

    memory = WeightMemory(network, rows=16, slots=8)    # slots of weights, found by analogy
    composed = compose_weights(network, memory)         # an nn.Module
    outputs = composed(inputs, x, y)                    # network i takes what x_i is to what y_i is

FINE composes the weights of linear layers. Here a slot holds a value, as in FINE, and a change of
*all* weights of a network in the place of a key. An example pair is compared with the values, as in
Eq. 1 of the paper, and the changes are combined by the coefficients, as in Eq. 2. The networks of a
batch then run in one pass, by torch.func.
"""

from collections.abc import Collection, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, vmap
from torch.nn.attention import SDPBackend, sdpa_kernel

from fine.errors import FineError, unknown
from fine.models.memory import FunctionalMemory

ComposedWeights = dict[str, Tensor]
"""Names of parameters -> their values for every sample, (b, …)."""


class WeightMemory(nn.Module):
    """Slots of a value matrix and a change of a network's weights: W = W_0 + Σ_s a_s K_s.

    Args:
        network: The network whose weights are composed. W_0 are its own weights.
        rows: Rows of the embeddings of an example pair, (b, rows, columns) each.
        slots: How many changes there are to combine.
        ridge: Of the least-squares fit that finds the coefficients a.
        only: Names of the parameters to compose; by default all. The others are the same for every
            sample.

    Examples:
        >>> import fine, torch
        >>> network = torch.nn.Sequential(torch.nn.Conv2d(1, 4, 3), torch.nn.Flatten())
        >>> memory = fine.WeightMemory(network, rows=8, slots=5)
        >>> x, y = torch.randn(2, 3, 8, 20)  # pairs of 20 columns for three samples
        >>> {name: tuple(weight.shape) for name, weight in memory(network, x, y).items()}
        {'0.weight': (3, 4, 1, 3, 3), '0.bias': (3, 4)}
    """

    def __init__(
        self,
        network: nn.Module,
        *,
        rows: int,
        slots: int,
        ridge: float = 0.1,
        only: Collection[str] = (),
    ):
        super().__init__()
        if rows < 1 or slots < 1:
            raise FineError(
                f"a memory cannot have {rows} rows and {slots} slots: give 1 or more of each"
            )
        own = dict(network.named_parameters())
        for name in only:
            if name not in own:
                raise unknown("parameter of the network", name, own)
        self.names = tuple(only) or tuple(own)
        self.pairs = FunctionalMemory(
            rows, rows, slots=slots, ridge=ridge, analogy="least-squares", keys="shared"
        )
        self.changes = nn.ParameterList(_changes(own[name], slots) for name in self.names)

    def coefficients(
        self, x: Tensor, y: Tensor
    ) -> Tensor:  # (b, rows, columns) twice -> (b, slots)
        """How much of each slot there is in what takes x to y."""
        return self.pairs.coefficients(x, y)

    def forward(self, network: nn.Module, x: Tensor, y: Tensor) -> ComposedWeights:
        """The weights of the network for every pair, (b, …) each."""
        coefficients = self.coefficients(x, y)
        own = dict(network.named_parameters())
        return {
            name: own[name] + torch.tensordot(coefficients, changes, dims=1)
            for name, changes in zip(self.names, self.changes, strict=True)
        }


def _changes(weight: Tensor, slots: int) -> nn.Parameter:  # (…) -> (slots, …)
    """Changes as large as the weight itself when all slots are taken together."""
    size = weight.detach().square().mean().sqrt() / slots**0.5
    return nn.Parameter(size * torch.randn(slots, *weight.shape, dtype=weight.dtype))


class ComposedNetwork(nn.Module):
    """A network and the memory that composes its weights; `compose_weights` makes one."""

    def __init__(self, network: nn.Module, memory: nn.Module):
        super().__init__()
        self.network, self.memory = network, memory

    def compose(self, *example: Tensor) -> ComposedWeights:
        """The weights for every sample, by what the memory is given of it."""
        weights = self.memory(self.network, *example)
        check_weights(self.network, weights)
        return weights

    def run(self, weights: Mapping[str, Tensor], inputs: Any) -> Any:
        """The networks with these weights, sample i of the inputs through network i.

        ``inputs`` is a tensor (b, …), or a tuple of such. Every network sees its sample as a batch
        of one, so any module that works on batches can be used.
        """
        arguments = inputs if isinstance(inputs, tuple) else (inputs,)

        def run_one(own: dict[str, Tensor], *sample: Tensor) -> Any:
            batch = tuple(part[None] for part in sample)
            out = functional_call(self.network, own, batch)
            return out[0] if isinstance(out, Tensor) else tuple(part[0] for part in out)

        with sdpa_kernel(SDPBackend.MATH):  # the only kernel of attention that vmap can batch
            return vmap(run_one, randomness="different")(dict(weights), *arguments)

    def forward(self, inputs: Any, *example: Tensor) -> Any:
        return self.run(self.compose(*example), inputs)


def compose_weights(network: nn.Module, memory: nn.Module) -> ComposedNetwork:
    """A network whose weights are composed for every sample, in one batched pass.

    Args:
        network: Any module that works on batches and keeps no statistics of them.
        memory: A `WeightMemory`, or any module that turns ``(network, *example)`` into a dictionary
            from names of the network's parameters to tensors (b, …).

    Examples:
        >>> import fine, torch
        >>> network = torch.nn.Conv2d(1, 1, 3, padding=1)
        >>> composed = fine.compose_weights(network, fine.WeightMemory(network, rows=8, slots=5))
        >>> x, y = torch.randn(2, 3, 8, 20)  # what the example of each of three samples looks like
        >>> composed(torch.rand(3, 1, 32, 32), x, y).shape
        torch.Size([3, 1, 32, 32])
    """
    for name, part in network.named_modules():
        if isinstance(part, nn.modules.batchnorm._BatchNorm) and part.track_running_stats:
            raise FineError(
                f"'{name or type(part).__name__}' normalises over a batch, and every sample has a "
                "network of its own: use GroupNorm or LayerNorm, or track_running_stats=False"
            )
    if not any(True for _ in network.parameters()):
        raise FineError(f"a {type(network).__name__} has no weights to compose")
    return ComposedNetwork(network, memory)


def check_weights(network: nn.Module, weights: Mapping[str, Tensor]) -> None:
    """Refuse weights that do not fit the network."""
    own = dict(network.named_parameters())
    for name, weight in weights.items():
        if name not in own:
            raise unknown("parameter of the network", name, own)
        if weight.shape[1:] != own[name].shape:
            raise FineError(
                f"the memory gives {name} the shape {tuple(weight.shape)}: expected (b, "
                f"{', '.join(map(str, own[name].shape))}), a weight for every sample"
            )
