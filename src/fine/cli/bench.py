"""`fine bench`"""

from pathlib import Path

from rich.text import Text

from fine.bench import Measured, measure, read_bench
from fine.bench.results import NAMES
from fine.cli.arguments import options
from fine.cli.tables import print_in_pieces
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
    """How long to measure, in all; less is less exact, and tables for which there is no time are
    left out."""

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
        if left_out := [name for name in NAMES if name not in bench.names]:
            say(f"left out for lack of time: {', '.join(left_out)}; give more --seconds")
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
    """A table of numbers, with its title above and its note below."""
    columns = {
        column: [as_text(numbers.get(column)) for numbers in measured.rows.values()]
        for column in measured.columns
    }
    console.print(Text(measured.title, style="table.title"))
    print_in_pieces(measured.of, columns, list(measured.rows))
    if measured.note:
        console.print(Text(measured.note, style="table.caption"))


def as_text(number: float | None) -> str:
    """A number with about three digits."""
    if number is None:
        return "·"
    if abs(number) >= 100:
        return f"{number:,.0f}"
    return f"{number:.1f}" if abs(number) >= 10 else f"{number:.2f}"
