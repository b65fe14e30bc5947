"""`fine reproduce`"""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import tyro
from rich.table import Table
from rich.text import Text

from fine.cli.arguments import given, options
from fine.cli.options import CountOptions, Device, TrainingOptions, use_device
from fine.cli.terminal import console, say
from fine.errors import FineError, unknown
from fine.experiments.catalogue import EXPERIMENTS, make_experiment
from fine.experiments.cells import Cell
from fine.experiments.comparison import Comparison, Entry, caption, compare, markdown
from fine.experiments.durations import read_duration, show_duration
from fine.experiments.estimates import estimate
from fine.experiments.executors import Executor, LocalProcesses
from fine.experiments.experiment import Experiment, cells, label, select
from fine.experiments.ledger import Ledger
from fine.experiments.monitor import TerminalMonitor
from fine.experiments.ray_tasks import RayTasks
from fine.experiments.runner import Summary, check_images, run_cells
from fine.experiments.slurm_jobs import SlurmJobs
from fine.experiments.supplements import draw_figure, further_table
from fine.io.files import write_text
from fine.io.locks import locked
from fine.puzzles.task import Task
from fine.training.protocols import Training


@options(Training, default="the protocol's")
class Reproduce:
    """Run what is missing of the paper's tables and figures, and show them beside the paper's
    numbers."""

    names: Annotated[
        tuple[str, ...],
        tyro.conf.Positional,
        tyro.conf.arg(
            metavar="[NAME …]",
            help=f"{', '.join(EXPERIMENTS)}, or all; without a name they are listed.",
        ),
    ] = ()
    list: bool = False
    """Only list what there is, and how much of it has been run."""
    dry_run: bool = False
    """Only list what would be run, and how long it would take."""
    models: str = ""
    """Run only these models, separated by commas."""
    columns: str = ""
    """Run only these columns, separated by commas."""
    rows: str = ""
    """Run only these rows, separated by commas."""
    seeds: int = 1
    """Runs of every cell, with seeds 0, 1, …"""
    epochs: int | None = None
    images: str = ""
    """Other images than the paper's, such as glyphs, which need no download; the paper has no
    numbers for them."""
    jobs: int = 0
    """Cells at once, with one thread each; 0: as many as there are cores."""
    budget: str = ""
    """Stop after this long, such as 2h or 90m; the same command continues."""
    cluster: str = ""
    """ray: run the cells on a Ray cluster, or on a local one if there is none; slurm: as jobs of a
    SLURM cluster; otherwise they are processes of this machine."""
    device: Device = "cpu"
    results: Path = Path("results")
    """Folder of the ledger and of the tables."""
    work: Path = Path("runs/reproduce")
    """Folder of the runs, one for each cell."""
    training: TrainingOptions = TrainingOptions()
    puzzles: Annotated[CountOptions, tyro.conf.arg(name="task")] = CountOptions()

    def run(self) -> None:
        ledger = Ledger(self.results / "ledger")
        if self.list or not self.names:
            self._list(ledger)
            return
        names = EXPERIMENTS if "all" in self.names else self.names
        experiments = [self._experiment(name) for name in names]
        wanted = self._cells(experiments)
        if self.jobs < 0 or self.seeds < 1:
            raise FineError(
                f"jobs is {self.jobs} and seeds is {self.seeds}: give at least 0 jobs (as many as "
                "there are cores) and 1 seed"
            )
        if self.cluster not in ("", "ray", "slurm"):
            raise unknown("cluster", self.cluster, ("ray", "slurm"))
        missing = [cell for cell in wanted if not ledger.has(cell)]
        if self.dry_run:
            self._forecast(wanted, missing, ledger)
            return
        summary = self._run(missing, ledger)
        for experiment in experiments:
            self._write(compare(experiment, ledger))
        self._say_what_is_left(summary, ledger)

    def _write(self, comparison: Comparison) -> None:
        """Show a table, and write it and what belongs to it."""
        path = self.results / f"{self._file_name(comparison.experiment)}.md"
        write_text(path, markdown(comparison) + further_table(comparison))
        print_comparison(comparison)
        say(f"written to {path}")
        if draw_figure(comparison, path.with_suffix(".png")):
            say(f"drawn to {path.with_suffix('.png')}")

    def _run(self, missing: Sequence[Cell], ledger: Ledger) -> Summary:
        budget = read_duration(self.budget) if self.budget else None
        if not missing:
            return Summary((), (), ())
        use_device(self.device, 0)
        check_images(missing)
        try:
            with locked(self.work):
                executor = self._executor()
                with TerminalMonitor(
                    console, missing, ledger.records(), jobs=executor.jobs, budget=budget
                ) as monitor:
                    return run_cells(missing, ledger, executor, monitor=monitor, budget=budget)
        except KeyboardInterrupt:
            say("stopped; finished cells are kept, and the same command continues with the others")
            raise SystemExit(130) from None

    def _executor(self) -> Executor:
        if self.cluster == "slurm":
            return SlurmJobs(self.work, jobs=self.jobs, device=self.device)
        if self.cluster == "ray":
            return RayTasks(self.work, jobs=self.jobs, device=self.device)
        return LocalProcesses(self.work, jobs=self._jobs, device=self.device)

    @property
    def _jobs(self) -> int:
        if self.jobs:
            return self.jobs
        if hasattr(os, "sched_getaffinity"):
            return len(os.sched_getaffinity(0))
        return os.cpu_count() or 1

    def _experiment(self, name: str) -> Experiment:
        training = self.training.make(epochs=self.epochs)
        training.check()
        experiment = make_experiment(name, training=training, images=self.images)
        task = given(self.puzzles, Task)
        if "train_count" in task and experiment.column_title == "training puzzles":
            raise FineError(
                f"the columns of {name} are numbers of training puzzles: leave out --train-count"
            )
        return experiment.change(**task)

    def _cells(self, experiments: Sequence[Experiment]) -> Sequence[Cell]:
        """The cells that are asked for."""
        models, columns, rows = map(_names, (self.models, self.columns, self.rows))
        places = select(experiments, models=models, columns=columns, rows=rows)
        wanted = cells(places, seeds=self.seeds)
        for cell in wanted:
            cell.config.check()
        return wanted

    def _file_name(self, experiment: Experiment) -> str:
        """table1, with what is not as usual: table1-glyphs, table1-paper, table1-3-epochs."""
        protocol = "" if self.training.protocol == "quick" else self.training.protocol
        parts = [experiment.name, self.images, protocol]
        changed = given(self, Training) | given(self.training, Training) | given(self.puzzles, Task)
        changed.pop("data_root", None)
        for name, value in sorted(changed.items()):
            name = name.replace("_", "-")
            parts.append(name if value is True else f"{value}-{name}")
        return "-".join(filter(None, parts)).replace("/", "-").replace(":", "-")

    def _list(self, ledger: Ledger) -> None:
        table = Table("name", "what", "cells", "run")
        for name, (what, _) in EXPERIMENTS.items():
            wanted = cells(self._experiment(name).places, seeds=self.seeds)
            table.add_row(name, what, str(len(wanted)), str(sum(map(ledger.has, wanted))))
        console.print(table)
        say("run one with: fine reproduce NAME, or all of them with: fine reproduce all")

    def _forecast(self, wanted: Sequence[Cell], missing: Sequence[Cell], ledger: Ledger) -> None:
        records = ledger.records()
        rows: dict[tuple[str, str], list[float]] = {}
        for cell in missing:
            guess = estimate(cell, records)
            rows.setdefault((cell.config.model, guess.basis), []).append(guess.seconds)
        table = Table("model", "cells", "each", "total", "estimate")
        for (model, basis), seconds in rows.items():
            each = show_duration(sum(seconds) / len(seconds))
            table.add_row(label(model), str(len(seconds)), each, show_duration(sum(seconds)), basis)
        console.print(table)
        every = [second for seconds in rows.values() for second in seconds]
        total = max(sum(every) / self._jobs, *every, 0)  # a cell is run by one job
        done = len(wanted) - len(missing)
        say(
            f"{len(wanted)} cells, {done} of them done; {len(missing)} to run, in about "
            f"{show_duration(total)}, {self._jobs} at once"
        )

    def _say_what_is_left(self, summary: Summary, ledger: Ledger) -> None:
        for failed in summary.failed:
            say(f"failed: {failed.key}: {failed.error}")
        if summary.left:
            records = ledger.records()
            seconds = sum(estimate(cell, records).seconds for cell in summary.left) / self._jobs
            say(
                f"stopped at the budget of {self.budget}: {len(summary.left)} cells are left, "
                f"about {show_duration(seconds)}"
            )
            say("the same command continues with them")
        if summary.failed:
            say(f"{len(summary.failed)} cells failed; the same command tries them again")
            raise SystemExit(1)


def print_comparison(comparison: Comparison) -> None:
    """The table, the paper's number above ours in every place.

    A table that is wider than the terminal comes in several pieces.
    """
    experiment = comparison.experiment
    say("", f"{experiment.name}: {experiment.title}")
    # A row's name takes 17 characters, a number with its ± and frame up to 16.
    room = max(1, (console.width - 17) // 16)
    for at in range(0, len(experiment.columns), room):
        columns = experiment.columns[at : at + room]
        table = Table(experiment.row_title)
        for column in columns:
            table.add_column(label(column), justify="right")
        for row in experiment.rows:
            entries = (comparison.entry(row, column) for column in columns)
            texts = (_two_lines(entry, comparison.has_paper) for entry in entries)
            table.add_row(label(row), *texts)
        console.print(table, highlight=False)
    for line in caption(comparison):
        say(line)


def _names(text: str) -> tuple[str, ...]:
    """Names separated by commas. A comma before a space is part of a name: "esbn, new puzzles"."""
    return tuple(filter(None, re.split(r",(?! )", text)))


def _two_lines(entry: Entry, with_paper: bool) -> Text:
    if not with_paper:
        return Text(str(entry))
    return Text.assemble((str(entry.paper or "–"), "dim"), f"\n{entry}")
