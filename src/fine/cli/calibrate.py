"""`fine calibrate`"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import tyro

from fine.cli.terminal import OptionalPath, say
from fine.errors import FineError
from fine.functions.calibration import FALSE_ALARMS, FILE, calibrate, held_back
from fine.pretrained import load, names, trained_on
from fine.tasks import Task


@dataclass(frozen=True)
class Calibrate:
    """Find out how far a model's word can be taken, on training puzzles it has not seen, so that it can say "none of these"."""

    model: Annotated[str, tyro.conf.Positional]
    """A run folder, an exported folder, or a model of the package."""
    task: str = ""
    """Pictures the model was trained on, where its folder does not say; the names are those of `fine train`."""
    rules: str = ""
    """Rules it was trained on, where its folder does not say."""
    count: int = 2_000
    """Puzzles to find it out on."""
    false_alarms: float = FALSE_ALARMS
    """Share of puzzles with a known rule and a right choice that may be refused."""
    out: OptionalPath = None
    """File to write; by default calibration.json in the model's folder."""
    data_root: str = ""
    """Folder of the official data files; otherwise FINE_DATA or the user cache folder."""

    def run(self) -> None:
        model = load(self.model)
        if self.model in names() and self.out is None:
            raise FineError(f"{self.model} is part of the package: say where to write, such as --out {FILE}")
        task = self._trained_on()
        puzzles = held_back(replace(task, data_root=self.data_root or task.data_root), self.count)
        found = calibrate(model, puzzles, false_alarms=self.false_alarms)
        path = self.out or Path(self.model) / FILE
        found.save(path)
        classes = "classes it held back" if task.validation else "its training classes that it has not seen"
        say(f"{found.puzzles:,} puzzles over {classes}")
        say(f"temperature {found.temperature:.2f}: {'surer' if found.temperature > 1 else 'less sure'} than it should be")
        limits = f"hint {found.strangest_hint:.3f}, choice {found.farthest_answer:.3f}, probability {found.least_sure:.1%}"
        say(f"limits at {found.false_alarms:.1%} false alarms: {limits}")
        say(f"written to {path}")

    def _trained_on(self) -> Task:
        if self.task and self.rules:
            return Task.preset(self.task, rules=self.rules)
        if self.task or self.rules:
            raise FineError("--task and --rules go together: give both, or neither where the model's folder says them")
        task = trained_on(self.model)
        if task is None:
            raise FineError(f"{self.model} does not say what it was trained on: give --task and --rules")
        return task
