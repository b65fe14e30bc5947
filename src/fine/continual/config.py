"""A run that learns further rules: by which strategy, and from which model it starts."""

from dataclasses import dataclass
from pathlib import Path

from torch import nn

from fine.continual.growth import to_continue
from fine.errors import FineError, unknown
from fine.models.weights import load_weights
from fine.puzzles.variants import PLAIN
from fine.training.run import RunConfig

STRATEGIES = ("plain", "grow", "anchor", "rehearsal")
"""plain (and old rules are forgotten), grow (into new slots), anchor (into new slots, all else
frozen), rehearsal (with a few old puzzles)."""
GROWING = ("grow", "anchor")
"""Strategies that add slots."""


@dataclass(frozen=True)
class ContinualConfig(RunConfig):
    """A run that learns families of rules one after another, or one stage of such a run.

    Examples:
        >>> import fine
        >>> config = fine.ContinualConfig(
        ...     task=fine.Task.preset("glyphs", rules="translation+reflection+swap"),
        ...     model="fine-grouped",
        ...     settings={"slots": 12, "groups": 3},
        ... )
        >>> config.check()
    """

    strategy: str = "anchor"
    """The continual learning strategy: plain, grow, anchor or rehearsal."""
    start_from: str = ""
    """The model that a stage starts from, a run folder or a name; empty: a sequence of stages."""

    def check(self) -> None:
        super().check()
        if self.strategy not in STRATEGIES:
            raise unknown("continual learning strategy", self.strategy, STRATEGIES)
        if self.variant != PLAIN:
            raise FineError(
                f"continual learning is about plain puzzles, not '{self.variant}': leave out "
                "--variant"
            )
        if self.start_from and self.encoder_from:
            raise FineError("a model to start from brings its encoder: leave out encoder_from")

    def start(self) -> nn.Module:
        """The model as its training starts: that of ``start_from``, with slots for new rules."""
        if not self.start_from:
            return super().start()
        model = self.build()
        old = to_continue(self.start_from, self.task, model)
        load_weights(model, old.state_dict(), Path(self.start_from))
        return model
