"""Variants of a puzzle: several hints, backwards, rules in a chain, and the odd one out.

    puzzles = task.test_puzzles(Variant("chain", hints=2))
    batch = puzzles.render(range(32))    # batch.images (32, 9, 1, 32, 32): x₁ y₁ x₂ y₂, x', choices

The further integers of a variant are a hash of the six of the plain puzzle. They are redrawn if the
choices look alike. That is decided on rendered images, so a choice right at the limit may differ
between machines.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fine.errors import FineError, unknown
from fine.puzzles.distinct import all_distinct
from fine.puzzles.family_first import FamilyFirst
from fine.puzzles.puzzles import Puzzles
from fine.puzzles.rendering import Renderer
from fine.puzzles.sampling import ATTEMPTS
from fine.puzzles.spec import ORDER, Batch
from fine.puzzles.variant_kinds import MORE, VARIANTS, Hints
from fine.randomness import random_below, random_bits, random_uniform

DIRECTIONS = ("inverse", "swapped", "tried")
"""How a backwards puzzle is solved: by the inverse of f, by the function composed from y → x, or by
trying f on every choice."""

_CORRUPTION = 3  # address of random numbers; those of the variants are in variant_kinds.py
_CHUNK = 256  # puzzles rendered together while they are drawn


@dataclass(frozen=True)
class Variant:
    """What a puzzle asks, and how corrupted its hints are.

    Examples:
        >>> import fine
        >>> task = fine.Task(images="glyphs", rules="rotation", test_classes=20, test_count=10)
        >>> chains = task.test_puzzles(fine.Variant("chain", hints=2))
        >>> chains.render([0]).images.shape  # x₁ y₁ x₂ y₂, x' and four choices
        torch.Size([1, 9, 1, 32, 32])
    """

    name: str = "hints"
    """hints, backwards, chain or odd-one-out."""
    hints: int = 1
    """How many pairs x → y are shown."""
    noise: float = 0.0
    """Share of the pixels of hints that are replaced by random brightness."""
    covered: float = 0.0
    """Share of each image of a hint that a black square covers."""
    by: str = "inverse"
    """How a backwards puzzle is solved: inverse, swapped (the default of the command line, right
    more often) or tried."""

    def __post_init__(self) -> None:
        if self.name not in VARIANTS:
            raise unknown("variant", self.name, VARIANTS)
        if self.by not in DIRECTIONS:
            raise unknown("way to solve backwards", self.by, DIRECTIONS)
        least, most = VARIANTS[self.name].least, VARIANTS[self.name].most
        if not least <= self.hints <= most:
            span = f"{least} to {most}" if most > least else str(least)
            raise FineError(f"'{self.name}' with {self.hints} hints: give {span}")
        for name in ("noise", "covered"):
            if not 0 <= getattr(self, name) < 1:
                raise FineError(
                    f"{name} is {getattr(self, name)}: give a share of at least 0 and less than 1"
                )

    @property
    def kind(self) -> Hints:
        """How the variant is drawn and shown."""
        return VARIANTS[self.name](self.hints)

    def __str__(self) -> str:
        by = f", by {self.by}" if self.name == "backwards" else ""
        noise = f", {self.noise:.0%} noise" if self.noise else ""
        covered = f", {self.covered:.0%} covered" if self.covered else ""
        return f"{self.kind}{by}{noise}{covered}"


def make_variant(
    name: str, *, hints: int = 0, noise: float = 0.0, covered: float = 0.0, by: str = ""
) -> Variant:
    """A variant; 0 hints and an empty ``by`` stand for its defaults.

    A backwards puzzle is solved by the swapped hint, which is right more often than the inverse.
    """
    if name not in VARIANTS:
        raise unknown("variant", name, VARIANTS)
    # `Variant.by` itself stays as it is: configurations that were stored have it.
    usual = "swapped" if name == "backwards" else Variant.by
    return Variant(name, hints or VARIANTS[name].default, noise, covered, by or usual)


PLAIN = Variant()
"""One hint: the plain puzzle."""


@dataclass(frozen=True, eq=False)
class VariantPuzzles(Puzzles):
    """Puzzles of a variant. The further columns of their specs belong to the variant's kind."""

    variant: Variant = PLAIN

    @property
    def hidden(self) -> NDArray[np.int32]:
        return self.variant.kind.hidden(self.specs)

    @property
    def kinds(self) -> NDArray[np.int64]:
        return self.variant.kind.kinds(self.specs)

    @property
    def chances(self) -> dict[str, float]:
        return super().chances if self.variant.kind.asks else {"blind": 1 / self.variant.hints}

    def renderer(self, device: torch.device | str = "cpu") -> "VariantRenderer":
        return VariantRenderer(self, device)


def draw_variant(puzzles: Puzzles, variant: Variant, *, classes: Iterable[int]) -> VariantPuzzles:
    """The variant of each of these puzzles, with further images of the given classes."""
    made = VariantPuzzles(puzzles.images, puzzles.rules, puzzles.specs, puzzles.attempts, variant)
    kind, rules, render = variant.kind, FamilyFirst(puzzles.rules), made.renderer()
    labels = puzzles.images.labels.numpy()
    pool = np.flatnonzero(np.isin(labels, list(classes)))
    further = np.zeros((len(puzzles), kind.columns), dtype=np.int32)
    specs = np.concatenate([puzzles.specs, further], axis=1)
    pending = np.arange(len(puzzles))
    for attempt in range(ATTEMPTS):
        base = random_bits(kind.address, *puzzles.specs[pending].T, attempt)
        specs[pending, MORE:] = kind.draw(base, pool, rules)
        sound = kind.is_sound(specs[pending], labels)
        chunks = np.array_split(specs[pending], -(-len(pending) // _CHUNK))
        sound &= torch.cat([render.distinct(chunk) for chunk in chunks]).numpy()
        pending = pending[~sound]
        if not len(pending):
            return replace(made, specs=specs)
    raise FineError(
        f"after {ATTEMPTS} draws puzzle {pending[0]} of {puzzles.images.name} × "
        f"{puzzles.rules.name}, {variant}, still has choices that look alike or hints of the class "
        "of x': use more images, or other rules"
    )


class VariantRenderer(Renderer):
    """Turns specs of a variant into images: hints x₁ y₁ x₂ y₂ …, the image asked about, choices.

    The odd one out has hints alone.
    """

    def __init__(self, puzzles: VariantPuzzles, device: torch.device | str = "cpu"):
        super().__init__(puzzles.images, puzzles.rules, device=device)
        self.variant, self.kind = puzzles.variant, puzzles.variant.kind

    def __call__(self, specs: NDArray[np.int32]) -> Batch:
        spec = torch.from_numpy(specs).to(self.device).long()
        images, rules = self.kind.shown(spec)
        x = self.plain(images)  # (b, hints, channels, h, w)
        hints = torch.stack((x, self.under(x, rules)), dim=2).flatten(1, 2)
        hints = self._corrupt(hints, specs)
        answers = torch.from_numpy(self.kind.kinds(specs).argmin(axis=1)).to(self.device)
        if not self.kind.asks:
            return Batch(hints, answers)
        choices = self.kind.choices(self, spec, self.kinds[spec[:, ORDER]])
        right = choices[torch.arange(len(spec), device=self.device), answers][:, None]
        asked = self.kind.asked(self, spec, right)
        return Batch(torch.cat((hints, asked, choices), dim=1), answers)

    def distinct(self, specs: NDArray[np.int32]) -> Tensor:
        """Whether the images that must look different do: bool (b,)."""
        spec = torch.from_numpy(specs).to(self.device).long()
        compared = self.kind.compared(self, spec, self.kinds[spec[:, ORDER]])
        if compared is None:
            return torch.ones(len(spec), dtype=torch.bool)
        return all_distinct(compared)

    def _corrupt(self, hints: Tensor, specs: NDArray[np.int32]) -> Tensor:  # (b, n, channels, h, w)
        """Hints with noise and a black square, drawn for each image."""
        if not (self.variant.noise or self.variant.covered):
            return hints
        base = random_bits(_CORRUPTION, *specs[:, :MORE].T)[:, None]
        number = np.arange(hints.shape[1])
        noisy = self._add_noise(hints, base, number)
        return self._cover(noisy, base, number)

    def _add_noise(
        self, hints: Tensor, base: NDArray[np.uint64], number: NDArray[np.int64]
    ) -> Tensor:
        size = hints.shape[-1]
        pixels = np.arange(size * size)
        is_noise = random_uniform(base[..., None], number[:, None], 0, pixels) < self.variant.noise
        noise = random_uniform(base[..., None], number[:, None], 1, pixels)  # (b, n, pixels)
        shape = (*hints.shape[:2], 1, size, size)
        replaced = torch.from_numpy(is_noise).view(shape).to(hints.device)
        brightness = torch.from_numpy(noise).float().view(shape).to(hints.device)
        return torch.where(replaced, brightness, hints)

    def _cover(self, hints: Tensor, base: NDArray[np.uint64], number: NDArray[np.int64]) -> Tensor:
        size = hints.shape[-1]
        side = round(size * self.variant.covered**0.5)
        ticks = torch.arange(size)
        inside = []
        for axis in (2, 3):
            start = torch.from_numpy(random_below(size - side + 1, base, number, axis))[..., None]
            inside.append((ticks >= start) & (ticks < start + side))  # (b, n, size)
        rows, columns = inside
        square = (rows[..., :, None] & columns[..., None, :])[:, :, None].to(hints.device)
        return hints.masked_fill(square, 0)
