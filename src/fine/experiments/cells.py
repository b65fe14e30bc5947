"""A cell: one model, trained once on one task with one seed. Its key names its result everywhere.

A cell with a probe is a further measurement of that run and needs no training of its own.

cell = Cell(RunConfig(model="esbn", task=Task.preset("omniglot", rules="rotation")))
cell.key       # omniglot_rotation_esbn_10000x6_710b7a5b_seed0
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from fine.experiments.keys import changed_settings, probe_key, run_key
from fine.experiments.probes import Probe
from fine.training.run import RunConfig


@dataclass(frozen=True)
class Cell:
    """A run that can be named: the same configuration has the same key on any machine.

    Examples:
        >>> import fine
        >>> from fine.experiments import Cell
        >>> task = fine.Task.preset("omniglot", rules="rotation")
        >>> Cell(fine.RunConfig(model="esbn", task=task)).key
        'omniglot_rotation_esbn_10000x6_710b7a5b_seed0'
    """

    config: RunConfig
    """The run."""
    probe: Probe | None = None
    """What is measured of the run; None: its accuracy on its own test puzzles."""

    @property
    def run(self) -> "Cell":
        """The cell of the run itself."""
        return Cell(self.config)

    @property
    def seed(self) -> int:
        """The seed of the run."""
        return self.config.training.seed

    @property
    def metric(self) -> str:
        """What the cell's value is, one of `METRICS`."""
        return "accuracy" if self.probe is None else self.probe.metric

    @cached_property
    def settings(self) -> dict[str, Any]:
        """Settings of the model that differ from its defaults."""
        return changed_settings(self.config)

    @cached_property
    def group(self) -> str:
        """The key without the seed: cells of one group differ in the seed alone."""
        run = run_key(self.config)
        return run if self.probe is None else probe_key(run, self.probe)

    @property
    def key(self) -> str:
        """The unique and readable name of the cell."""
        return f"{self.group}_seed{self.seed}"

    def with_seed(self, seed: int) -> "Cell":
        """The cell of the same group with another seed."""
        training = replace(self.config.training, seed=seed)
        return replace(self, config=replace(self.config, training=training))

    def same_run(self, other: RunConfig) -> bool:
        """Whether a run folder with this configuration is this cell's, wherever its data is."""
        return Cell(other).key == self.run.key
