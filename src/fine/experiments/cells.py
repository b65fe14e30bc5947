"""A cell: one model, trained once on one task with one seed. Its key names it everywhere: in the ledger, and as a run folder.
A cell with a probe is something measured of that run besides, and needs no training of its own.

cell = Cell(RunConfig(model="esbn", task=Task.preset("omniglot", rules="rotation")))
cell.key       # omniglot_rotation_esbn_10000x6_1a2b3c4d_seed0
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

from fine.experiments.probes import Probe
from fine.models import model_config
from fine.questions import FORWARDS
from fine.runs import RunConfig


@dataclass(frozen=True)
class Cell:
    """A run that can be named: the same configuration has the same key, on any machine."""

    config: RunConfig
    probe: Probe | None = None
    """What is measured of the run; None: how well it does on its own test puzzles."""

    @property
    def run(self) -> "Cell":
        """The cell of the run itself."""
        return Cell(self.config)

    @property
    def seed(self) -> int:
        return self.config.training.seed

    @cached_property
    def settings(self) -> dict[str, Any]:
        """Settings of the model that differ from its defaults, by name and with their types."""
        usual, own = model_config(self.config.model), model_config(self.config.model, self.config.settings)
        names = sorted(self.config.settings)
        return {name: getattr(own, name) for name in names if getattr(own, name) != getattr(usual, name)}

    @cached_property
    def group(self) -> str:
        """The key without the seed: cells of one group differ in nothing else."""
        if self.probe is not None:
            options = (f"{name}-{value}" for name, value in self.probe.options.items())
            asked = (self.probe.name, *options, f"{self.probe.count}x")
            return "_".join((self.run.group, *map(_plain, asked), _digest(asdict(self.probe))))
        task, training = self.config.task, self.config.training
        images = f"{task.images}-to-{task.test_images}" if task.test_images else task.images
        settings = (f"{name}-{value}" for name, value in self.settings.items())
        size = f"{task.train_count}x{training.epochs}"
        parts = (images, task.rules, self.config.model, *settings, size, *filter(None, (training.arrival,)))
        return "_".join((*map(_plain, parts), _digest(self._identity())))

    @property
    def key(self) -> str:
        """Readable, and different for every two cells."""
        return f"{self.group}_seed{self.seed}"

    def with_seed(self, seed: int) -> "Cell":
        """The cell of the same group with another seed."""
        return replace(self, config=replace(self.config, training=replace(self.config.training, seed=seed)))

    def same_run(self, other: RunConfig) -> bool:
        """Whether a run folder with this configuration is this cell's, wherever its data lay."""
        cell = Cell(other)
        return cell.key == self.key and (other.encoder_from, other.grown_from) == (
            self.config.encoder_from,
            self.config.grown_from,
        )

    def _identity(self) -> dict[str, Any]:
        """All that the result depends on, but for the seed."""
        task = {name: value for name, value in asdict(self.config.task).items() if name != "data_root"}
        training = {name: value for name, value in asdict(self.config.training).items() if name != "seed"}
        settings = asdict(model_config(self.config.model, self.config.settings))  # so that another default is another cell
        own = {"model": self.config.model, "encoder_from": self.config.encoder_from, "settings": _switched_on(settings)}
        own |= {"grown_from": self.config.grown_from}
        own |= {"question": {} if self.config.question == FORWARDS else asdict(self.config.question)}
        return own | {"task": _switched_on(task), "training": _switched_on(training)}  # and what is empty is left out


def _switched_on(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Fields that are not 0, empty or False: one that is added later, off by default, changes no key."""
    return {name: value for name, value in fields.items() if value}


def _digest(content: dict[str, Any]) -> str:
    text = json.dumps(_switched_on(content), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _plain(text: str) -> str:
    """Fit for the name of a file."""
    return re.sub(r"[^a-z0-9+.=-]+", "-", text.lower()).strip("-")[:40]
