"""Requests in batches and results made once: many visitors get the answers of a single one."""

import asyncio
import threading
import time

import httpx2
import pytest

from fine.demo.admission import Admission
from fine.demo.app import make_app
from fine.demo.batching import Batcher
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


def test_at_the_end_the_batch_at_work_is_finished_and_no_other():
    working, go = threading.Event(), threading.Event()

    def slowly(requests):
        working.set()
        assert go.wait(30)
        return requests

    async def end(batcher):
        tasks = [asyncio.ensure_future(batcher.ask(number)) for number in range(20)]
        await asyncio.to_thread(working.wait)
        ending = asyncio.ensure_future(asyncio.to_thread(batcher.close))
        done, _ = await asyncio.wait(tasks[1:])
        assert all(task.cancelled() for task in done)
        go.set()
        await ending
        return await tasks[0]

    batcher = Batcher(slowly, gather=0, most=1)
    assert asyncio.run(end(batcher)) == 0
    assert batcher.batches == 1


@pytest.mark.slow
def test_two_hundred_visitors_at_once_are_all_answered(puzzle):
    """The whole stack but the network: each answer is the one that a single visitor gets."""
    app = make_app([MODEL], admission=Admission(longest=600, most=1000))

    async def all_visits():
        transport = httpx2.ASGITransport(app=app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://demo") as client:
            alone = (await client.post("/api/solve", json=puzzle)).json()
            visits = (client.post("/api/solve", json=puzzle) for _ in range(200))
            return alone, await asyncio.gather(*visits)

    alone, responses = asyncio.run(all_visits())
    app.state.models.close()
    batcher = app.state.models.batcher
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


def test_what_is_there_is_not_kept_waiting_by_what_is_not():
    begun, go = threading.Event(), threading.Event()

    @made_once(8)
    def make(name):
        if name == "slow":
            begun.set()
            assert go.wait(30)
        return name

    slow = threading.Thread(target=make, args=("slow",))
    slow.start()
    assert begun.wait(30)
    assert make("quick") == make("quick") == "quick"
    go.set()
    slow.join()
    assert make("slow") == "slow"


def test_what_could_not_be_made_is_tried_again():
    attempts = []

    @made_once(8)
    def make(name):
        attempts.append(name)
        if len(attempts) == 1:
            raise ValueError("not yet")
        return name

    with pytest.raises(ValueError, match="not yet"):
        make("map")
    assert make("map") == make("map") == "map" and len(attempts) == 2


def test_no_more_than_the_most_are_kept():
    made = []

    @made_once(2)
    def make(name, *, size=0):
        made.append((name, size))
        return name

    for name in ("a", "b", "a", "c", "a", "b"):
        make(name)
    make("b", size=1)
    assert made == [("a", 0), ("b", 0), ("c", 0), ("b", 0), ("b", 1)]
