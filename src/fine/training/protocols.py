"""How a model is trained: epochs, batch, augmentation, learning rate schedule."""

import math
from contextlib import suppress
from dataclasses import dataclass, replace

from fine.errors import FineError, unknown
from fine.images.augmentation import TURNS, read_parts

SCHEDULES = ("one-cycle", "constant")
SYMMETRIES = (1, 4, 8)


@dataclass(frozen=True)
class Training:
    """How a model is trained.

    Examples:
        >>> import fine
        >>> training = fine.Training(epochs=12, augment_images="all")
        >>> config = fine.RunConfig(training=training)
    """

    epochs: int = 6
    """Passes over the training puzzles."""
    batch: int = 64
    """Puzzles in a step."""
    learning_rate: float = 2e-3
    """Learning rate of Adam; with one-cycle, its peak."""
    schedule: str = "one-cycle"
    """Learning rate schedule: one-cycle (up, then down to almost 0) or constant."""
    grad_clip: float = 10.0
    """Largest norm of the gradient."""
    resample_each_epoch: bool = False
    """Draw new puzzles for every epoch instead of showing the same ones again."""
    augment_images: str | bool = ""
    """Augment every image of a puzzle at random before any rule: turns (rotations and mirrors;
    True means these alone), or other parts joined by +, such as edges+mask+frame, or all."""
    unaugmented: float = 0.0
    """Share of the puzzles whose images are shown as they are, whatever augment_images says."""
    augment_puzzles: int = 1
    """Symmetries by which a puzzle is moved each time: 1 none, 4 rotations, 8 also mirrors."""
    conjugate: float = 0.0
    """Share of the puzzles shown under a further training rule, the same for all seven images."""
    test_epochs: tuple[int, ...] = ()
    """Epochs after which the model is tested too, for its learning curve. It changes no result."""
    seed: int = 0
    """Fixes the starting weights, the training puzzles and their order."""

    def __post_init__(self) -> None:
        """Write the parts of an augmentation in one canonical way, because keys of cells have them.

        True and False are what older run folders have.
        """
        text = self.augment_images
        if isinstance(text, bool):
            text = TURNS if text else ""
        with suppress(FineError):  # left for `check`
            text = "+".join(read_parts(text))
        object.__setattr__(self, "augment_images", text)

    def check(self) -> None:
        """Refuse what cannot be trained."""
        read_parts(str(self.augment_images))  # refuses names that are not known
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
        if not 0 <= self.unaugmented < 1:
            raise FineError(
                f"unaugmented is {self.unaugmented}: give the share of puzzles whose images are "
                "not augmented, 0 or more and less than 1"
            )
        if self.unaugmented and not self.augment_images:
            raise FineError(
                f"unaugmented is {self.unaugmented}, but no image is augmented: give "
                "augment_images too, such as all, or leave it out"
            )
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
    def image_parts(self) -> tuple[str, ...]:
        """The parts of the augmentation of images that are on."""
        return read_parts(str(self.augment_images))

    @property
    def shows_the_same(self) -> bool:
        """Whether every epoch shows the same images."""
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
    "augmented": Training(
        epochs=12, learning_rate=8e-3, resample_each_epoch=True, augment_images="all"
    ),
    "strings": Training(learning_rate=1e-2, resample_each_epoch=True),
}
"""Named ways to train: `quick` for a CPU; `paper` with the paper's epochs and batch (it gives no
learning rate) on the same puzzles in every epoch; `paper-fresh`, the same with new puzzles over the
same images in every epoch; `augmented` with new puzzles over augmented images, for `fine` on a
grid of 8 × 8 places; `strings` for letter strings in place of `quick` (dev/log.md).

Examples:
    >>> import fine
    >>> fine.PROTOCOLS["quick"].epochs, fine.PROTOCOLS["paper"].epochs
    (6, 200)
"""
