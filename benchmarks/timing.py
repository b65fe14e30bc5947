"""Fair timing on a machine that does other things too: candidates take turns, and the median counts."""

import os
import time
from collections.abc import Callable, Sequence
from statistics import median

from rich.console import Console
from rich.table import Table

Row = Sequence[str]


def take_turns(candidates: Sequence[Callable[[], object]], *, rounds: int, repeats: int = 1) -> list[list[float]]:
    """Seconds a call of each candidate, round by round (A B A B …), after one round that does not count."""
    seconds: list[list[float]] = [[] for _ in candidates]
    for number in range(rounds + 1):
        for candidate, taken in zip(candidates, seconds, strict=True):
            started = time.perf_counter()
            for _ in range(repeats):
                candidate()
            if number:
                taken.append((time.perf_counter() - started) / repeats)
    return seconds


def median_ratio(above: Sequence[float], below: Sequence[float]) -> float:
    """The median over rounds of one candidate's time in units of another's."""
    return median(one / two for one, two in zip(above, below, strict=True))


def rate(things: int, seconds: Sequence[float]) -> float:
    """Things a second, in the median round."""
    return things / median(seconds)


def verdict(met: bool) -> str:
    """ok or missed, in colour."""
    return "[green]ok[/]" if met else "[red]missed[/]"


def show(title: str, columns: Row, rows: Sequence[Row]) -> None:
    """A small table, and how busy the machine was: one that is in use by others runs slower."""
    table = Table(*columns, title=title, title_justify="left")
    for row in rows:
        table.add_row(*row)
    console = Console(width=None if os.isatty(1) else 120)
    console.print(table)
    console.print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n", highlight=False)
