"""`fine report`"""

from pathlib import Path
from typing import Annotated

import tyro

from fine.cli.arguments import options
from fine.cli.options import Protocol, find_protocol
from fine.cli.terminal import say
from fine.errors import FineError
from fine.experiments.benchmark_ledger import FOLDER, BenchmarkLedger
from fine.experiments.catalogue import EXPERIMENTS, make_experiment
from fine.experiments.comparison import compare
from fine.experiments.leaderboard import leaderboard
from fine.experiments.ledger import Ledger
from fine.report import write_report
from fine.report.facts import Facts
from fine.report.leaderboard import PAGE as LEADERBOARD


@options()
class Report:
    """Write what has been run as a page of tables and figures beside the paper's numbers, and as
    Markdown and LaTeX."""

    names: Annotated[
        tuple[str, ...],
        tyro.conf.Positional,
        tyro.conf.arg(
            metavar="[NAME …]", help=f"{', '.join(EXPERIMENTS)}; all of them if none is named."
        ),
    ] = ()
    results: Path = Path("results")
    """Folder of the ledger, and of what is written: report.html, leaderboard.html and tables/."""
    out: Path | None = None
    """Folder to write to, if not the one of the ledger."""
    protocol: Protocol = "quick"
    images: str = ""
    """Show what was run over other images than the paper's, such as glyphs."""

    def run(self) -> None:
        training = find_protocol(self.protocol)
        ledger = Ledger(self.results / "ledger")
        if not ledger.folder.is_dir():
            raise FineError(
                f"there is no ledger at {ledger.folder}: make one with `fine reproduce table1`, or "
                "give --results"
            )
        comparisons = [
            compare(make_experiment(name, training=training, images=self.images), ledger)
            for name in self.names or sorted(EXPERIMENTS, key=_order)
        ]
        folder = self.out or self.results
        boards = leaderboard(ledger.records())
        # Experiments that are named are wanted alone.
        benchmarks = [] if self.names else BenchmarkLedger(ledger.folder / FOLDER).records()
        page, *others = write_report(
            comparisons, folder / "report.html", folder / "tables", boards, benchmarks
        )
        tables = [path for path in others if path.parent == folder / "tables"]
        for comparison in comparisons:
            filled = Facts(comparison).named["filled"]
            say(f"{comparison.experiment.name}: {filled} places filled")
        say(f"written to {page}, and {len(tables)} tables to {tables[0].parent}")
        say(f"every model in one list: {folder / LEADERBOARD}")


def _order(name: str) -> tuple[bool, bool, str]:
    """The paper's tables first, then its figures, then what it does not have."""
    of_the_paper = name.startswith(("table", "figure")) or name == "scaling"
    return not of_the_paper, not name.startswith("table"), name
