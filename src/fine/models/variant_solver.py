"""Variants of a puzzle, solved with functions: applied, inverted, chained, or tried on other pairs.

    solver = VariantSolver(model, Variant("chain", hints=2))
    logits = solver(batch.images)                          # (b, 2 · hints + 5, …) -> (b, 4)

No training is needed for it. A FINE composes its functions on embeddings, the oracle finds its
rules on pixels. Other models answer only what a plain puzzle can ask: one hint, or backwards with
the hint swapped.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from fine.errors import FineError
from fine.models.embedding_functions import compose_function
from fine.models.oracle import Oracle
from fine.models.paper import FINE
from fine.puzzles.variants import Variant

Function = Callable[[Tensor], Tensor]


class VariantSolver(nn.Module):
    """A model and a variant, called like a model."""

    def __init__(self, model: nn.Module, variant: Variant):
        super().__init__()
        self.model, self.variant = model, variant
        self.swapped = variant.name == "backwards" and variant.by == "swapped"
        self.plain = variant.name == "hints" and variant.hints == 1
        if isinstance(model, FINE | Oracle) or self.swapped or self.plain:
            return
        remedy = "use a FINE, or oracle"
        if variant.name == "backwards":
            remedy = "solve it with --by swapped"
        raise FineError(
            f"{type(model).__name__} composes no function, so it cannot be asked '{variant}': "
            f"{remedy}"
        )

    def forward(self, images: Tensor) -> Tensor:
        """Hints, x' or y', and k choices -> logits (b, k)."""
        if self.swapped:
            return self.model(images[:, [1, 0, *range(2, images.shape[1])]])
        if self.plain and not self.training:  # scored as the model scores a puzzle
            return self.model(images)
        if isinstance(self.model, FINE):
            return _SOLVERS[self.variant.name](self.variant, _Embeddings(self.model), images)
        if isinstance(self.model, Oracle):
            return _SOLVERS[self.variant.name](self.variant, _PixelSpace(self.model), images)
        return self.model(images)


class MostSimilar(nn.Module):
    """Takes the choice most similar to y', as if f did nothing: a baseline of backwards puzzles."""

    def __init__(self, model: FINE):
        super().__init__()
        self.model = model

    def forward(self, images: Tensor) -> Tensor:
        """A backwards puzzle x, y, y' and k choices -> logits (b, k)."""
        embeddings = self.model.encode(images[:, 2:], firsts=range(images.shape[1] - 2))
        return -self.model.distance(embeddings[:, 1:], embeddings[:, :1])


class _Space(ABC):
    """What functions act on, and how they are composed and compared there."""

    @abstractmethod
    def embed(self, images: Tensor, firsts: Sequence[int]) -> Tensor:
        """Images (b, n, …) as points (b, n, …) of the space.

        ``firsts`` has, for every image, the number of the first image of its pair.
        """

    @abstractmethod
    def compose(self, x: Sequence[Tensor], y: Sequence[Tensor]) -> Function:
        """The function that takes each x to its y."""

    @abstractmethod
    def distance(self, u: Tensor, v: Tensor) -> Tensor:
        """How far apart two points are."""

    @abstractmethod
    def backwards(self, images: Tensor, by: str) -> Tensor:
        """Logits of a backwards puzzle x, y, y' and k choices."""


class _Embeddings(_Space):
    """The embeddings of a FINE."""

    def __init__(self, model: FINE):
        self.model = model

    def embed(self, images: Tensor, firsts: Sequence[int]) -> Tensor:
        return self.model.encode(images, firsts=firsts)

    def compose(self, x: Sequence[Tensor], y: Sequence[Tensor]) -> Function:
        return compose_function(self.model, x, y)

    def distance(self, u: Tensor, v: Tensor) -> Tensor:
        return self.model.distance(u, v)

    def backwards(self, images: Tensor, by: str) -> Tensor:
        k = images.shape[1] - 3
        # y' is embedded once for every choice, as the second image of a pair with that choice.
        shown = torch.cat((images, images[:, [2] * (k - 1)]), dim=1)  # x, y, y', choices, y' again
        numbers = list(range(3, 3 + k))  # of the choices
        embeddings = self.model.encode(shown, firsts=[0, 0, numbers[0], *numbers, *numbers[1:]])
        function = compose_function(self.model, [embeddings[:, 0]], [embeddings[:, 1]])
        choices = embeddings[:, numbers]  # (b, k, rows, columns)
        given = embeddings[
            :, [2, *range(3 + k, shown.shape[1])]
        ]  # y', as it pairs with each choice
        if by == "inverse":
            return -self.distance(choices, _each(function.inverse(), given))
        return -self.distance(given, _each(function, choices))


class _PixelSpace(_Space):
    """The pixels of images, with the rules that an oracle knows."""

    def __init__(self, oracle: Oracle):
        self.oracle = oracle

    def embed(self, images: Tensor, firsts: Sequence[int]) -> Tensor:
        return images

    def compose(self, x: Sequence[Tensor], y: Sequence[Tensor]) -> Function:
        return self.oracle.function(x, y)

    def distance(self, u: Tensor, v: Tensor) -> Tensor:
        return (u - v).square().sum((-3, -2, -1))

    def backwards(self, images: Tensor, by: str) -> Tensor:
        rule = self.compose([images[:, 0]], [images[:, 1]])
        return -self.distance(_each(rule, images[:, 3:]), images[:, 2:3])


def _each(function: Function, points: Tensor) -> Tensor:  # (b, k, …), the same out
    """The function applied to each of k points."""
    return torch.stack([function(point) for point in points.unbind(1)], dim=1)


def _pairs(points: Tensor, hints: int) -> tuple[Sequence[Tensor], Sequence[Tensor]]:
    """The x and the y of every hint, (b, …) each."""
    return points[:, 0 : 2 * hints : 2].unbind(1), points[:, 1 : 2 * hints : 2].unbind(1)


def _solve_hints(variant: Variant, space: _Space, images: Tensor) -> Tensor:
    points = _embed_hints(variant, space, images)
    shown = 2 * variant.hints
    guess = space.compose(*_pairs(points, variant.hints))(points[:, shown])
    return -space.distance(points[:, shown + 1 :], guess[:, None])


def _solve_chain(variant: Variant, space: _Space, images: Tensor) -> Tensor:
    points = _embed_hints(variant, space, images)
    shown = 2 * variant.hints
    guess = points[:, shown]
    for x, y in zip(*_pairs(points, variant.hints), strict=True):
        guess = space.compose([x], [y])(guess)
    return -space.distance(points[:, shown + 1 :], guess[:, None])


def _embed_hints(variant: Variant, space: _Space, images: Tensor) -> Tensor:
    """Pairs of hints, and x' with the choices, as points."""
    shown = 2 * variant.hints
    firsts = [min(number - number % 2, shown) for number in range(images.shape[1])]
    return space.embed(images, firsts)


def _solve_backwards(variant: Variant, space: _Space, images: Tensor) -> Tensor:
    return space.backwards(images, variant.by)


def _solve_odd_one_out(variant: Variant, space: _Space, images: Tensor) -> Tensor:
    """How far each pair is from what the others agree on, (b, hints).

    That is the error of the others' function on the pair, less its error on the others themselves.
    Both are needed: of three pairs, the function of two that do not agree may be that of either.
    """
    points = space.embed(images, [number - number % 2 for number in range(images.shape[1])])
    x, y = _pairs(points, variant.hints)
    logits = []
    for pair in range(variant.hints):
        others = [other for other in range(variant.hints) if other != pair]
        function = space.compose([x[other] for other in others], [y[other] for other in others])
        errors = [space.distance(function(x[other]), y[other]) for other in others]
        among_others = torch.stack(errors).sum(0)
        logits.append(space.distance(function(x[pair]), y[pair]) - among_others)
    return torch.stack(logits, dim=1)


_SOLVERS: dict[str, Callable[[Variant, _Space, Tensor], Tensor]] = {
    "hints": _solve_hints,
    "backwards": _solve_backwards,
    "chain": _solve_chain,
    "odd-one-out": _solve_odd_one_out,
}
