"""`fine reproduce`"""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import tyro
from rich.table import Table

from fine.cli.terminal import OptionalFloat, OptionalInt, console, given, say, use_device
from fine.errors import FineError, unknown
from fine.experiments.catalogue import EXPERIMENTS, make_experiment
from fine.experiments.cells import Cell
from fine.experiments.clusters import RayTasks
from fine.experiments.comparison import Comparison, Entry, caption, compare, markdown
from fine.experiments.durations import read_duration, show_duration
from fine.experiments.estimates import estimate
from fine.experiments.executors import Executor, LocalProcesses
from fine.experiments.experiment import Experiment, cells, label, select
from fine.experiments.growth import draw_figure, further_table
from fine.experiments.ledger import Ledger
from fine.experiments.runner import Summary, check_pictures, run_cells
from fine.experiments.watching import Watched
from fine.locking import locked
from fine.protocols import PROTOCOLS, Training
from fine.storage import write_text
from fine.tasks import Task


@dataclass(frozen=True)
class Reproduce:
    """Run what is missing of the paper's tables and figures, and show them beside the paper's numbers."""

    names: tyro.conf.Positional[tuple[str, ...]] = ()
    """table1, table2, table3, table4, figure-memories, figure-training-size, figure-map, scaling, fresh, longer;
    hints, hints-by-family, backwards, chains, powers, odd-one-out, trained-for-it, noticing, refusing, calibration, slots;
    strings, continual, memory; or all; none: list them."""
    list: bool = False
    """Only say what there is, and how much of it has been run."""
    dry_run: bool = False
    """Only say what would be run, and how long it would take."""
    jobs: int = 0
    """Cells at once, one thread each; 0: one a core."""
    seeds: int = 1
    """Runs of every cell, with seeds 0, 1, …"""
    budget: str = ""
    """Stop after this long, such as 2h or 90m; the next call goes on."""
    models: str = ""
    """Run only these models, separated by commas."""
    columns: str = ""
    """Run only these columns, separated by commas."""
    rows: str = ""
    """Run only these rows, separated by commas."""
    protocol: str = "quick"
    """quick (6 epochs, one-cycle rate) or paper (200 epochs, batch 32, constant rate)."""
    images: str = ""
    """Other pictures than the paper's, such as glyphs, which need no download; there are no numbers of the paper for them."""
    epochs: OptionalInt = None
    """Passes over the training puzzles, if not the protocol's."""
    batch: OptionalInt = None
    """Puzzles a step, if not the protocol's."""
    rate: OptionalFloat = None
    """Learning rate, if not the protocol's."""
    fresh: bool = False
    """Draw new puzzles for every epoch instead of showing the same ones again."""
    turned: bool = False
    """Turn or mirror every picture of a training puzzle by itself before any rule, a new way each time."""
    views: OptionalInt = None
    """Sides a puzzle may be seen from in training: 1 as drawn, 4 by quarter turns, 8 mirrored too."""
    through: OptionalFloat = None
    """Share of the puzzles to be seen through a rule of the training, all pictures through the same: 0 to 1."""
    train_count: OptionalInt = None
    """Training puzzles, if not the paper's."""
    test_count: OptionalInt = None
    """Test puzzles, if not the paper's."""
    results: Path = Path("results")
    """Folder of the ledger and of the tables."""
    work: Path = Path("runs/reproduce")
    """Folder of the runs, one a cell."""
    cluster: str = ""
    """ray: run the cells on a Ray cluster, or on a local one if there is none; otherwise they are processes of this machine."""
    device: str = "cpu"
    """cpu or cuda."""
    data_root: str = ""
    """Folder of the official data files; otherwise FINE_DATA or the user cache folder."""

    def run(self) -> None:
        ledger = Ledger(self.results / "ledger")
        if self.list or not self.names:
            self._list(ledger)
            return
        experiments = [self._experiment(name) for name in (EXPERIMENTS if "all" in self.names else self.names)]
        wanted = self._cells(experiments)
        if self.jobs < 0 or self.seeds < 1:
            raise FineError(f"jobs is {self.jobs} and seeds is {self.seeds}: give at least 0 jobs (one a core) and 1 seed")
        if self.cluster not in ("", "ray"):
            raise unknown("cluster", self.cluster, ("ray",))
        missing = [cell for cell in wanted if not ledger.has(cell)]
        if self.dry_run:
            self._forecast(wanted, missing, ledger)
            return
        summary = self._run(missing, ledger)
        for experiment in experiments:
            comparison = compare(experiment, ledger)
            path = self.results / f"{self._file_name(experiment)}.md"
            write_text(path, markdown(comparison) + further_table(comparison))
            print_comparison(comparison)
            say(f"written to {path}")
            if draw_figure(comparison, path.with_suffix(".png")):
                say(f"drawn to {path.with_suffix('.png')}")
        self._say_what_is_left(summary, ledger)

    def _run(self, missing: Sequence[Cell], ledger: Ledger) -> Summary:
        budget = read_duration(self.budget) if self.budget else None
        if not missing:
            return Summary((), (), ())
        use_device(self.device, 0)
        check_pictures(missing)
        try:
            with locked(self.work):
                executor = self._executor()
                with Watched(console, missing, ledger.records(), jobs=executor.jobs, budget=budget) as watcher:
                    return run_cells(missing, ledger, executor, watcher=watcher, budget=budget)
        except KeyboardInterrupt:
            say("stopped; finished cells are kept, and the same command goes on from the last epochs")
            raise SystemExit(130) from None

    def _executor(self) -> Executor:
        if self.cluster == "ray":
            return RayTasks(self.work, jobs=self.jobs, device=self.device)
        return LocalProcesses(self.work, jobs=self._jobs, device=self.device)

    @property
    def _jobs(self) -> int:
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        return self.jobs or cores

    def _training(self) -> Training:
        if self.protocol not in PROTOCOLS:
            raise unknown("protocol", self.protocol, PROTOCOLS)
        training = replace(PROTOCOLS[self.protocol], fresh=self.fresh, turned=self.turned, **given(self, Training))
        training.check()
        return training

    def _experiment(self, name: str) -> Experiment:
        experiment = make_experiment(name, training=self._training(), images=self.images)
        if self.train_count is not None and experiment.column_title == "training puzzles":
            raise FineError(f"the columns of {name} are numbers of training puzzles: leave out --train-count")
        return experiment.change(data_root=self.data_root, **given(self, Task))

    def _cells(self, experiments: Sequence[Experiment]) -> Sequence[Cell]:
        """The cells asked for."""
        models, columns, rows = (tuple(filter(None, text.split(","))) for text in (self.models, self.columns, self.rows))
        places = select(experiments, models=models, columns=columns, rows=rows)
        wanted = cells(places, seeds=self.seeds)
        for cell in wanted:
            cell.config.check()
        return wanted

    def _file_name(self, experiment: Experiment) -> str:
        """table1, with whatever differs from the usual: table1-glyphs, table1-paper, table1-3-epochs."""
        parts = [experiment.name, self.images, "" if self.protocol == "quick" else self.protocol]
        for name, value in sorted((given(self, Training) | given(self, Task)).items()):
            parts.append(f"{value}-{name.replace('_', '-')}")
        parts += [name for name in ("fresh", "turned") if getattr(self, name)]
        text = "-".join(filter(None, parts))
        return text.replace("/", "-").replace(":", "-")

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
        table = Table("model", "cells", "each", "together", "estimate")
        for (model, basis), seconds in rows.items():
            each = show_duration(sum(seconds) / len(seconds))
            table.add_row(label(model), str(len(seconds)), each, show_duration(sum(seconds)), basis)
        console.print(table)
        every = [second for seconds in rows.values() for second in seconds]
        total = max(sum(every) / self._jobs, *every, 0)  # no cell is shared among jobs
        say(
            f"{len(wanted)} cells, {len(wanted) - len(missing)} of them done; {len(missing)} to go, in about "
            f"{show_duration(total)}, {self._jobs} at once"
        )

    def _say_what_is_left(self, summary: Summary, ledger: Ledger) -> None:
        for failed in summary.failed:
            say(f"failed: {failed.key}: {failed.error}")
        if summary.left:
            records = ledger.records()
            seconds = sum(estimate(cell, records).seconds for cell in summary.left) / self._jobs
            say(f"stopped at the budget of {self.budget}: {len(summary.left)} cells are left, about {show_duration(seconds)}")
            say("the same command goes on from there")
        if summary.failed:
            say(f"{len(summary.failed)} cells failed; the same command tries them again")
            raise SystemExit(1)


def print_comparison(comparison: Comparison) -> None:
    """The table, the paper's number above ours in every place, in as many pieces as the terminal is too narrow for."""
    experiment = comparison.experiment
    say(f"\n{experiment.name}: {experiment.title}")
    room = max(1, (console.width - 17) // 16)  # a row's name takes 17 characters, a number with its ± and frame up to 16
    for at in range(0, len(experiment.columns), room):
        columns = experiment.columns[at : at + room]
        table = Table(experiment.row_title)
        for column in columns:
            table.add_column(label(column), justify="right")
        for row in experiment.rows:
            table.add_row(label(row), *(_two_lines(comparison.entry(row, column), comparison.has_paper) for column in columns))
        console.print(table, highlight=False)
    for line in caption(comparison):
        say(line)


def _two_lines(entry: Entry, with_paper: bool) -> str:
    return f"[dim]{entry.paper or '–'}[/]\n{entry}" if with_paper else str(entry)
