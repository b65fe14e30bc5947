"""`fine bench`"""

from pathlib import Path

from rich.table import Table

from fine.bench import Measured, measure, read_bench
from fine.cli.arguments import options
from fine.cli.terminal import console, say
from fine.errors import FineError


@options()
class Bench:
    """Measure what fine costs on this machine: the speed of every model, the parts of a step, the
    use of the processor, and how costs grow."""

    out: Path | None = None
    """Write the numbers to this JSON file."""
    compare: Path | None = None
    """A JSON file of an earlier bench: also show every number relative to the one in it."""
    seconds: float = 120.0
    """About how long to measure; less is less exact."""

    def run(self) -> None:
        if not 0 < self.seconds <= 3600:
            raise FineError(f"seconds is {self.seconds}: give more than 0 and at most 3600")
        # A wrong file is refused before the work, not after it.
        old = None if self.compare is None else read_bench(self.compare)
        with console.status("measuring") as status:
            bench = measure(
                seconds=self.seconds, say=lambda what: status.update(f"measuring: {what}")
            )
        for table in bench.tables:
            show(table)
        if old is not None:
            for table in bench.against(old):
                show(table)
            say(f"compared with: {', '.join(old.made_by.values())}")
        say(
            "CPU time of one thread, medians of rounds in which all take turns; measured in "
            f"{bench.seconds:.0f} seconds"
        )
        if self.out is not None:
            bench.save(self.out)
            say(f"written to {self.out}")


def show(measured: Measured) -> None:
    """A table of numbers."""
    table = Table(
        measured.of,
        title=measured.title,
        title_justify="left",
        caption=measured.note,
        caption_justify="left",
    )
    for column in measured.columns:
        table.add_column(column, justify="right")
    for row, numbers in measured.rows.items():
        table.add_row(row, *(as_text(numbers.get(column)) for column in measured.columns))
    console.print(table)


def as_text(number: float | None) -> str:
    """A number with about three digits."""
    if number is None:
        return "·"
    if abs(number) >= 100:
        return f"{number:,.0f}"
    return f"{number:.1f}" if abs(number) >= 10 else f"{number:.2f}"
