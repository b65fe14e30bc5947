"""`fine calibrate`"""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import tyro

from fine.cli.arguments import options
from fine.cli.options import DataRoot, TrainedModel
from fine.cli.terminal import say
from fine.errors import FineError
from fine.evaluation.calibration import FALSE_ALARMS, FILE, calibrate, held_back
from fine.pretrained import load, names, trained_on
from fine.puzzles.task import Task


@options()
class Calibrate:
    """Fit a model's confidence and its thresholds for "none of these", on training puzzles that it
    has not seen."""

    model: Annotated[TrainedModel, tyro.conf.Positional]
    task: str = ""
    """Images the model was trained on, if its folder does not say; the names are those of `fine
    train`."""
    rules: str = ""
    """Rules it was trained on, if its folder does not say."""
    count: int = 2_000
    """Puzzles to calibrate on."""
    false_alarms: float = FALSE_ALARMS
    """Share of puzzles with a known rule and a right choice that may be refused."""
    out: Path | None = None
    """File to write; by default calibration.json in the model's folder."""
    data_root: DataRoot = ""

    def run(self) -> None:
        model = load(self.model)
        if self.model in names() and self.out is None:
            raise FineError(
                f"{self.model} is part of the package: say where to write, such as --out {FILE}"
            )
        task = self._trained_on()
        puzzles = held_back(replace(task, data_root=self.data_root or task.data_root), self.count)
        found = calibrate(model, puzzles, false_alarms=self.false_alarms)
        path = self.out or Path(self.model) / FILE
        found.save(path)
        classes = (
            "classes it held back"
            if task.validation
            else "its training classes that it has not seen"
        )
        say(f"{found.puzzles:,} puzzles over {classes}")
        sure = "surer" if found.temperature > 1 else "less sure"
        say(f"temperature {found.temperature:.2f}: {sure} than it should be")
        say(
            f"thresholds at {found.false_alarms:.1%} false alarms: residual "
            f"{found.max_residual:.3f}, distance {found.max_distance:.3f}, confidence "
            f"{found.min_confidence:.1%}"
        )
        say(f"written to {path}")

    def _trained_on(self) -> Task:
        if self.task and self.rules:
            return Task.preset(self.task, rules=self.rules)
        if self.task or self.rules:
            raise FineError(
                "--task and --rules go together: give both, or neither if the model's folder says "
                "them"
            )
        task = trained_on(self.model)
        if task is None:
            raise FineError(
                f"{self.model} does not say what it was trained on: give --task and --rules"
            )
        return task
