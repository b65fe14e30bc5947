"""What a composed function is on codes: one matrix where the backbone is linear, and layers to be run where it is not.

    f = compose_map(model, x, y)                   # codes (b, rows, columns) of hints, in as many columns as there are
    f(codes), f.inverse(), g.after(f), f.power(2), f.mixed(g, 0.5), f.vector()

A map holds b functions, and is applied to b codes. Several hints are one hint with more columns: a function treats columns
alike, so those of another pair are only more equations about it.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import torch
from torch import Tensor

from fine.errors import FineError
from fine.models.backbones import Backbone, NICEBackbone, Weights
from fine.models.fine import FINE

WORST = 10.0
"""Largest over smallest stretch of a matrix up to which it is inverted as it is; beyond, the inverse would blow up noise."""
RIDGE = 0.3
"""Regularisation of an inverse by least squares: what it costs to change a code, against missing the code to be reached. Chosen
on training classes that were held back (benchmarks/inverse_ridge.py)."""


class Map(ABC):
    """b functions from codes to codes."""

    note = ""
    """How an inverse was found."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def __getitem__(self, numbers: slice) -> Self: ...

    @abstractmethod
    def __call__(self, codes: Tensor) -> Tensor:
        """The functions applied to codes (b, rows, columns)."""

    @abstractmethod
    def inverse(self) -> Self:
        """What undoes the functions."""

    @abstractmethod
    def after(self, first: Self) -> Self:
        """``first``, and then this."""

    @abstractmethod
    def power(self, times: float) -> Self:
        """The functions, so many times."""

    @abstractmethod
    def mixed(self, other: Self, share: float) -> Self:
        """Between these functions (share 0) and others (share 1)."""

    @abstractmethod
    def vector(self) -> Tensor:
        """All numbers of the functions: (b, n)."""


@dataclass(frozen=True, eq=False)
class Matrix(Map):
    """Functions that are one matrix each, acting on the rows of a code."""

    matrices: Tensor
    """(b, rows, rows)"""
    note: str = ""

    def __len__(self) -> int:
        return len(self.matrices)

    def __getitem__(self, numbers: slice) -> "Matrix":
        return replace(self, matrices=self.matrices[numbers])

    def __call__(self, codes: Tensor) -> Tensor:
        return self.matrices @ codes

    def inverse(self) -> "Matrix":
        """The inverse matrix; or, where it would blow up noise, the least change of y that the function takes back to y.

        That is the x with the least |f(x) − y|² + λ|x − y|²: what the function has lost stays as it is in y.
        """
        matrices = self.matrices.double()
        one = torch.eye(matrices.shape[-1], dtype=matrices.dtype, device=matrices.device)
        stretches = torch.linalg.svdvals(matrices)
        ridge = torch.where(stretches[:, 0] < WORST * stretches[:, -1], 0.0, RIDGE)
        change = torch.linalg.solve(matrices.mT @ matrices + ridge[:, None, None] * one, matrices.mT @ (one - matrices))
        exact = int((ridge == 0).sum())
        notes = {len(self): "matrix inverse", 0: "least squares with a ridge"}
        mixed = f"matrix inverse for {exact} of {len(self)}, least squares with a ridge for the others"
        return Matrix((one + change).to(self.matrices.dtype), notes.get(exact, mixed))

    def after(self, first: "Matrix") -> "Matrix":
        return Matrix(self.matrices @ first.matrices)

    def power(self, times: float) -> "Matrix":
        """Whole powers by multiplication; others by eigenvalues, of which the real part is kept."""
        if times < 0:
            return self.inverse().power(-times)
        if times == int(times):
            return Matrix(torch.linalg.matrix_power(self.matrices, int(times)))
        values, vectors = torch.linalg.eig(self.matrices.double())
        powers = torch.linalg.solve(vectors, vectors * values[:, None] ** times, left=False)
        return Matrix(powers.real.to(self.matrices.dtype))

    def mixed(self, other: "Matrix", share: float) -> "Matrix":
        return Matrix(torch.lerp(self.matrices, other.matrices, share))

    def vector(self) -> Tensor:
        return self.matrices.flatten(1)


@dataclass(frozen=True, eq=False)
class Layers(Map):
    """Functions that are networks, run one after the other, some of them backwards."""

    backbone: Backbone
    parts: tuple[tuple[Weights, bool], ...]
    """Weights of a network, and whether it is run backwards; the first is run first."""
    note: str = ""

    def __len__(self) -> int:
        return max((len(weights[0]) for weights, _ in self.parts), default=1)

    def __getitem__(self, numbers: slice) -> "Layers":
        return replace(self, parts=tuple(([weight[numbers] for weight in part], way) for part, way in self.parts))

    def __call__(self, codes: Tensor) -> Tensor:
        for weights, backwards in self.parts:
            codes = self._invertible().invert(weights, codes) if backwards else self.backbone.run(weights, codes)
        return codes

    def inverse(self) -> "Layers":
        """The layers backwards, which is exact for NICE and for nothing else."""
        self._invertible()
        return Layers(self.backbone, tuple((weights, not way) for weights, way in reversed(self.parts)), "exact")

    def after(self, first: "Layers") -> "Layers":
        return Layers(self.backbone, (*first.parts, *self.parts))

    def power(self, times: float) -> "Layers":
        if times != int(times):
            raise FineError(f"power {times:g} of a function that is no matrix: give a whole number, or use backbone=residual")
        return self.inverse().power(-times) if times < 0 else Layers(self.backbone, self.parts * int(times))

    def mixed(self, other: "Layers", share: float) -> "Layers":
        if [way for _, way in self.parts] != [way for _, way in other.parts]:
            raise FineError("these two functions are not layered alike, so there is nothing between them: combine after mixing")
        pairs = zip(self.parts, other.parts, strict=True)
        mixed = [
            ([torch.lerp(a, b, share) for a, b in zip(mine, theirs, strict=True)], way) for (mine, way), (theirs, _) in pairs
        ]
        return Layers(self.backbone, tuple(mixed))

    def vector(self) -> Tensor:
        weights = [weight.flatten(1) for weights, _ in self.parts for weight in weights]
        return torch.cat([weight.expand(len(self), -1) for weight in weights], dim=1)

    def _invertible(self) -> NICEBackbone:
        if not isinstance(self.backbone, NICEBackbone):
            raise FineError("functions of an MLP cannot be undone: use backbone=residual, linear or nice")
        return self.backbone


def compose_map(model: FINE, x: Sequence[Tensor], y: Sequence[Tensor]) -> Map:
    """The functions that take each code (b, rows, columns) of x to the one of y, fitted to all of them together."""
    weights = model.compose(torch.cat(list(x), dim=2), torch.cat(list(y), dim=2))
    matrix = model.backbone.matrix(weights)
    return Layers(model.backbone, ((weights, False),)) if matrix is None else Matrix(matrix)
