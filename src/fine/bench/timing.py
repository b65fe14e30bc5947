"""Fair timing on a busy machine: candidates take turns, and the median counts."""

import time
from collections.abc import Callable, Sequence
from statistics import median


def take_turns(
    candidates: Sequence[Callable[[], object]],
    *,
    rounds: int,
    clock: Callable[[], float] = time.perf_counter,
    until: float | None = None,
) -> list[list[float]]:
    """Seconds of each candidate, round by round (A B A B …), after one round that does not count.

    For shares and ratios on one thread give ``time.process_time``: it stops while another process
    has the core, which happens to long candidates more than to short ones. After the moment
    ``until`` of ``time.monotonic`` there are no more rounds than the three that a median needs.
    """
    seconds: list[list[float]] = [[] for _ in candidates]
    for number in range(rounds + 1):
        if until is not None and number > 3 and time.monotonic() > until:
            break
        for candidate, taken in zip(candidates, seconds, strict=True):
            started = clock()
            candidate()
            if number:
                taken.append(clock() - started)
    return seconds


def median_ratio(above: Sequence[float], below: Sequence[float]) -> float:
    """The median over rounds of one candidate's time relative to another's."""
    return median(one / two for one, two in zip(above, below, strict=True))
