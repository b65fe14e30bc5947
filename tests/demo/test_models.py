"""The threads behind the page: who needs little is not kept waiting by who needs much."""

import asyncio
import threading

import pytest
import torch

from fine.demo.models import Models
from fine.errors import FineError
from fine.inference import PuzzleImages
from support.demo import MODEL


@pytest.fixture(scope="module")
def models():
    models = Models([MODEL])
    yield models
    models.close()


def test_what_takes_long_is_done_once(models):
    calls = []

    async def twice() -> None:
        for _ in range(2):
            await models.prepare(calls.append, "map")
        await models.prepare(calls.append, "another map")

    asyncio.run(twice())
    assert calls == ["map", "another map"]


def test_what_could_not_be_prepared_is_refused_each_time(models):
    def refuse(name: str) -> None:
        raise FineError(name)

    for _ in range(2):
        with pytest.raises(FineError, match="no such images"):
            asyncio.run(models.prepare(refuse, "no such images"))


def test_work_goes_on_while_others_prepare(models):
    go = threading.Event()

    async def work_meanwhile() -> int:
        slow = [asyncio.ensure_future(models.prepare(go.wait, 30 + n)) for n in range(10)]
        answer = await models.work(sum, [1, 2, 3])
        assert not any(task.done() for task in slow)
        go.set()
        await asyncio.gather(*slow)
        return answer

    assert asyncio.run(work_meanwhile()) == 6


def test_once_it_is_closed_everything_is_cancelled():
    models = Models([MODEL])
    models.close()
    for coroutine in (
        models.work(sum, []),
        models.prepare(sum, ()),
        models.solve(MODEL, PuzzleImages(*torch.zeros(3, 1, 32, 32))),
    ):
        with pytest.raises(asyncio.CancelledError):
            asyncio.run(coroutine)
