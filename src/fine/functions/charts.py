"""A chart of functions: what a model composes from many example pairs, laid out in two dimensions.

    chart = chart_of(model, task, count=80)            # 80 pairs of every family, over classes never seen in training
    chart.points, chart.layout, chart.kept_together()

A function is the row of numbers `Function.vector()` has. UMAP (McInnes et al., 2018) puts those near each other that are like
each other; without the package umap-learn, the two directions are taken in which functions differ most (principal components).
"""

import warnings
from dataclasses import dataclass

import torch
from torch import Tensor

from fine.errors import FineError, unknown
from fine.functions.maps import compose_map
from fine.models.fine import FINE
from fine.randomness import random_below
from fine.rules import RuleSet, Warp, rule_set
from fine.tasks import Task

LAYOUTS = ("umap", "principal")
NEIGHBOURS = 15
"""Functions that UMAP looks at around each; its own default."""
_SEED, _CHUNK = 0x636861, 100


@dataclass(frozen=True, eq=False)
class Chart:
    """Functions composed from example pairs, and a place for each."""

    x: Tensor
    y: Tensor
    """(n, channels, size, size) in 0..1: the pairs."""
    rules: RuleSet
    numbers: tuple[int, ...]
    """The rule of each pair, in ``rules``."""
    vectors: Tensor
    """(n, weights): the functions."""
    points: Tensor
    """(n, 2): where they lie, in 0..1, the first to the right and the second down."""
    layout: str
    """How they came there: umap or principal."""

    @property
    def families(self) -> list[str]:
        """The family of every pair's rule."""
        return [self.rules.rules[number].family.name for number in self.numbers]

    def kept_together(self, places: Tensor) -> Tensor:  # (n, any) -> bool (n,)
        """Whether the nearest other function, in these places, is of the same family."""
        apart = torch.cdist(places.double(), places.double()).fill_diagonal_(torch.inf)
        names = sorted(set(self.families))
        families = torch.tensor([names.index(family) for family in self.families])
        return families[apart.argmin(1)] == families


def chart_of(model: FINE, task: Task, *, rules: str = "", count: int = 80, layout: str = "") -> Chart:
    """The chart of a model over the test classes of a task: ``count`` pairs for every family, spread evenly over its rules."""
    if count < 2:
        raise FineError(f"count is {count}: give at least 2 functions a family")
    shown = rule_set(rules or task.test_rules or task.rules)
    puzzles = task.test_puzzles()
    members = [family[step * len(family) // count] for family in shown.families.values() for step in range(count)]
    if len(members) < 4:
        raise FineError(f"{len(members)} functions make no map: give more of each family, or more families")
    # Any picture of a test puzzle will do; a hash spreads them over the pairs.
    pool = torch.from_numpy(puzzles.specs[:, 0].astype("int64")).unique()
    chosen = torch.from_numpy(random_below(len(pool), _SEED, torch.arange(len(members)).numpy()))
    x = puzzles.images.pixels[pool[chosen]].float() / 255
    y = Warp(shown, size=x.shape[-1])(x, torch.tensor(members))
    vectors = torch.cat([function_vectors(model, *part) for part in zip(x.split(_CHUNK), y.split(_CHUNK), strict=True)])
    points, how = lay_out(vectors, layout)
    return Chart(x, y, shown, tuple(members), vectors, points, how)


@torch.no_grad()
def function_vectors(model: FINE, x: Tensor, y: Tensor) -> Tensor:  # (b, channels, size, size) twice -> (b, weights)
    """The functions composed from pairs of pictures as the model sees them, as `Function.vector` has them."""
    codes = model.eval().encode(torch.stack((x, y), dim=1))
    return compose_map(model, [codes[:, 0]], [codes[:, 1]]).vector()


def lay_out(vectors: Tensor, layout: str = "") -> tuple[Tensor, str]:
    """Places (n, 2) in 0..1 for vectors, and how they were found; by UMAP where it is installed, unless told otherwise."""
    if layout not in ("", *LAYOUTS):
        raise unknown("layout", layout, LAYOUTS)
    placed = None if layout == "principal" else _by_umap(vectors)
    if placed is None and layout == "umap":
        raise FineError("a layout by UMAP needs umap-learn: pip install umap-learn, or --layout principal")
    points = _principal(vectors) if placed is None else placed
    low, high = points.amin(0), points.amax(0)
    return (points - low) / (high - low).clamp(min=1e-9), "principal" if placed is None else "umap"


def _principal(vectors: Tensor) -> Tensor:
    centred = (vectors - vectors.mean(0)).double()
    axes = torch.linalg.svd(centred, full_matrices=False).Vh[:2].T
    axes = axes * axes.gather(0, axes.abs().argmax(0, keepdim=True)).sign()  # the same way round every time
    return (centred @ axes).float()


def _by_umap(vectors: Tensor) -> Tensor | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it says what else could be installed
            from umap import UMAP
    except ImportError:
        return None
    reducer = UMAP(n_neighbors=min(NEIGHBOURS, len(vectors) - 1), random_state=0, n_jobs=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.from_numpy(reducer.fit_transform(vectors.numpy())).float()
