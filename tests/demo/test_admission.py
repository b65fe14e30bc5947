"""Admission: nobody waits for long, newcomers come in, and those who ask too often pause."""

import asyncio
import contextlib
import math

import pytest

from fine.demo import admission
from fine.demo.admission import (
    FEWEST,
    FIRST_REQUESTS,
    LONGEST_WAIT,
    MOST,
    SHARE_OF_REGULARS,
    Admission,
    TooBusyError,
)


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch):
    monkeypatch.setattr(admission, "PAUSE", 0)


async def come_in(door: Admission, client: object, inside: contextlib.AsyncExitStack) -> bool:
    """Whether a request is let in; it stays in progress."""
    try:
        await inside.enter_async_context(door.admit(client))
    except TooBusyError:
        return False
    return True


async def crowd(door: Admission, clients: object) -> int:
    """How many of the requests that come at once are let in."""
    async with contextlib.AsyncExitStack() as inside:
        return sum([await come_in(door, client, inside) for client in clients])


async def answer_at_pace(door: Admission, clock: Clock, seconds: float, count: int) -> None:
    """A busy server: there are always 20 requests in progress, and one leaves every ``seconds``."""
    inside = [door.admit(f"early {number}") for number in range(20)]
    for one in inside:
        await one.__aenter__()
    for number in range(count):
        clock.now += seconds
        await inside.pop(0).__aexit__(None, None, None)
        inside.append(door.admit(f"later {number}"))
        await inside[-1].__aenter__()
    for one in inside:
        clock.now += seconds
        await one.__aexit__(None, None, None)


@pytest.mark.parametrize("seconds", [0.001, 0.008, 0.02, 0.5])
def test_as_many_are_let_in_as_can_be_answered_in_time(seconds):
    clock = Clock()
    door = Admission(clock=clock)

    async def measure_and_crowd() -> int:
        await answer_at_pace(door, clock, seconds, 100)
        assert door.pace == pytest.approx(seconds)
        return await crowd(door, range(1000))

    inside = asyncio.run(measure_and_crowd())
    assert inside == min(MOST, max(FEWEST, round(LONGEST_WAIT / seconds)))


def test_a_batch_that_is_answered_at_once_is_no_fast_server():
    """32 answers in the same moment, then nothing for 0.64 s: 20 ms each."""
    clock = Clock()
    door = Admission(clock=clock)

    async def batches() -> None:
        for number in range(6):
            async with contextlib.AsyncExitStack() as inside:
                for client in range(32):
                    await inside.enter_async_context(door.admit((number, client)))
                clock.now += 0.64

    asyncio.run(batches())
    assert door.pace == pytest.approx(0.64 / 32, rel=0.3)


def test_time_without_requests_is_not_taken_for_slowness():
    clock = Clock()
    door = Admission(clock=clock)

    async def visits() -> None:
        for number in range(100):
            clock.now += 60
            async with door.admit(number):
                clock.now += 5

    asyncio.run(visits())
    assert door.pace == Admission().pace


def test_those_who_ask_without_a_pause_leave_room_for_newcomers():
    door = Admission()

    async def both() -> tuple[int, int, float]:
        for client in range(10):
            await crowd(door, [client] * FIRST_REQUESTS)
        room = door.room
        async with contextlib.AsyncExitStack() as inside:
            regulars = [await come_in(door, number % 10, inside) for number in range(1000)]
            newcomers = [await come_in(door, f"new {number}", inside) for number in range(1000)]
            return sum(regulars), sum(newcomers), room

    regulars, newcomers, room = asyncio.run(both())
    assert regulars == math.ceil(room * SHARE_OF_REGULARS)
    assert regulars + newcomers == math.ceil(room)


def test_the_refusal_says_when_to_come_back():
    clock = Clock()
    door = Admission(clock=clock)

    async def fill() -> int:
        await answer_at_pace(door, clock, 0.1, 100)
        async with contextlib.AsyncExitStack() as inside:
            for client in range(FEWEST):
                assert await come_in(door, client, inside)
            with pytest.raises(TooBusyError) as refused:
                await inside.enter_async_context(door.admit("one more"))
        return refused.value.retry_after

    assert asyncio.run(fill()) == 5  # 48 requests at 0.1 s
    assert TooBusyError(0).retry_after == 1 and TooBusyError(1e9).retry_after == 30


def test_a_regular_that_is_refused_pauses_and_a_newcomer_does_not(monkeypatch):
    monkeypatch.setattr(admission, "PAUSE", 0.05)
    door = Admission(most=12)

    async def ask_again() -> tuple[float, float]:
        clock = asyncio.get_running_loop().time
        async with contextlib.AsyncExitStack() as inside:
            for client in range(12):
                assert await come_in(door, client, inside)
            for _ in range(FIRST_REQUESTS):
                assert not await come_in(door, "often", inside)
            times = []
            for client in ("once", "often"):
                started = clock()
                assert not await come_in(door, client, inside)
                times.append(clock() - started)
            return times

    newcomer, regular = asyncio.run(ask_again())
    assert newcomer < 0.05 <= regular + 1e-3


def test_no_more_than_the_most_pause(monkeypatch):
    """Connections that pause cannot be closed for others, so there must not be too many."""
    monkeypatch.setattr(admission, "PAUSE", 30)
    door = Admission(most=4)

    async def crowd_of_regulars() -> int:
        async with contextlib.AsyncExitStack() as inside:
            for client in range(4):
                await come_in(door, client, inside)
            for _ in range(FIRST_REQUESTS):
                await come_in(door, "often", inside)
            asked = [asyncio.ensure_future(come_in(door, "often", inside)) for _ in range(50)]
            done, pausing = await asyncio.wait(asked, timeout=0.05)
            for one in pausing:
                one.cancel()
            await asyncio.gather(*asked, return_exceptions=True)
            assert len(done) == 46 and not any(one.result() for one in done)
            return len(pausing)

    assert asyncio.run(crowd_of_regulars()) == 4
    assert door.pausing == door.in_progress == 0


def test_clients_are_not_remembered_for_ever():
    door = Admission()
    assert asyncio.run(crowd_one_by_one(door, 10_000)) == 10_000
    assert len(door._asked) <= 4096


async def crowd_one_by_one(door: Admission, count: int) -> int:
    return sum([await crowd(door, [client]) for client in range(count)])
