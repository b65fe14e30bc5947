"""The models of a page. Requests to them that arrive together are answered in one batch.

models = Models(["all-glyphs"])
answer = await models.solve("all-glyphs", puzzle)        # as fine.solve gives it
images = await models.work(read, texts)                  # anything else that takes milliseconds
await models.prepare(images_of, "mnist", size=32)        # what takes seconds once, and is kept

Nothing of this is done on the thread of the server, which has all other visitors to attend to; and
those who need what is there do not wait for what is not.
"""

import asyncio
import functools
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from torch import Tensor

from fine.demo.admission import TooBusyError
from fine.demo.batching import MOST, Batcher
from fine.demo.caching import key_of
from fine.demo.solver import (
    ExplainRequest,
    Explanation,
    ModelRequest,
    Reply,
    Solver,
    SolveRequest,
    answer_all,
)
from fine.errors import FineError, unknown
from fine.inference import Answer, PuzzleImages

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
_THREADS = 2
"""Threads for work on images, and as many for what takes long; more would only take turns."""

_LONG_AT_ONCE, _LONG_SECONDS = 4, 3
"""Calls that take seconds, at a time, and how many seconds each takes."""


class Models:
    """Solvers by name, and the batcher that all requests to them go through."""

    def __init__(self, models: Sequence[str], *, most: int = MOST):
        if not models:
            raise FineError("a demo needs at least one model: name one, such as all-glyphs")
        self._solvers = {solver.name: solver for solver in map(Solver.load, models)}
        self.batcher: Batcher[ModelRequest, Reply] = Batcher(
            functools.partial(answer_all, self._solvers), most=most
        )
        self._quick = ThreadPoolExecutor(_THREADS, thread_name_prefix="quick")
        self._slow = ThreadPoolExecutor(_THREADS, thread_name_prefix="slow")
        self._long = ThreadPoolExecutor(1, thread_name_prefix="long")
        self._long_waiting = 0
        self._prepared: set[Hashable] = set()
        self._closed = False

    def __getitem__(self, name: str) -> Solver:
        if name not in self._solvers:
            raise unknown("model", name, self._solvers)
        return self._solvers[name]

    def __iter__(self) -> Iterator[Solver]:
        return iter(self._solvers.values())

    async def work(
        self,
        function: Callable[Arguments, Result],
        *arguments: Arguments.args,
        **options: Arguments.kwargs,
    ) -> Result:
        """Call a function on another thread."""
        return await self._run(self._quick, functools.partial(function, *arguments, **options))

    async def long_work(
        self,
        function: Callable[Arguments, Result],
        *arguments: Arguments.args,
        **options: Arguments.kwargs,
    ) -> Result:
        """Call a function that takes seconds; TooBusyError if too many others are to be called."""
        if self._long_waiting >= _LONG_AT_ONCE:
            raise TooBusyError(_LONG_SECONDS * self._long_waiting)
        self._long_waiting += 1
        try:
            return await self._run(self._long, functools.partial(function, *arguments, **options))
        finally:
            self._long_waiting -= 1

    async def prepare(
        self,
        function: Callable[Arguments, object],
        *arguments: Arguments.args,
        **options: Arguments.kwargs,
    ) -> None:
        """Call a function that keeps its result, so that the next call takes no time."""
        key = function, key_of(*arguments, **options)
        if key not in self._prepared:
            await self._run(self._slow, functools.partial(function, *arguments, **options))
            self._prepared.add(key)

    def close(self) -> None:
        """Finish what is at work, and cancel what is not."""
        self._closed = True
        for threads in (self._slow, self._quick):
            threads.shutdown(cancel_futures=True)
        self._long.shutdown(wait=False, cancel_futures=True)
        self.batcher.close()

    async def solve(self, model: str, puzzle: PuzzleImages) -> Answer:
        """The library's answer to a puzzle."""
        answer = await self._ask(SolveRequest(model, puzzle))
        assert isinstance(answer, Answer)
        return answer

    async def explain(self, model: str, pair: Tensor, *, map: str, most: int) -> Explanation:
        """Up to ``most`` rules for x and y (2, channels, size, size), and a place on a map."""
        explanation = await self._ask(ExplainRequest(model, pair, map, most))
        assert isinstance(explanation, Explanation)
        return explanation

    async def _ask(self, request: ModelRequest) -> Reply:
        if self._closed:
            raise asyncio.CancelledError
        return await self.batcher.ask(request)

    async def _run(self, threads: ThreadPoolExecutor, call: Callable[[], Result]) -> Result:
        if self._closed:
            raise asyncio.CancelledError
        return await asyncio.get_running_loop().run_in_executor(threads, call)
