"""IQ puzzles as integers, and the renderer that turns them into pictures.

    puzzles = draw_puzzles(load_images("glyphs"), rule_set("rotation"), 1000, seed=0)
    batch = puzzles.render(range(32))          # batch.pictures (32, 7, 1, 32, 32), batch.answers (32,)

A puzzle shows x → y = f(x), then x' and four choices in random order: f(x') the answer, g(x') the wrong rule, f(x'') the wrong
object, g(x'') both wrong. A spec names three images, two rules and an order: a few bytes, drawn from (seed, puzzle number)
alone, so any puzzle can be drawn again by itself. Puzzles whose choices cannot be told apart are drawn again.
"""

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from fine.errors import FineError
from fine.images import Images
from fine.randomness import random_below, random_bits
from fine.rules import HALF, RuleSet, Warp, negative_mask, source_points

KINDS = ("right", "wrong rule", "wrong object", "both wrong")
"""What a choice can be: f(x'), g(x'), f(x''), g(x'')."""

ORDERS = np.array(list(itertools.permutations(range(4))), dtype=np.int64)
"""Every order of the four kinds: ORDERS[order, place] is the kind shown at that place."""

BLIND_CHANCE = 0.25
"""Accuracy of a guess among four choices."""
OBJECT_CHANCE = 0.50
"""Accuracy of one who finds the right object and ignores the rule."""

VISIBLE = 0.01
"""Two choices are told apart when their brightness differs by this much on average (0..1, at half resolution)."""

_ATTEMPTS = 200
_CHUNK = 1024  # puzzles looked at together: small enough to stay in the cache

SIDES = 8
"""Sides a picture can be seen from: four quarter turns, and each of them mirrored."""

FIRST, SECOND, OTHER, RIGHT, WRONG, ORDER = range(6)
"""Columns of a spec: the images x, x', x'', the rules f and g, the order of the choices."""


class Batch(NamedTuple):
    """Rendered puzzles: what a model sees, and what it should answer."""

    pictures: Tensor
    """float (b, 7, channels, size, size) in 0..1: x, y, x' and the four choices."""
    answers: Tensor
    """int64 (b,): the place of the right choice, 0 to 3."""


@dataclass(frozen=True)
class Puzzles:
    """A numbered set of puzzles over the pictures of some classes, under a set of rules."""

    images: Images
    rules: RuleSet
    specs: NDArray[np.int32]
    """(n, 6): FIRST, SECOND, OTHER, RIGHT, WRONG, ORDER."""
    attempts: NDArray[np.uint8]
    """(n,): how many draws each puzzle took until its choices could be told apart."""

    def __len__(self) -> int:
        return len(self.specs)

    def __getitem__(self, numbers: slice) -> "Puzzles":
        return replace(self, specs=self.specs[numbers], attempts=self.attempts[numbers])

    @property
    def kinds(self) -> NDArray[np.int64]:
        """(n, 4): the kind of the choice at each place."""
        return ORDERS[self.specs[:, ORDER]]

    @property
    def answers(self) -> NDArray[np.int64]:
        """(n,): the place of the right choice."""
        return self.kinds.argmin(axis=1)

    @property
    def chances(self) -> dict[str, float]:
        """How many are answered right by guessing: blindly, or among the right objects."""
        return {"blind": BLIND_CHANCE, "right object, rule ignored": OBJECT_CHANCE}

    @property
    def hidden(self) -> NDArray[np.int32]:
        """(n,): the rule that makes y from x."""
        return self.specs[:, RIGHT]

    def renderer(self, device: torch.device | str = "cpu") -> "Renderer":
        """A renderer for these images and rules, with its tables on ``device``."""
        return Renderer(self.images, self.rules, device=device)

    def render(self, numbers: Iterable[int]) -> Batch:
        """The puzzles of these numbers as pictures."""
        return self.renderer()(self.specs[np.asarray(list(numbers), dtype=np.int64)])

    def texts(self, numbers: Iterable[int]) -> list[tuple[str, ...]] | None:
        """What is written in the puzzles of these numbers, x, y, x' and the choices, if they are about strings."""
        return None


class Renderer:
    """Turns specs over one set of images and rules into pictures, a batch at a time, on CPU or GPU."""

    def __init__(self, images: Images, rules: RuleSet, *, device: torch.device | str = "cpu"):
        self.device = torch.device(device)
        self.pixels = images.pixels.to(self.device)
        self.warp = Warp(rules, size=images.pixels.shape[-1], device=self.device)
        self.kinds = torch.from_numpy(ORDERS).to(self.device)

    def __call__(self, specs: NDArray[np.int32]) -> Batch:
        spec = torch.from_numpy(specs).to(self.device).long()
        kinds = self.kinds[spec[:, ORDER]]  # (b, 4)
        objects = torch.where(kinds < 2, spec[:, SECOND, None], spec[:, OTHER, None])
        rules = torch.where(kinds % 2 == 0, spec[:, RIGHT, None], spec[:, WRONG, None])
        # x and x' are shown as they are; y and the four choices go through one warp.
        objects = torch.cat((spec[:, [FIRST, SECOND]], spec[:, [FIRST]], objects), dim=1)  # (b, 7)
        rules = torch.cat((spec[:, [RIGHT]], rules), dim=1)  # (b, 5)
        plain = self._plain(objects)  # (b, 7, channels, h, w)
        warped = self.warp(plain[:, 2:].flatten(0, 1), rules.flatten()).view_as(plain[:, 2:])
        pictures = torch.cat((plain[:, :1], warped[:, :1], plain[:, 1:2], warped[:, 1:]), dim=1)
        return Batch(pictures, (kinds == 0).int().argmax(dim=1))

    def _plain(self, images: Tensor) -> Tensor:  # (b, n) -> (b, n, channels, h, w)
        """Pictures as they are, or turned (`turned`), before any rule."""
        sides, numbers = images // len(self.pixels), images % len(self.pixels)
        return _from_sides(self.pixels[numbers], sides).float().div_(255)


def turned(puzzles: Puzzles, numbers: NDArray[np.int64], sides: NDArray[np.int64]) -> NDArray[np.int32]:
    """Specs of the puzzles of these numbers with x, x' and x'' turned, each to one of eight ``sides`` (b, 3) of its own.

    The rules stay what they are, and so do the puzzles: a picture on its side is a picture. A spec keeps the side in the number
    of the picture, as whole rounds through all of them.
    """
    specs = puzzles.specs[numbers]
    specs[:, [FIRST, SECOND, OTHER]] += (len(puzzles.images.pixels) * sides).astype(np.int32)
    return specs


def seen_from(batch: Batch, sides: NDArray[np.int64]) -> Batch:
    """Every puzzle of a batch, all seven pictures together, from one of eight sides.

    A puzzle stays a puzzle: if y = f(x), then the turned y is made from the turned x by the turned rule.
    """
    return batch._replace(pictures=_from_sides(batch.pictures, torch.from_numpy(sides).to(batch.pictures.device)))


def _from_sides(pictures: Tensor, sides: Tensor) -> Tensor:  # (..., channels, h, w), the same out
    """Pictures from the sides that go with their first dimensions: 0–3 quarter turns, 4–7 mirrored too."""
    if not sides.any():
        return pictures
    seen = pictures.clone()
    for side in range(1, SIDES):
        some = sides == side
        quarters = torch.rot90(pictures[some], side % 4, dims=(-2, -1))
        seen[some] = quarters.flip(-1) if side >= 4 else quarters
    return seen


def seen_through(batch: Batch, warp: Warp, rules: NDArray[np.int64]) -> Batch:
    """Every puzzle of a batch, all seven pictures together, under one rule; those whose rule is −1 as they are.

    A puzzle stays a puzzle: if y = f(x), then g(y) is made from g(x) by g f g⁻¹, which is f itself wherever rules commute.
    """
    some = torch.from_numpy(np.flatnonzero(rules >= 0)).to(batch.pictures.device)
    under = torch.from_numpy(rules).to(some.device)[some].repeat_interleave(batch.pictures.shape[1])
    pictures = batch.pictures.clone()
    pictures[some] = warp(pictures[some].flatten(0, 1), under).unflatten(0, (-1, batch.pictures.shape[1]))
    return batch._replace(pictures=pictures)


def draw_puzzles(
    images: Images,
    rules: RuleSet,
    count: int,
    *,
    seed: int,
    start: int = 0,
    classes: Iterable[int] | None = None,
) -> Puzzles:
    """Puzzles number ``start`` … ``start + count − 1`` of ``seed``, over the given classes of ``images`` (all if None).

    x and x' are of different classes, and so are x' and x''; x and x'' are different pictures.
    """
    chosen = np.arange(len(images.class_names)) if classes is None else np.asarray(list(classes), dtype=np.int64)
    if len(chosen) < 2:
        raise FineError(f"puzzles need pictures of at least 2 classes: got {len(chosen)} of {images.name}")
    if count < 1 or start < 0:
        raise FineError(
            f"cannot draw {count} puzzles from number {start}: give a count of at least 1 and a start of at least 0"
        )
    draw = _Drawer(images, rules, chosen)
    look = _Look(images, rules, chosen)
    numbers = np.arange(start, start + count, dtype=np.int64)
    specs = np.empty((count, 6), dtype=np.int32)
    attempts = np.zeros(count, dtype=np.uint8)
    pending = np.arange(count)
    for attempt in range(_ATTEMPTS):
        for chunk in np.array_split(pending, max(1, -(-len(pending) // 65536))):  # bounds the memory of a million
            specs[chunk] = draw(seed, numbers[chunk], attempt)
        attempts[pending] += 1
        pending = pending[~look.distinct(specs[pending])]
        if not len(pending):
            return Puzzles(images, rules, specs, attempts)
    raise FineError(
        f"after {_ATTEMPTS} draws puzzle {numbers[pending[0]]} of {images.name} × {rules.name} still has choices that look "
        f"alike: use pictures that differ more, or other rules"
    )


class _Drawer:
    """Specs from (seed, number, attempt), all at once."""

    def __init__(self, images: Images, rules: RuleSet, classes: NDArray[np.int64]):
        labels = images.labels.numpy()
        self.by_class = np.argsort(labels, kind="stable")
        self.counts = np.bincount(labels, minlength=len(images.class_names))
        self.starts = np.cumsum(self.counts) - self.counts
        self.classes = classes
        if not self.counts[classes].all():
            empty = images.class_names[classes[self.counts[classes].argmin()]]
            raise FineError(f"class '{empty}' of {images.name} has no pictures: every class needs at least one")
        members = list(rules.families.values())
        self.family_sizes = np.array([len(family) for family in members])
        self.family_rules = np.concatenate([np.array(family) for family in members])
        self.family_starts = np.cumsum(self.family_sizes) - self.family_sizes

    def __call__(self, seed: int, numbers: NDArray[np.int64], attempt: int) -> NDArray[np.int32]:
        base = random_bits(seed, numbers, attempt)
        second = random_below(len(self.classes), base, 0)
        first = self._other_class(second, base, 1)
        other = self._other_class(second, base, 2)
        pictures = [self._picture(label, base, 3 + place) for place, label in enumerate((first, second, other))]
        rules = self._rules(base, 6)
        return np.stack((*pictures, *rules, random_below(len(ORDERS), base, 10)), axis=1).astype(np.int32)

    def _other_class(self, than: NDArray[np.int64], base: NDArray[np.uint64], stream: int) -> NDArray[np.int64]:
        step = 1 + random_below(len(self.classes) - 1, base, stream)
        return (than + step) % len(self.classes)

    def _picture(self, position: NDArray[np.int64], base: NDArray[np.uint64], stream: int) -> NDArray[np.int64]:
        label = self.classes[position]
        return self.by_class[self.starts[label] + random_below(self.counts[label], base, stream)]

    def _rules(self, base: NDArray[np.uint64], stream: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """f and another g, each by family first; (f, g) is as likely as (g, f), so the choices alone tell nothing."""
        families = [random_below(len(self.family_sizes), base, stream + place) for place in (0, 1)]
        sizes = [self.family_sizes[family] for family in families]
        right = random_below(sizes[0], base, stream + 2)
        same = families[0] == families[1]
        wrong = random_below(np.maximum(sizes[1] - same, 1), base, stream + 3)
        wrong += same & (wrong >= right) & (sizes[1] > 1)  # within one family, pass over f
        starts = [self.family_starts[family] for family in families]
        return self.family_rules[starts[0] + right], self.family_rules[starts[1] + wrong]


class _Look:
    """A glance at the choices of many puzzles: grey, soft, at half resolution.

    Pictures are doubled and softened once; a glance then reads one nearest point a pixel, so that a million puzzles take
    seconds. Every number on the way is an integer or an exact fraction of one: all machines draw the same puzzles again.
    """

    def __init__(self, images: Images, rules: RuleSet, classes: NDArray[np.int64]):
        size = images.pixels.shape[-1]
        used = torch.isin(images.labels, torch.from_numpy(classes))
        grey = replace(images, pixels=images.pixels[used]).with_channels(1).pixels
        self.brightness = torch.cat([self._soften(part) for part in grey.split(_CHUNK)])
        self.position = torch.cumsum(used, 0) - 1
        self.sources = torch.stack([self._nearest(source_points(rule, size // 2), 2 * size + 1) for rule in rules.rules])
        negatives = torch.stack([negative_mask(rule, size // 2).flatten() for rule in rules.rules])
        self.negatives = negatives if negatives.any() else None
        self.threshold = math.ceil(VISIBLE * 255 * (size // 2) ** 2)

    @staticmethod
    def _soften(grey: Tensor) -> Tensor:
        """Pictures (n, 1, size, size) -> mean brightness around each corner of their doubled pixels, and a 0 for outside."""
        doubled = F.interpolate(grey.float(), scale_factor=2, mode="bilinear", align_corners=False)
        around = F.avg_pool2d(F.pad(doubled, (2, 2, 2, 2)), 4, stride=1)  # (n, 1, 2·size + 1, 2·size + 1)
        return F.pad(around.flatten(1).floor().to(torch.uint8), (0, 1))

    @staticmethod
    def _nearest(points: Tensor, side: int) -> Tensor:
        """Source points as numbers of corners; the nudge keeps one half-way between two from going either way by rounding."""
        inside = (points.abs() < HALF).all(-1)
        column, row = ((points + HALF) * ((side - 1) / (2 * HALF)) + 0.5 + 1e-6).floor().long().unbind(-1)
        return torch.where(inside, row * side + column, side * side).flatten().int()

    def distinct(self, specs: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Whether all four choices of each puzzle can be told apart (and x'' is not x itself): bool (n,)."""
        told_apart = np.concatenate(
            [self._told_apart(torch.from_numpy(specs[at : at + _CHUNK]).long()).numpy() for at in range(0, len(specs), _CHUNK)]
        )
        return told_apart & (specs[:, FIRST] != specs[:, OTHER]) & (specs[:, RIGHT] != specs[:, WRONG])

    def _told_apart(self, spec: Tensor) -> Tensor:
        seen = [
            self._view(spec[:, image], spec[:, rule]) for image in (SECOND, OTHER) for rule in (RIGHT, WRONG)
        ]  # four of (b, pixels)
        apart = torch.ones(len(spec), dtype=torch.bool)
        for one, two in itertools.combinations(seen, 2):
            apart &= (one - two).abs_().sum(dim=1, dtype=torch.int32) >= self.threshold
        return apart

    def _view(self, images: Tensor, rules: Tensor) -> Tensor:
        pixels = self.brightness.shape[1]
        flat = (self.position[images] * pixels)[:, None].int() + self.sources[rules]
        view = self.brightness.view(-1).index_select(0, flat.flatten()).view(len(images), -1).short()
        return view if self.negatives is None else torch.where(self.negatives[rules], 255 - view, view)
