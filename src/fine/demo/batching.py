"""Requests that arrive together are answered together: one thread, one model call for many.

    batcher = Batcher(answer_all)              # answer_all: requests -> answers, in the same order
    answer = await batcher.ask(request)

The thread takes the first request, waits a few milliseconds for others, and answers all at once.
"""

import asyncio
import contextlib
import queue
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Generic, TypeVar

Request = TypeVar("Request")
Answer = TypeVar("Answer")

GATHER = 0.004
"""Seconds to wait for other requests after the first."""
MOST = 32
"""Requests in a batch; more gain nothing and keep the first one waiting."""


class Batcher(Generic[Request, Answer]):
    """Answers requests in batches, on a thread of its own."""

    def __init__(
        self,
        answer_all: Callable[[Sequence[Request]], Sequence[Answer]],
        *,
        gather: float = GATHER,
        most: int = MOST,
    ):
        self.answer_all, self.gather, self.most = answer_all, gather, most
        self.batches, self.answered = 0, 0
        self._queue: queue.Queue[tuple[Request, Future[Answer]] | None] = queue.Queue()
        self._thread = threading.Thread(target=self._work, name="batcher", daemon=True)
        self._thread.start()

    async def ask(self, request: Request) -> Answer:
        """The answer, as soon as its batch is done."""
        future: Future[Answer] = Future()
        self._queue.put((request, future))
        return await asyncio.wrap_future(future)

    def close(self) -> None:
        """Cancel the requests that wait, finish the batch at work, and end the thread."""
        with contextlib.suppress(queue.Empty):
            while entry := self._queue.get_nowait():
                entry[1].cancel()
        self._queue.put(None)
        self._thread.join()

    def _work(self) -> None:
        while batch := self._next_batch():
            # A request whose visitor has left is cancelled.
            wanted = [entry for entry in batch if entry[1].set_running_or_notify_cancel()]
            if not wanted:
                continue
            self.batches += 1
            self.answered += len(wanted)
            try:
                answers = self.answer_all([request for request, _ in wanted])
            except Exception as problem:
                self._answer_one_by_one(wanted, problem)
            else:
                for (_, future), answer in zip(wanted, answers, strict=True):
                    future.set_result(answer)

    def _next_batch(self) -> list[tuple[Request, Future[Answer]]]:
        """The next requests; empty once the batcher is closed."""
        first = self._queue.get()
        if first is None:
            return []
        batch = [first]
        until = time.monotonic() + self.gather
        while len(batch) < self.most:
            try:
                entry = self._queue.get(timeout=max(0, until - time.monotonic()))
            except queue.Empty:
                break
            if entry is None:
                self._queue.put(None)  # ends the next round
                break
            batch.append(entry)
        return batch

    def _answer_one_by_one(
        self, wanted: list[tuple[Request, Future[Answer]]], problem: Exception
    ) -> None:
        """After a batch has failed: only the requests that fail by themselves get an error."""
        for request, future in wanted:
            try:
                if len(wanted) == 1:
                    raise problem
                future.set_result(self.answer_all([request])[0])
            except Exception as own_problem:
                future.set_exception(own_problem)
