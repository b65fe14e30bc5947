"""Fair timing on a machine that does other things too: candidates take turns, and the median counts."""

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.table import Table

Row = Sequence[str]


def others_seconds() -> float:
    """Core-seconds that all other processes have used so far (Linux)."""
    user, nice, system, _idle, _wait, *interrupts = map(int, Path("/proc/stat").read_text().split()[1:9])
    return (user + nice + system + sum(interrupts)) / os.sysconf("SC_CLK_TCK") - sum(os.times()[:4])


STARTED = time.perf_counter(), others_seconds()


def take_turns(
    candidates: Sequence[Callable[[], object]], *, rounds: int, clock: Callable[[], float] = time.perf_counter
) -> list[list[float]]:
    """Seconds of each candidate, round by round (A B A B …), after one round that does not count.

    For shares and ratios on one thread give ``time.process_time``: it stops while another process has the core, which else
    befalls long candidates more than short ones.
    """
    seconds: list[list[float]] = [[] for _ in candidates]
    for number in range(rounds + 1):
        for candidate, taken in zip(candidates, seconds, strict=True):
            started = clock()
            candidate()
            if number:
                taken.append(clock() - started)
    return seconds


def median_ratio(above: Sequence[float], below: Sequence[float]) -> float:
    """The median over rounds of one candidate's time in units of another's."""
    return median(one / two for one, two in zip(above, below, strict=True))


def verdict(met: bool) -> str:
    """ok or missed, in colour."""
    return "[green]ok[/]" if met else "[red]missed[/]"


def show(title: str, columns: Row, rows: Sequence[Row]) -> None:
    """A small table, and how busy the machine was with other things meanwhile."""
    table = Table(*columns, title=title, title_justify="left")
    for row in rows:
        table.add_row(*row)
    taken = (others_seconds() - STARTED[1]) / (time.perf_counter() - STARTED[0])
    console = Console(width=None if os.isatty(1) else 120)
    console.print(table)
    console.print(f"others used {max(0, taken):.1f} of {os.cpu_count()} cores meanwhile\n", highlight=False)
