"""A map of functions: what a model composes from many example pairs, laid out in two dimensions.

Each point is a composed function φ_{x,y}, the row of numbers `Function.vector` has; the two axes are the directions in which
functions differ most (principal components). `fine map` has UMAP instead; here a puzzle of the page has to be put among the
points at once, by the same two axes.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from fine.functions.charts import function_vectors
from fine.images import Images
from fine.models.fine import FINE
from fine.randomness import random_below
from fine.rules import RuleSet, Warp

A_FAMILY, ONE_FAMILY = 60, 240
"""Points of each family on a map of several, and on its own."""
_SEED = 0x6D6170


@dataclass(frozen=True)
class FunctionMap:
    """Points in −1..1, the rule behind each of them, and the way there for any other function."""

    points: Tensor
    """(n, 2)."""
    rules: list[int]
    """Number of the rule of each point, in its rule set."""
    mean: Tensor
    axes: Tensor
    """(weights, 2)."""

    def place(self, vectors: Tensor) -> Tensor:  # (b, weights) -> (b, 2)
        """Where functions lie on the map, kept on it."""
        return ((vectors - self.mean) @ self.axes).clamp(-1.1, 1.1)


def make_map(model: FINE, images: Images, rules: RuleSet, *, count: int) -> FunctionMap:
    """The map of a model: ``count`` pairs of these pictures for every family, under rules spread evenly over it."""
    numbers = [members[step * len(members) // count] for members in rules.families.values() for step in range(count)]
    which = torch.from_numpy(random_below(len(images.pixels), _SEED, torch.arange(len(numbers)).numpy()))
    x = images.pixels[which].float() / 255
    y = Warp(rules, size=x.shape[-1])(x, torch.tensor(numbers))
    vectors = torch.cat([function_vectors(model, *part) for part in zip(x.split(64), y.split(64), strict=True)])
    mean = vectors.mean(0)
    axes = torch.linalg.svd(vectors - mean, full_matrices=False).Vh[:2].T
    axes = axes * axes.gather(0, axes.abs().argmax(0, keepdim=True)).sign()  # the same way round every time
    points = (vectors - mean) @ axes
    reach = points.abs().quantile(0.995)
    return FunctionMap((points / reach).clamp(-1.1, 1.1), numbers, mean, axes / reach)
