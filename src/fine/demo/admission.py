"""Whom the server answers now and whom it asks to come back: nobody waits for many seconds.

    async with admission.admit(client):        # TooBusyError if the wait would be too long
        ...                                    # answer

The wait is the number of requests in progress times the seconds between two answers, which are
measured while the server is busy. Most of the room is kept for newcomers, so that visitors who ask
without a pause do not keep others out; when those are refused, they are made to pause.
"""

import asyncio
import math
import time
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

LONGEST_WAIT = 1.5
"""Seconds that a request may wait for others; with its own time it is answered within two."""
SHARE_OF_REGULARS = 1 / 3
"""The part of the room that is left to those who have asked often."""
FIRST_REQUESTS = 8
"""A connection is a newcomer for so many requests: a page that opens makes five."""
FEWEST, MOST = 48, 256
"""Requests for which there is room however slow the server is, and however fast."""
PAUSE = 1.0
"""Seconds after which regulars are told that they are refused."""
_BUSY = 8  # requests in progress: only then does the time between two answers tell how fast it is
_USUAL = 0.01  # seconds between two answers, until they are measured
_FASTEST = 1e-6  # a whole batch may be answered between two ticks of the clock
_MEASURED = 64  # answers: two batches, of which each comes all at once after a pause
_REMEMBERED = 4096  # connections


class TooBusyError(Exception):
    """The server has enough to do for the next ``seconds``."""

    def __init__(self, seconds: float):
        super().__init__(seconds)
        self.retry_after = min(30, max(1, math.ceil(seconds)))


class Admission:
    """Counts the requests in progress, and refuses those that would wait too long."""

    def __init__(
        self,
        *,
        longest: float = LONGEST_WAIT,
        most: int = MOST,
        clock: Callable[[], float] = time.monotonic,
    ):
        self.longest, self.most, self.clock = longest, most, clock
        self.in_progress, self.pausing = 0, 0
        self._pauses = deque([_USUAL] * _MEASURED, maxlen=_MEASURED)
        """Seconds between the latest answers, while there was more to do."""
        self._last = 0.0
        """When the last answer was given, or the server became busy."""
        self._asked: OrderedDict[object, int] = OrderedDict()

    @property
    def pace(self) -> float:
        """Seconds between two answers while there is more to do."""
        return sum(self._pauses) / len(self._pauses)

    @property
    def room(self) -> float:
        """How many requests can be in progress without one waiting too long."""
        return min(self.most, max(FEWEST, self.longest / max(self.pace, _FASTEST)))

    @asynccontextmanager
    async def admit(self, client: object) -> AsyncIterator[None]:
        """Let a request of this client in, or raise TooBusyError."""
        newcomer = self._count(client) <= FIRST_REQUESTS
        if self.in_progress >= self.room * (1 if newcomer else SHARE_OF_REGULARS):
            seconds = self.in_progress * self.pace
            if not newcomer:
                await self._pause()
            raise TooBusyError(seconds)
        self.in_progress += 1
        if self.in_progress == _BUSY:
            self._last = self.clock()
        try:
            yield
        finally:
            self._measure()
            self.in_progress -= 1

    async def _pause(self) -> None:
        """Wait, unless too many do: connections that wait here cannot make room for others."""
        if self.pausing >= self.most:
            return
        self.pausing += 1
        try:
            await asyncio.sleep(PAUSE)
        finally:
            self.pausing -= 1

    def _count(self, client: object) -> int:
        """How often a client has asked."""
        times = self._asked.pop(client, 0) + 1
        self._asked[client] = times
        if len(self._asked) > _REMEMBERED:
            self._asked.popitem(last=False)
        return times

    def _measure(self) -> None:
        """Learn from the time since the last answer, unless the server had little to do."""
        if self.in_progress < _BUSY:
            return
        now = self.clock()
        self._pauses.append(now - self._last)
        self._last = now
