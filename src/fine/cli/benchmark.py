"""`fine benchmark`"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import tyro
from rich.table import Table

from fine.benchmarks import (
    ArcOutcome,
    BenchmarkOutcome,
    BenchmarkPuzzle,
    BenchmarkRow,
    Chooser,
    benchmark_names,
    load_any,
    read_arc,
    read_benchmark,
    run_benchmark,
    solve_arc,
)
from fine.benchmarks.arc import arc_row
from fine.benchmarks.kiva import kiva_root
from fine.benchmarks.records import OTHERS, RECORDS, find_record, reported_as
from fine.cli.arguments import options
from fine.cli.options import TrainedModel
from fine.cli.terminal import console, print_json, say
from fine.errors import FineError, unknown
from fine.experiments.benchmark_ledger import (
    FOLDER,
    BenchmarkLedger,
    benchmark_records,
    training_of,
)
from fine.io.files import write_json
from fine.io.provenance import provenance
from fine.pretrained import DEFAULT, holds_run, load, names, weights_digest
from fine.training.run import Run


@options()
class Benchmark:
    """Solve tests that others wrote, or puzzles of your own, and count the right answers."""

    name: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="NAME")]
    """kiva (visual analogies for children), folder (your own puzzles, a folder each or a CSV
    file), arc (tasks on grids, as far as one turn or mirror explains them), or a plug-in."""
    data: Annotated[Path, tyro.conf.arg(metavar="PATH")]
    """Where the puzzles are: a clone of KiVA's repository, a folder of puzzles, or a folder of
    ARC's JSON files."""
    model: TrainedModel = ""
    model_only: bool = False
    """Let the network answer alone: no rule is tried on the pixels."""
    each: int | None = None
    """Use only the first so many puzzles of each parameter."""
    json: bool = False
    """Print one JSON object instead of a table."""
    out: Path | None = None
    """Also write that object to this file."""
    results: Annotated[Path | None, tyro.conf.arg(metavar="FOLDER")] = None
    """Also write a record of each concept to the ledger of this folder, such as results, from which
    `fine report` makes its page."""

    def run(self) -> None:
        known = ("arc", *benchmark_names())
        if self.name not in known:
            raise unknown("benchmark", self.name, known)
        if self.each is not None and self.each < 1:
            raise FineError(f"each is {self.each}: give at least 1")
        if self.results is not None and (self.each is not None or self.model_only):
            raise FineError(
                "a record of the ledger is about all puzzles, with and without the pixels: leave "
                "out --results, or --each and --model-only"
            )
        content = self._run_arc() if self.name == "arc" else self._run_puzzles()
        if self.json:
            print_json(content)
        if self.out is not None:
            write_json(self.out, content)
            if not self.json:
                say(f"written to {self.out}")

    @property
    def _model(self) -> str:
        return self.model or DEFAULT

    @property
    def _folder(self) -> str:
        """What the folder of the puzzles is called."""
        folder = kiva_root(self.data) if self.name == "kiva" else self.data
        return folder.resolve().stem

    @property
    def _reported_as(self) -> str:
        return reported_as(self.name, self._folder)

    def _content(self, count: int, *, verified: bool) -> dict[str, Any]:
        content = {"benchmark": self.name, "model": self._model, "puzzles": count}
        return {**content, "verified": verified, "provenance": provenance()}

    def _run_puzzles(self) -> dict[str, Any]:
        puzzles = _first(read_benchmark(self.name, self.data), self.each)
        model = load_any(self._model)
        verified = not (self.model_only or isinstance(model, Chooser))
        outcome = run_benchmark(model, puzzles, verify=verified)
        rows = outcome.rows()
        if not self.json:
            self._show(rows, verified=verified)
        self._record(rows)
        records = [vars(record) for record in RECORDS if record.benchmark == self._reported_as]
        return {
            **self._content(len(puzzles), verified=verified),
            "rows": [row.as_json() for row in rows],
            "records": records,
            "missed": _missed(outcome),
        }

    def _record(self, rows: list[BenchmarkRow]) -> None:
        """The rows as records of the ledger, if they are wanted there."""
        if self.results is None:
            return
        bundled, source = self._model in names(), Path(self._model)
        trained = training_of(Run(source)) if not bundled and holds_run(source) else {}
        ledger = BenchmarkLedger(self.results / "ledger" / FOLDER)
        records = benchmark_records(
            rows,
            benchmark=self.name,
            data=self._folder,
            model=self._model if bundled else source.resolve().name,
            weights=weights_digest(self._model),
            run=trained,
        )
        for record in records:
            ledger.write(record)
        if not self.json:
            count = "1 record" if len(records) == 1 else f"{len(records)} records"
            say(f"{count} written to {ledger.folder}; `fine report` shows what is there")

    def _show(self, rows: list[BenchmarkRow], *, verified: bool) -> None:
        table = Table(box=None, pad_edge=False)
        table.add_column("concept", no_wrap=True)
        for name in ("n", "right", "95 % interval", "network alone", "chance"):
            table.add_column(name, justify="right")
        for row in rows:
            low, high = row.interval
            table.add_row(
                f"  {row.parameter}" if row.parameter else row.concept or "all",
                str(row.puzzles),
                f"{row.accuracy:.1%}",
                f"{low:.1%} – {high:.1%}",
                f"{row.accuracy_alone:.1%}",
                f"{row.chance:.1%}",
            )
        console.print(table)
        how = "with rules checked on the pixels" if verified else "the network alone"
        say("", f"{self.name}, {self._model}, {how}")
        for other in OTHERS.get(self._reported_as, ()):
            say(f"{other}: {_reported(self._reported_as, other, rows)}")
        for source in dict.fromkeys(r.source for r in RECORDS if r.benchmark == self._reported_as):
            say(f"reported numbers were {source}")

    def _run_arc(self) -> dict[str, Any]:
        tasks = read_arc(self.data)
        geometric = [task for task in tasks if task.is_geometric][: self.each]
        model = load(self._model) if geometric else None
        outcomes: list[tuple[ArcOutcome, ArcOutcome]] = []
        for task in geometric:
            assert model is not None
            alone = solve_arc(model, task, verify=False)
            outcomes.append((alone if self.model_only else solve_arc(model, task), alone))
        exact = sum(outcome.exact for outcome, _ in outcomes)
        if not self.json:
            table = Table("task", "hints", "rule", "exact", "network alone")
            for outcome, alone in outcomes:
                hints, said = str(len(outcome.task.train)), (_yes(outcome.exact), _yes(alone.exact))
                table.add_row(outcome.task.name, hints, outcome.rule, *said)
            console.print(table)
            say(
                f"{len(geometric)} of {len(tasks)} tasks are one turn or mirror of the grid; "
                f"{exact} of these exact, {self._model}"
            )
        if geometric:
            self._record([arc_row(outcomes)])
        rows = [
            {"task": one.task.name, "rule": one.rule, "exact": one.exact, "exact_alone": two.exact}
            for one, two in outcomes
        ]
        content = self._content(len(geometric), verified=not self.model_only)
        return {**content, "tasks": len(tasks), "exact": exact, "rows": rows}


def _first(puzzles: Sequence[BenchmarkPuzzle], each: int | None) -> Sequence[BenchmarkPuzzle]:
    """The first few puzzles of each concept and parameter."""
    if each is None:
        return puzzles
    counts: dict[tuple[str, str], int] = {}
    kept = []
    for puzzle in puzzles:
        kind = (puzzle.concept, puzzle.parameter)
        counts[kind] = counts.get(kind, 0) + 1
        if counts[kind] <= each:
            kept.append(puzzle)
    return kept


def _missed(outcome: BenchmarkOutcome) -> list[str]:
    pairs = zip(outcome.puzzles, outcome.answers, strict=True)
    return [puzzle.name for puzzle, answer in pairs if answer.index != puzzle.answer]


def _reported(benchmark: str, model: str, rows: list[BenchmarkRow]) -> str:
    """What another model reached on the concepts of a table, in words."""
    parts = []
    for row in rows:
        record = None if row.parameter else find_record(benchmark, model, row.concept)
        if record is not None:
            parts.append(f"{row.concept} {record.low:.0%} – {record.high:.0%}")
    return ", ".join(parts) or "not known to us"


def _yes(value: bool) -> str:
    return "yes" if value else "no"
