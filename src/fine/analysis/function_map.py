"""A map of functions: what a model composes from many example pairs, laid out in two dimensions.

    made = make_function_map(model, task, count=80)    # 80 pairs of every family, of test classes
    made.points, made.layout, made.nearest_is_alike(made.points)

A function is the row of numbers that `Function.vector()` has. UMAP (McInnes et al., 2018) puts
similar rows near each other. Without the package umap-learn, the map shows the two directions in
which functions differ most (principal components).
"""

import warnings
from dataclasses import dataclass

import torch
from torch import Tensor

from fine.errors import FineError, unknown
from fine.models.embedding_functions import compose_function
from fine.models.finite import check_finite
from fine.models.paper import FINE
from fine.puzzles import FIRST
from fine.puzzles.task import Task
from fine.randomness import random_below
from fine.rules import RuleSet, Warp, rule_set

LAYOUTS = ("umap", "principal")
NEIGHBOURS = 15
"""Functions that UMAP looks at around each; its own default."""
_SEED, _CHUNK = 0x636861, 100


@dataclass(frozen=True, eq=False)
class FunctionMap:
    """Functions composed from example pairs, and a place for each."""

    x: Tensor
    """(n, channels, size, size) in 0..1."""
    y: Tensor
    """x under the rules."""
    rules: RuleSet
    numbers: tuple[int, ...]
    """The rule of each pair, in ``rules``."""
    vectors: Tensor
    """(n, weights): the functions."""
    points: Tensor
    """(n, 2): where they lie, in 0..1, the first to the right and the second down."""
    layout: str
    """How the places were found: umap or principal."""

    @property
    def families(self) -> list[str]:
        """The family of every pair's rule."""
        return [self.rules.rules[number].family.name for number in self.numbers]

    def nearest_is_alike(self, places: Tensor) -> Tensor:  # (n, any) -> bool (n,)
        """Whether the nearest other function, by these places, is of the same family."""
        distances = torch.cdist(places.double(), places.double()).fill_diagonal_(torch.inf)
        names = sorted(set(self.families))
        families = torch.tensor([names.index(family) for family in self.families])
        return families[distances.argmin(1)] == families


def make_function_map(
    model: FINE, task: Task, *, rules: str = "", count: int = 80, layout: str = ""
) -> FunctionMap:
    """The map of a model over the test classes of a task.

    It has ``count`` pairs for every family, spread evenly over the rules of the family.
    """
    if count < 2:
        raise FineError(f"count is {count}: give at least 2 functions per family")
    if task.shows_strings:
        raise FineError("a map is of functions of images: give a task of images, such as glyphs")
    shown = rule_set(rules or task.test_rules or task.rules)
    puzzles = task.test_puzzles()
    numbers = [
        members[step * len(members) // count]
        for members in shown.families.values()
        for step in range(count)
    ]
    if len(numbers) < 4:
        raise FineError(
            f"{len(numbers)} functions make no map: give more of each family, or more families"
        )
    # Any image of a test puzzle can be used; a hash spreads them over the pairs.
    pool = torch.from_numpy(puzzles.specs[:, FIRST].astype("int64")).unique()
    places = torch.arange(len(numbers)).numpy()
    chosen = torch.from_numpy(random_below(len(pool), _SEED, places))
    x = puzzles.images.pixels[pool[chosen]].float() / 255
    y = Warp(shown, size=x.shape[-1])(x, torch.tensor(numbers))
    chunks = zip(x.split(_CHUNK), y.split(_CHUNK), strict=True)
    vectors = torch.cat([function_vectors(model, *chunk) for chunk in chunks])
    points, found_by = lay_out(vectors, layout)
    return FunctionMap(x, y, shown, tuple(numbers), vectors, points, found_by)


@torch.no_grad()
def function_vectors(model: FINE, x: Tensor, y: Tensor) -> Tensor:  # (b, c, size, size) twice
    """The functions composed from pairs of images, as `Function.vector` has them: (b, weights)."""
    before, after = model.eval().encode(torch.stack((x, y), dim=1)).unbind(1)
    return check_finite(compose_function(model, [before], [after]).vector())


def lay_out(vectors: Tensor, layout: str = "") -> tuple[Tensor, str]:
    """Places (n, 2) in 0..1 for vectors, and the layout they were found by.

    Without a layout that is UMAP where it is installed, and else principal components.
    """
    if layout not in ("", *LAYOUTS):
        raise unknown("layout", layout, LAYOUTS)
    points = None if layout == "principal" else _by_umap(vectors)
    if points is None and layout == "umap":
        raise FineError(
            "a layout by UMAP needs umap-learn: pip install umap-learn, or --layout principal"
        )
    found_by = "principal" if points is None else "umap"
    if points is None:
        points = _principal(vectors)
    low, high = points.amin(0), points.amax(0)
    return (points - low) / (high - low).clamp(min=1e-9), found_by


def _principal(vectors: Tensor) -> Tensor:  # (n, weights) -> (n, 2)
    centred = (vectors - vectors.mean(0)).double()
    axes = torch.linalg.svd(centred, full_matrices=False).Vh[:2].T
    # The sign of an axis is arbitrary: make it the same every time.
    axes = axes * axes.gather(0, axes.abs().argmax(0, keepdim=True)).sign()
    return (centred @ axes).float()


def _by_umap(vectors: Tensor) -> Tensor | None:  # (n, weights) -> (n, 2)
    """Places by UMAP; None if it is not installed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what else could be installed, and of its own calls
        try:
            from umap import UMAP  # noqa: PLC0415
        except ImportError:
            return None
        neighbours = min(NEIGHBOURS, len(vectors) - 1)
        reducer = UMAP(n_neighbors=neighbours, random_state=0, n_jobs=1)
        return torch.from_numpy(reducer.fit_transform(vectors.numpy())).float()
