"""Composed functions on embeddings: matrices where the backbone is linear, otherwise networks.

    f = compose_function(model, x, y)      # embeddings (b, rows, columns), a list with one per hint
    f(embeddings), f.inverse(), g.after(f), f.power(2), f.interpolate(g, 0.5), f.vector()

An object holds b functions and applies to b embeddings. Several hints are one hint with more
columns: a function treats columns alike, so those of another pair only add equations about it.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import torch
from torch import Tensor

from fine.errors import FineError
from fine.models.backbones import MatrixBackbone
from fine.models.finite import check_finite
from fine.models.linear_systems import solve
from fine.models.paper import FINE, NICE, Backbone, Weights

LARGEST_CONDITION = 10.0
"""Largest condition number of a matrix that is inverted as it is; above, that amplifies noise."""
RIDGE = 0.3
"""Regularisation of an inverse by least squares: the cost of changing an embedding, relative to the
cost of missing the target. Chosen on held-back training classes (benchmarks/inverse_ridge.py)."""


class EmbeddingFunction(ABC):
    """b functions from embeddings to embeddings."""

    note = ""
    """How an inverse was found."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def __getitem__(self, numbers: slice) -> Self: ...

    @abstractmethod
    def __call__(self, embeddings: Tensor) -> Tensor:
        """The functions applied to embeddings (b, rows, columns)."""

    @abstractmethod
    def inverse(self) -> Self:
        """The inverse functions."""

    @abstractmethod
    def after(self, first: Self) -> Self:
        """``first``, and then this."""

    @abstractmethod
    def power(self, times: float) -> Self:
        """The functions, applied ``times`` times."""

    @abstractmethod
    def interpolate(self, other: Self, share: float) -> Self:
        """Between these functions (share 0) and others (share 1)."""

    @abstractmethod
    def vector(self) -> Tensor:
        """All numbers of the functions: (b, n)."""


@dataclass(frozen=True, eq=False)
class MatrixFunction(EmbeddingFunction):
    """Functions that are one matrix each, acting on the rows of an embedding."""

    matrices: Tensor
    """(b, rows, rows)"""
    note: str = ""

    def __len__(self) -> int:
        return len(self.matrices)

    def __getitem__(self, numbers: slice) -> "MatrixFunction":
        return replace(self, matrices=self.matrices[numbers])

    def __call__(self, embeddings: Tensor) -> Tensor:
        return self.matrices @ embeddings

    def inverse(self) -> "MatrixFunction":
        """The inverse matrix; or, where that would amplify noise, a least-squares inverse.

        That is the x with the least |f(x) − y|² + λ|x − y|²: what f has lost stays as it is in y.
        """
        matrices = check_finite(self.matrices).double()
        identity = torch.eye(matrices.shape[-1], dtype=matrices.dtype, device=matrices.device)
        singular = torch.linalg.svdvals(matrices)  # (b, rows), the largest first
        invertible = singular[:, 0] < LARGEST_CONDITION * singular[:, -1]
        ridge = torch.where(invertible, 0.0, RIDGE)[:, None, None]
        gram = matrices.mT @ matrices
        change = solve(gram + ridge * identity, matrices.mT @ (identity - matrices))
        return MatrixFunction((identity + change).to(self.matrices.dtype), _note(invertible))

    def after(self, first: "MatrixFunction") -> "MatrixFunction":
        return MatrixFunction(self.matrices @ first.matrices)

    def power(self, times: float) -> "MatrixFunction":
        """Whole powers by multiplication; others by eigenvalues, and only the real part is kept."""
        if times < 0:
            return self.inverse().power(-times)
        if times == int(times):
            return MatrixFunction(torch.linalg.matrix_power(self.matrices, int(times)))
        values, vectors = torch.linalg.eig(check_finite(self.matrices).double())
        powers = solve(vectors, vectors * values[:, None] ** times, left=False)
        return MatrixFunction(powers.real.to(self.matrices.dtype))

    def interpolate(self, other: "MatrixFunction", share: float) -> "MatrixFunction":
        return MatrixFunction(torch.lerp(self.matrices, other.matrices, share))

    def vector(self) -> Tensor:
        return self.matrices.flatten(1)


def _note(invertible: Tensor) -> str:  # (b,)
    """How the inverses of b matrices were found."""
    count, exact = len(invertible), int(invertible.sum())
    if exact == count:
        return "matrix inverse"
    if not exact:
        return "least squares with a ridge"
    return f"matrix inverse for {exact} of {count}, least squares with a ridge for the others"


class Network(NamedTuple):
    """A backbone with these weights, run forwards or backwards."""

    weights: Weights
    backwards: bool = False


@dataclass(frozen=True, eq=False)
class LayeredFunction(EmbeddingFunction):
    """Functions that are networks, run one after the other."""

    backbone: Backbone
    networks: tuple[Network, ...]
    """The first is run first."""
    note: str = ""

    def __len__(self) -> int:
        return max((len(network.weights[0]) for network in self.networks), default=1)

    def __getitem__(self, numbers: slice) -> "LayeredFunction":
        chosen = [
            Network([w[numbers] if len(w) > 1 else w for w in weights], backwards)
            for weights, backwards in self.networks
        ]
        return replace(self, networks=tuple(chosen))

    def __call__(self, embeddings: Tensor) -> Tensor:
        for weights, backwards in self.networks:
            if backwards:
                embeddings = self._invertible().invert(weights, embeddings)
            else:
                embeddings = self.backbone.run(weights, embeddings)
        return embeddings

    def inverse(self) -> "LayeredFunction":
        """The layers backwards, which is exact for NICE and impossible for the MLP."""
        self._invertible()
        inverted = [
            Network(weights, not backwards) for weights, backwards in reversed(self.networks)
        ]
        return LayeredFunction(self.backbone, tuple(inverted), "exact")

    def after(self, first: "LayeredFunction") -> "LayeredFunction":
        return LayeredFunction(self.backbone, (*first.networks, *self.networks))

    def power(self, times: float) -> "LayeredFunction":
        if times != int(times):
            raise FineError(
                f"power {times:g} of a function that is no matrix: give a whole number, or use "
                "backbone=residual"
            )
        if times < 0:
            return self.inverse().power(-times)
        return LayeredFunction(self.backbone, self.networks * int(times))

    def interpolate(self, other: "LayeredFunction", share: float) -> "LayeredFunction":
        directions = [[network.backwards for network in one.networks] for one in (self, other)]
        if directions[0] != directions[1]:
            raise FineError(
                "these two functions are not layered alike, so there is nothing between them: "
                "interpolate before you combine or invert them"
            )
        between = []
        for one, two in zip(self.networks, other.networks, strict=True):
            pairs = zip(one.weights, two.weights, strict=True)
            weights = [torch.lerp(a, b, share) for a, b in pairs]
            between.append(Network(weights, one.backwards))
        return LayeredFunction(self.backbone, tuple(between))

    def vector(self) -> Tensor:
        weights = [weight.flatten(1) for network in self.networks for weight in network.weights]
        if not weights:  # a function that was applied 0 times
            return torch.zeros(1, 0)
        return torch.cat([weight.expand(len(self), -1) for weight in weights], dim=1)

    def _invertible(self) -> NICE:
        if not isinstance(self.backbone, NICE):
            raise FineError(
                "functions of an MLP cannot be inverted: use backbone=residual, linear or nice"
            )
        return self.backbone


def compose_function(model: FINE, x: Sequence[Tensor], y: Sequence[Tensor]) -> EmbeddingFunction:
    """The functions that best take every x (b, rows, columns) to its y, over all hints together."""
    weights = model.compose(torch.cat(list(x), dim=2), torch.cat(list(y), dim=2))
    if isinstance(model.backbone, MatrixBackbone):
        return MatrixFunction(model.backbone.matrix(weights))
    return LayeredFunction(model.backbone, (Network(weights),))
