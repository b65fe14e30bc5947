"""Requests in batches and results made once: many visitors get the answers of a single one."""

import asyncio
import threading
import time

import httpx2
import pytest

from fine.demo.app import make_app
from fine.demo.batching import Batcher, TooBusyError
from fine.demo.caching import made_once
from support.demo import MODEL


def test_requests_that_arrive_together_are_answered_together():
    sizes: list[int] = []

    def squares(requests):
        sizes.append(len(requests))
        return [request**2 for request in requests]

    async def ask_all(batcher):
        return await asyncio.gather(*(batcher.ask(number) for number in range(96)))

    batcher = Batcher(squares, gather=60, most=32)  # full batches do not wait
    assert asyncio.run(ask_all(batcher)) == [number**2 for number in range(96)]
    batcher.close()
    assert sizes == [32, 32, 32] and batcher.answered == 96 and batcher.batches == 3


def test_a_request_that_fails_fails_alone():
    def inverse(requests):
        return [1 / request for request in requests]

    async def ask_all(batcher):
        answers = (batcher.ask(number) for number in (1, 0, 2))
        return await asyncio.gather(*answers, return_exceptions=True)

    batcher = Batcher(inverse, gather=60, most=3)
    one, error, half = asyncio.run(ask_all(batcher))
    batcher.close()
    assert (one, half) == (1, 0.5) and isinstance(error, ZeroDivisionError)


def test_a_full_queue_refuses_and_recovers():
    go = threading.Event()

    def slowly(requests):
        assert go.wait(30)
        return requests

    async def crowd(batcher):
        tasks = [asyncio.ensure_future(batcher.ask(number)) for number in range(20)]
        # All are refused but the one at work and the five that wait, and maybe one more.
        while sum(task.done() for task in tasks) < 20 - 1 - 5 - 1:
            await asyncio.sleep(0.001)
        go.set()
        answers = await asyncio.gather(*tasks, return_exceptions=True)
        return answers, await batcher.ask("later")

    batcher = Batcher(slowly, gather=0, most=1, waiting=5)
    answers, later = asyncio.run(crowd(batcher))
    batcher.close()
    refused = [answer for answer in answers if isinstance(answer, TooBusyError)]
    answered = [answer for answer in answers if not isinstance(answer, TooBusyError)]
    assert 13 <= len(refused) <= 15 and later == "later"
    assert answered == list(range(20 - len(refused)))


@pytest.mark.slow
def test_two_hundred_visitors_at_once_are_all_answered(puzzle):
    """The whole stack but the network: each answer is the one that a single visitor gets."""
    app = make_app([MODEL])

    async def all_visits():
        transport = httpx2.ASGITransport(app=app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://demo") as client:
            alone = (await client.post("/api/solve", json=puzzle)).json()
            visits = (client.post("/api/solve", json=puzzle) for _ in range(200))
            return alone, await asyncio.gather(*visits)

    alone, responses = asyncio.run(all_visits())
    batcher = app.state.batcher
    batcher.close()
    assert [response.status_code for response in responses] == [200] * 200
    for response in responses:
        assert response.json()["index"] == alone["index"]
        assert response.json()["probabilities"] == pytest.approx(alone["probabilities"], abs=1e-5)
    assert batcher.answered == 201


def test_what_many_threads_need_at_once_is_made_once():
    made, everyone = [], threading.Barrier(16)

    @made_once(2)
    def make(name):
        made.append(name)
        time.sleep(0.05)  # long enough for the other threads to arrive
        return name * 2

    def ask(answers):
        everyone.wait()
        answers.append(make("map"))

    answers: list[str] = []
    threads = [threading.Thread(target=ask, args=(answers,)) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == ["map"] and answers == ["mapmap"] * 16
