"""What benchmarks share: fair timing, and tables with verdicts and the load of the machine."""

import os
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from fine.bench.timing import median_ratio, take_turns

__all__ = ["median_ratio", "show", "take_turns", "verdict"]

Row = Sequence[str]


def others_seconds() -> float:
    """Core-seconds that all other processes have used so far (Linux)."""
    fields = Path("/proc/stat").read_text().split()[1:9]
    user, nice, system, _idle, _wait, *interrupts = map(int, fields)
    ticks = user + nice + system + sum(interrupts)
    return ticks / os.sysconf("SC_CLK_TCK") - sum(os.times()[:4])


STARTED = time.perf_counter(), others_seconds()


def verdict(met: bool) -> str:
    """ok or missed, in colour."""
    return "[green]ok[/]" if met else "[red]missed[/]"


def show(title: str, columns: Row, rows: Sequence[Row]) -> None:
    """A small table, and how busy the machine was with other things meanwhile."""
    table = Table(*columns, title=title, title_justify="left")
    for row in rows:
        table.add_row(*row)
    busy = (others_seconds() - STARTED[1]) / (time.perf_counter() - STARTED[0])
    console = Console(width=None if os.isatty(1) else 120)
    console.print(table)
    load = f"others used {max(0, busy):.1f} of {os.cpu_count()} cores meanwhile\n"
    console.print(load, highlight=False)
