"""A map of composed functions to which others can be added: the page shows where its own one lies.

Each point is a function φ_{x,y}, as the row of numbers of `Function.vector`; the two axes are the
principal components. `fine map` offers UMAP as well, which cannot place another function at once.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from fine.analysis.function_map import function_vectors
from fine.images import Images
from fine.models.finite import check_finite
from fine.models.paper import FINE
from fine.randomness import random_below
from fine.rules import RuleSet, Warp

EDGE = 1.1
"""Points lie between −EDGE and EDGE; almost all of them between −1 and 1."""
_SEED = 0x6D6170
_CHUNK = 64


@dataclass(frozen=True)
class PageMap:
    """Functions in two dimensions, the rule behind each, and the projection."""

    points: Tensor
    """(n, 2), the first to the right and the second up."""
    rules: RuleSet
    numbers: list[int]
    """The rule of each point, in ``rules``."""
    mean: Tensor
    """(weights,)"""
    axes: Tensor
    """(weights, 2)"""

    def place(self, vectors: Tensor) -> Tensor:  # (b, weights) -> (b, 2)
        """Where functions lie on the map; those beyond its edge are moved to the edge."""
        return ((vectors - self.mean) @ self.axes).clamp(-EDGE, EDGE)


def make_page_map(model: FINE, images: Images, rules: RuleSet, *, count: int) -> PageMap:
    """The map of a model: ``count`` pairs of every family, spread evenly over its rules."""
    numbers = [
        members[step * len(members) // count]
        for members in rules.families.values()
        for step in range(count)
    ]
    chosen = random_below(len(images.pixels), _SEED, np.arange(len(numbers)))
    x = images.pixels[torch.from_numpy(chosen)].float() / 255
    y = Warp(rules, size=x.shape[-1])(x, torch.tensor(numbers))
    pairs = zip(x.split(_CHUNK), y.split(_CHUNK), strict=True)
    vectors = check_finite(torch.cat([function_vectors(model, *pair) for pair in pairs]))
    mean = vectors.mean(0)  # of (n, weights)
    axes = torch.linalg.svd(vectors - mean, full_matrices=False).Vh[:2].T
    # The sign of an axis is arbitrary: make it the same every time.
    axes = axes * axes.gather(0, axes.abs().argmax(0, keepdim=True)).sign()
    points = (vectors - mean) @ axes
    reach = points.abs().quantile(0.995)
    return PageMap((points / reach).clamp(-EDGE, EDGE), rules, numbers, mean, axes / reach)
