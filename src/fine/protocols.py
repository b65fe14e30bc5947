"""How a model is trained: epochs, batch, and how the learning rate moves."""

import math
from dataclasses import dataclass

from fine.errors import FineError, unknown

SCHEDULES = ("one-cycle", "constant")
VIEWS = (1, 4, 8)
ARRIVALS = ("plain", "grow", "anchor", "rehearsal")


@dataclass(frozen=True)
class Training:
    """How a model is trained."""

    epochs: int = 6
    """Passes over the training puzzles."""
    batch: int = 64
    """Puzzles a step."""
    rate: float = 2e-3
    """Learning rate of Adam; with one-cycle, its peak."""
    schedule: str = "one-cycle"
    """How the rate moves: one-cycle (up, then down to nothing) or constant."""
    clip: float = 10.0
    """Largest norm of the gradient."""
    fresh: bool = False
    """Draw new puzzles for every epoch instead of showing the same ones again."""
    turned: bool = False
    """Turn or mirror every picture of a puzzle by itself before any rule, one of eight ways drawn each time it is shown."""
    views: int = 1
    """Sides a puzzle may be seen from, one drawn each time it is shown: 1 as it is, 4 by quarter turns, 8 mirrored too."""
    through: float = 0.0
    """Share of the puzzles that are seen through a rule of the training, all pictures through the same, drawn each time."""
    seed: int = 0
    """Fixes the weights at the start, the puzzles and their order."""
    arrival: str = ""
    """How rules are learnt that come one family after another: plain (and old ones are forgotten), grow (into new slots),
    anchor (into new slots, with all else held), rehearsal (with a few old puzzles); empty: all of them together."""

    def check(self) -> None:
        """Refuse what cannot be trained."""
        if self.schedule not in SCHEDULES:
            raise unknown("schedule", self.schedule, SCHEDULES)
        if self.arrival and self.arrival not in ARRIVALS:
            raise unknown("way for rules to arrive", self.arrival, ARRIVALS)
        if self.views not in VIEWS:
            raise FineError(f"views is {self.views}: give 1 (as drawn), 4 (quarter turns) or 8 (mirrored too)")
        for name, least in (("epochs", 1), ("batch", 2), ("seed", 0)):
            if getattr(self, name) < least:
                raise FineError(f"{name} is {getattr(self, name)}: give at least {least}")
        if self.seed >= 2**32:
            raise FineError(f"seed is {self.seed}: give one below 2³², {2**32:,}")
        if not 0 <= self.through <= 1:
            raise FineError(f"through is {self.through}: give the share of puzzles to be seen through a rule, 0 to 1")
        for name in ("rate", "clip"):
            if not 0 < getattr(self, name) < math.inf:
                raise FineError(f"{name} is {getattr(self, name)}: give a positive number")

    def rate_at(self, step: int, steps: int) -> float:
        """The learning rate of one step among ``steps``: a pure function, so that a resumed run has nothing to restore."""
        if self.schedule == "constant":
            return self.rate
        rise = max(1.0, 0.3 * steps)
        if step < rise:
            return self.rate * (0.04 + 0.96 * _ease(step / rise))
        return self.rate * (1 - 0.9999 * _ease((step - rise) / max(1.0, steps - rise)))


def _ease(share: float) -> float:
    """From 0 to 1 along half a cosine."""
    return (1 - math.cos(math.pi * share)) / 2


PROTOCOLS = {
    "quick": Training(),
    "paper": Training(epochs=200, batch=32, rate=5e-4, schedule="constant"),
    "strings": Training(rate=1e-2, fresh=True),
}
"""Named ways to train: `quick` for a CPU, `paper` with the paper's epochs and batch. The paper gives no learning rate.
`strings` is what `quick` means for letter strings (docs/log.md)."""
