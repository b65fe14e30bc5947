"""How a model is trained: epochs, batch, augmentation, and how the learning rate moves."""

import math
from dataclasses import dataclass, replace

from fine.errors import FineError, unknown

SCHEDULES = ("one-cycle", "constant")
SYMMETRIES = (1, 4, 8)


@dataclass(frozen=True)
class Training:
    """How a model is trained."""

    epochs: int = 6
    """Passes over the training puzzles."""
    batch: int = 64
    """Puzzles in a step."""
    learning_rate: float = 2e-3
    """Learning rate of Adam; with one-cycle, its peak."""
    schedule: str = "one-cycle"
    """How the learning rate moves: one-cycle (up, then down to almost 0) or constant."""
    grad_clip: float = 10.0
    """Largest norm of the gradient."""
    resample_each_epoch: bool = False
    """Draw new puzzles for every epoch instead of showing the same ones again."""
    augment_images: bool = False
    """Rotate or mirror every image of a puzzle by itself before any rule, at random each time."""
    augment_puzzles: int = 1
    """Symmetries by which a puzzle is moved each time: 1 none, 4 rotations, 8 also mirrors."""
    conjugate: float = 0.0
    """Share of the puzzles that are shown under a training rule, the same for all seven images."""
    test_epochs: tuple[int, ...] = ()
    """Epochs after which the model is tested too, for its learning curve. It changes no result."""
    seed: int = 0
    """Fixes the starting weights, the training puzzles and their order."""

    def check(self) -> None:
        """Refuse what cannot be trained."""
        if self.schedule not in SCHEDULES:
            raise unknown("schedule", self.schedule, SCHEDULES)
        if self.augment_puzzles not in SYMMETRIES:
            raise FineError(
                f"augment_puzzles is {self.augment_puzzles}: give 1 (as drawn), 4 (rotated) or 8 "
                "(mirrored too)"
            )
        for name, least in (("epochs", 1), ("batch", 2), ("seed", 0)):
            if getattr(self, name) < least:
                raise FineError(f"{name} is {getattr(self, name)}: give at least {least}")
        if self.seed >= 2**32:
            raise FineError(f"seed is {self.seed}: give one below 2³², {2**32:,}")
        if not 0 <= self.conjugate <= 1:
            raise FineError(
                f"conjugate is {self.conjugate}: give the share of puzzles to show under a rule, "
                "0 to 1"
            )
        if any(epoch < 1 for epoch in self.test_epochs):
            raise FineError(f"test_epochs is {self.test_epochs}: epochs are counted from 1")
        for name in ("learning_rate", "grad_clip"):
            if not 0 < getattr(self, name) < math.inf:
                raise FineError(f"{name} is {getattr(self, name)}: give a positive number")

    @property
    def shows_the_same(self) -> bool:
        """Whether every epoch shows the very same images."""
        return not (
            self.resample_each_epoch
            or self.augment_images
            or self.augment_puzzles > 1
            or self.conjugate
        )

    def learning_rate_at(self, step: int, steps: int) -> float:
        """The learning rate of one step among ``steps``.

        A pure function, so that a resumed run has nothing to restore.
        """
        if self.schedule == "constant":
            return self.learning_rate
        rise = max(1.0, 0.3 * steps)
        if step < rise:
            return self.learning_rate * (0.04 + 0.96 * _half_cosine(step / rise))
        fallen = _half_cosine((step - rise) / max(1.0, steps - rise))
        return self.learning_rate * (1 - 0.9999 * fallen)


def _half_cosine(share: float) -> float:
    """From 0 to 1 along half a cosine."""
    return (1 - math.cos(math.pi * share)) / 2


_PAPER = Training(
    epochs=200,
    batch=32,
    learning_rate=5e-4,
    schedule="constant",
    test_epochs=(6, 12, 25, 50, 100, 200),
)

PROTOCOLS = {
    "quick": Training(),
    "paper": _PAPER,
    "paper-fresh": replace(_PAPER, epochs=50, resample_each_epoch=True),
    "strings": Training(learning_rate=1e-2, resample_each_epoch=True),
}
"""Named ways to train: `quick` for a CPU; `paper` with the paper's epochs and batch (it gives no
learning rate) on the same puzzles in every epoch; `paper-fresh`, the same with new puzzles over the
same images in every epoch; `strings` for letter strings in place of `quick` (dev/log.md)."""
