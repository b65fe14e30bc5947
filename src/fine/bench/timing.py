"""Fair timing on a busy machine: candidates take turns, and the median counts."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median


class TimeIsUp(Exception):  # noqa: N818 - no error, but the end of what was asked for
    """There is no time left for a measurement."""


@dataclass(frozen=True)
class Limit:
    """How long a measurement may take, in moments of ``time.monotonic``."""

    enough: float = math.inf
    """After it, only the one round that a result needs is started."""
    end: float = math.inf
    """Nothing is started after it."""

    def check(self) -> None:
        """Raise `TimeIsUp` after the end."""
        if time.monotonic() > self.end:
            raise TimeIsUp


def take_turns(
    candidates: Sequence[Callable[[], object]],
    *,
    rounds: int,
    clock: Callable[[], float] = time.perf_counter,
    limit: Limit = Limit(),  # noqa: B008 - it is frozen
) -> list[list[float]]:
    """Seconds of each candidate, round by round (A B A B …), after one round that does not count.

    For shares and ratios on one thread give ``time.process_time``: it stops while another process
    has the core, which happens to long candidates more than to short ones. At the end of the
    ``limit`` a round that is under way is given up; without a whole one, `TimeIsUp` is raised.
    """
    counted: list[list[float]] = []
    for number in range(rounds + 1):
        if counted and time.monotonic() > limit.enough:
            break
        try:
            taken = [_seconds(candidate, clock, limit) for candidate in candidates]
        except TimeIsUp:
            if not counted:
                raise
            break
        if number:
            counted.append(taken)
    return [list(times) for times in zip(*counted, strict=True)]


def _seconds(candidate: Callable[[], object], clock: Callable[[], float], limit: Limit) -> float:
    limit.check()
    started = clock()
    candidate()
    return clock() - started


def median_ratio(above: Sequence[float], below: Sequence[float]) -> float:
    """The median over rounds of one candidate's time relative to another's."""
    return median(one / two for one, two in zip(above, below, strict=True))
