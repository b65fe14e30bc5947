"""Draws puzzles from (seed, number), and redraws those whose choices look alike.

puzzles = draw_puzzles(load_images("glyphs"), rule_set("rotation"), 1000, seed=0)
batch = puzzles.render(range(32))        # batch.images (32, 7, 1, 32, 32), batch.answers (32,)
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from fine.errors import FineError
from fine.images import Images
from fine.puzzles.distinct import Glance
from fine.puzzles.distractors import RulePairs
from fine.puzzles.puzzles import Puzzles
from fine.puzzles.spec import ORDERS
from fine.randomness import random_below, random_bits
from fine.rules import RuleSet

ATTEMPTS = 200
"""Draws of a puzzle before it counts as impossible."""
_SOURCE = 11  # stream of random numbers; 0 to 10 and those of distractors.py are used otherwise
_CHUNK = 65536  # puzzles drawn at once: bounds the memory of a million


def draw_puzzles(
    images: Images,
    rules: RuleSet,
    count: int,
    *,
    seed: int,
    start: int = 0,
    classes: Iterable[int] | None = None,
    distractors: str = "any",
) -> Puzzles:
    """Puzzles ``start`` … ``start + count − 1`` of ``seed``, over some classes of ``images``.

    x and x' are of different classes, and so are x' and x''; x and x'' are different images.

    Args:
        images: The images to draw from.
        rules: The rules to draw from.
        count: How many puzzles to draw.
        seed: Which of the endless sequences of puzzles; the same seed gives the same puzzles.
        start: Number of the first puzzle in that sequence.
        classes: Numbers of the classes to draw from; None: all of them.
        distractors: How the wrong rule is drawn, such as ``near`` (distractors.py).

    Examples:
        >>> import fine
        >>> images, rules = fine.load_images("glyphs"), fine.rule_set("rotation")
        >>> puzzles = fine.draw_puzzles(images, rules, 100, seed=0, classes=range(20))
        >>> later = fine.draw_puzzles(images, rules, 10, seed=0, classes=range(20), start=90)
        >>> bool((puzzles[90:].specs == later.specs).all())
        True
    """
    if classes is None:
        chosen = np.arange(len(images.class_names))
    else:
        chosen = np.asarray(list(classes), dtype=np.int64)
    if len(chosen) < 2:
        raise FineError(
            f"puzzles need images of at least 2 classes: got {len(chosen)} of {images.name}"
        )
    _check_classes(images, chosen)
    check_count(count, start)
    pairs = RulePairs(rules, distractors)
    rules = pairs.rules
    draw = _Drawer(images, pairs, chosen)
    glance = Glance(images, rules)
    numbers = np.arange(start, start + count, dtype=np.int64)
    specs = np.empty((count, 6), dtype=np.int32)
    attempts = np.zeros(count, dtype=np.uint8)
    pending = np.arange(count)
    for attempt in range(ATTEMPTS):
        for chunk in np.array_split(pending, max(1, -(-len(pending) // _CHUNK))):
            specs[chunk] = draw(seed, numbers[chunk], attempt)
        attempts[pending] += 1
        pending = pending[~glance.distinct(specs[pending])]
        if not len(pending):
            return Puzzles(images, rules, specs, attempts)
    raise FineError(
        f"after {ATTEMPTS} draws puzzle {numbers[pending[0]]} of {images.name} × {rules.name} "
        "still has choices that look alike: use images that differ more, or other rules"
    )


def _check_classes(images: Images, chosen: NDArray[np.int64]) -> None:
    """Refuse classes that images do not have, and one that is named twice."""
    known = (chosen >= 0) & (chosen < len(images.class_names))
    if not known.all() or len(np.unique(chosen)) < len(chosen):
        raise FineError(
            f"the classes of {images.name} are numbered 0 to {len(images.class_names) - 1}: give "
            "each once"
        )


def check_count(count: int, start: int) -> None:
    """Refuse to draw no puzzles, or puzzles of negative numbers."""
    if count < 1 or start < 0:
        raise FineError(
            f"cannot draw {count} puzzles from number {start}: give a count of at least 1 and a "
            "start of at least 0"
        )


class _Drawer:
    """Specs from (seed, number, attempt), all at once."""

    def __init__(self, images: Images, pairs: RulePairs, classes: NDArray[np.int64]):
        self.pairs = pairs
        labels = images.labels.numpy()
        sources = np.zeros_like(labels) if images.sources is None else images.sources.numpy()
        self.ordered = np.lexsort((labels, sources))  # images, source by source, class by class
        counts = np.zeros((sources.max() + 1, len(images.class_names)), dtype=np.int64)
        np.add.at(counts, (sources, labels), 1)
        self.counts, self.starts = counts, np.cumsum(counts).reshape(counts.shape) - counts
        if not counts[:, classes].any(0).all():
            empty = images.class_names[classes[counts[:, classes].sum(0).argmin()]]
            raise FineError(
                f"class '{empty}' of {images.name} has no images: every class needs at least one"
            )
        self.sizes = (counts[:, classes] > 0).sum(1)
        """Classes of each source."""
        if (self.sizes < 2).any():
            raise FineError(
                f"every source of {images.name} needs at least 2 of the classes: one has "
                f"{self.sizes.min()}"
            )
        self.classes = np.zeros((len(counts), len(classes)), dtype=np.int64)  # the first are used
        for source, size in enumerate(self.sizes):
            self.classes[source, :size] = classes[counts[source, classes] > 0]

    def __call__(
        self, seed: int, numbers: NDArray[np.int64], attempt: int
    ) -> NDArray[np.int32]:  # (n, 6)
        base = random_bits(seed, numbers, attempt)
        source = random_below(len(self.sizes), base, _SOURCE)
        size = self.sizes[source]
        second = random_below(size, base, 0)
        first, other = (_another(second, size, base, stream) for stream in (1, 2))
        labels = [self.classes[source, position] for position in (first, second, other)]
        images = [self._image(source, label, base, 3 + at) for at, label in enumerate(labels)]
        rules = self.pairs.draw(base, 6)
        order = random_below(len(ORDERS), base, 10)
        return np.stack((*images, *rules, order), axis=1).astype(np.int32)

    def _image(
        self,
        source: NDArray[np.int64],
        label: NDArray[np.int64],
        base: NDArray[np.uint64],
        stream: int,
    ) -> NDArray[np.int64]:
        drawn = random_below(self.counts[source, label], base, stream)
        return self.ordered[self.starts[source, label] + drawn]


def _another(
    position: NDArray[np.int64], size: NDArray[np.int64], base: NDArray[np.uint64], stream: int
) -> NDArray[np.int64]:
    """A position below ``size`` that is not the one given."""
    return (position + 1 + random_below(size - 1, base, stream)) % size
