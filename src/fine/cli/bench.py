"""`fine bench`"""

from dataclasses import dataclass

from rich.table import Table

from fine.bench import Measured, measure, read_bench
from fine.cli.terminal import OptionalPath, console, say
from fine.errors import FineError


@dataclass(frozen=True)
class Bench:
    """Measure what fine costs on this machine: speeds of every model, parts of a step, use of the processor, growth."""

    out: OptionalPath = None
    """Keep the numbers in this JSON file."""
    compare: OptionalPath = None
    """A JSON file of an earlier bench: also show every number in units of what it was then."""
    seconds: float = 120.0
    """About how long to measure; less is less exact."""

    def run(self) -> None:
        if not 0 < self.seconds <= 3600:
            raise FineError(f"seconds is {self.seconds}: give more than 0 and at most 3600")
        old = None if self.compare is None else read_bench(self.compare)  # refuse a wrong file before the work, not after it
        with console.status("measuring") as status:
            bench = measure(seconds=self.seconds, say=lambda what: status.update(f"measuring: {what}"))
        for table in bench.tables:
            show(table)
        if old is not None:
            for table in bench.against(old):
                show(table)
            say(f"then: {', '.join(old.made_by.values())}")
        say(f"CPU time of one thread, medians of rounds in which all take turns; measured in {bench.seconds:.0f} seconds")
        if self.out is not None:
            bench.save(self.out)
            say(f"kept: {self.out}")


def show(measured: Measured) -> None:
    """A table of numbers."""
    table = Table(measured.of, title=measured.title, title_justify="left", caption=measured.note, caption_justify="left")
    for column in measured.columns:
        table.add_column(column, justify="right")
    for row, numbers in measured.rows.items():
        table.add_row(row, *(as_text(numbers.get(column)) for column in measured.columns))
    console.print(table)


def as_text(number: float | None) -> str:
    """A number with about three digits."""
    if number is None:
        return "·"
    return f"{number:,.0f}" if abs(number) >= 100 else f"{number:.1f}" if abs(number) >= 10 else f"{number:.2f}"
