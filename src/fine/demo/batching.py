"""Questions that come in together are answered together: one thread, one model call for many.

    batcher = Batcher(answer_all)              # answer_all: list of questions -> list of answers, in the same order
    answer = await batcher.ask(question)

The thread takes the first question that waits, gathers what else comes within a few milliseconds, and answers all at once.
"""

import asyncio
import queue
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Generic, TypeVar

Question = TypeVar("Question")
Answer = TypeVar("Answer")

GATHER = 0.004
"""Seconds to wait for company after the first question."""
MOST = 32
"""Questions answered at once; more gain nothing and keep the first one waiting."""
WAITING = 1024
"""Questions that may wait; one more is turned away."""


class TooBusyError(Exception):
    """Too many questions wait already."""


class Batcher(Generic[Question, Answer]):
    """Answers questions in batches, on a thread of its own."""

    def __init__(
        self,
        answer_all: Callable[[Sequence[Question]], Sequence[Answer]],
        *,
        gather: float = GATHER,
        most: int = MOST,
        waiting: int = WAITING,
    ):
        self.answer_all, self.gather, self.most = answer_all, gather, most
        self.batches, self.answered = 0, 0
        self._queue: queue.Queue[tuple[Question, Future[Answer]] | None] = queue.Queue(waiting)
        self._thread = threading.Thread(target=self._work, name="batcher", daemon=True)
        self._thread.start()

    async def ask(self, question: Question) -> Answer:
        """The answer, as soon as its batch is done; TooBusyError if the queue is full."""
        future: Future[Answer] = Future()
        try:
            self._queue.put_nowait((question, future))
        except queue.Full:
            raise TooBusyError from None
        return await asyncio.wrap_future(future)

    def close(self) -> None:
        """Answer what waits, then end the thread."""
        self._queue.put(None)
        self._thread.join()

    def _work(self) -> None:
        while batch := self._next_batch():
            wanted = [(question, future) for question, future in batch if future.set_running_or_notify_cancel()]
            if not wanted:
                continue
            self.batches, self.answered = self.batches + 1, self.answered + len(wanted)
            try:
                answers = self.answer_all([question for question, _ in wanted])
            except Exception as problem:
                self._answer_one_by_one(wanted, problem)
            else:
                for (_, future), answer in zip(wanted, answers, strict=True):
                    future.set_result(answer)

    def _next_batch(self) -> list[tuple[Question, Future[Answer]]]:
        """The next questions; empty when there will be no more."""
        first = self._queue.get()
        if first is None:
            return []
        batch, until = [first], time.monotonic() + self.gather
        while len(batch) < self.most:
            try:
                item = self._queue.get(timeout=max(0, until - time.monotonic()))
            except queue.Empty:
                break
            if item is None:
                self._queue.put(None)  # for the next round
                break
            batch.append(item)
        return batch

    def _answer_one_by_one(self, wanted: list[tuple[Question, Future[Answer]]], problem: Exception) -> None:
        """One question that cannot be answered must not take its neighbours with it."""
        for question, future in wanted:
            try:
                if len(wanted) == 1:
                    raise problem
                future.set_result(self.answer_all([question])[0])
            except Exception as own_problem:
                future.set_exception(own_problem)
