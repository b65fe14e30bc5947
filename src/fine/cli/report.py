"""`fine report`"""

from dataclasses import dataclass
from pathlib import Path

import tyro

from fine.cli.terminal import OptionalPath, say
from fine.errors import FineError, unknown
from fine.experiments.catalogue import EXPERIMENTS, make_experiment
from fine.experiments.comparison import compare
from fine.experiments.ledger import Ledger
from fine.protocols import PROTOCOLS
from fine.report import write_report
from fine.report.facts import Facts


@dataclass(frozen=True)
class Report:
    """Write what has been run as a page of tables and figures beside the paper's numbers, and as Markdown and LaTeX."""

    names: tyro.conf.Positional[tuple[str, ...]] = ()
    """table1, table2, table3, table4, figure-memories, figure-training-size, figure-map, scaling, fresh, longer;
    hints, hints-by-family, backwards, chains, powers, odd-one-out, trained-for-it, noticing, refusing, calibration, slots;
    strings, continual, memory; none: all of them."""
    results: Path = Path("results")
    """Folder of the ledger, and of what is written: report.html and tables/."""
    out: OptionalPath = None
    """Folder to write to, if not the one of the ledger."""
    protocol: str = "quick"
    """Show what was trained this way: quick or paper."""
    images: str = ""
    """Show what was run over other pictures than the paper's, such as glyphs."""

    def run(self) -> None:
        if self.protocol not in PROTOCOLS:
            raise unknown("protocol", self.protocol, PROTOCOLS)
        ledger = Ledger(self.results / "ledger")
        if not ledger.folder.is_dir():
            raise FineError(f"there is no ledger at {ledger.folder}: make one with `fine reproduce table1`, or give --results")
        training = PROTOCOLS[self.protocol]
        names = self.names or sorted(EXPERIMENTS, key=_order)
        comparisons = [compare(make_experiment(name, training=training, images=self.images), ledger) for name in names]
        folder = self.out or self.results
        page, *tables = write_report(comparisons, folder / "report.html", folder / "tables")
        for comparison in comparisons:
            say(f"{comparison.experiment.name}: {Facts(comparison).named['filled']} places filled")
        say(f"written to {page}, and {len(tables)} tables to {tables[0].parent}")


def _order(name: str) -> tuple[bool, bool, str]:
    """The paper's tables first, then its figures, then what it does not have."""
    of_the_paper = name.startswith(("table", "figure")) or name == "scaling"
    return not of_the_paper, not name.startswith("table"), name
