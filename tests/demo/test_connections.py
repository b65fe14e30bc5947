"""Connections: silent and slow visitors are closed, and never keep others out."""

import asyncio
import contextlib
import json
import resource
import socket
import threading
import time

import pytest

from fine.demo import connections
from fine.demo.connections import CONNECTIONS, Turns, most_connections
from support.demo import assert_guarded, connect, get, read_answer, served

LARGE = 20_000_000
"""Bytes: more than the buffers of a connection hold."""


class Answers:
    """A small application: /slow answers when it is told to, /large has a large answer."""

    def __init__(self):
        self.go = threading.Event()
        self.waiting = 0

    async def __call__(self, scope, receive, send) -> None:
        if scope["type"] == "lifespan":
            await receive()
            await send({"type": "lifespan.startup.complete"})
            await receive()
            await send({"type": "lifespan.shutdown.complete"})
            return
        while (await receive()).get("more_body"):
            pass
        if scope["path"] == "/slow":
            self.waiting += 1
            while not self.go.is_set():
                await asyncio.sleep(0.01)
        body = b"x" * (LARGE if scope["path"] == "/large" else 2)
        length = [(b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": length})
        await send({"type": "http.response.body", "body": body})


@pytest.fixture(scope="module")
def address():
    with served(Answers()) as address:
        yield address


@pytest.fixture
def hold():
    """Open connections that stay open until the test ends."""
    with contextlib.ExitStack() as stack:

        def open_connection(address: str, sent: bytes = b"") -> socket.socket:
            connection = stack.enter_context(connect(address))
            connection.sendall(sent)
            return connection

        yield open_connection


def is_closed(connection: socket.socket) -> bool:
    """Whether the server closes a connection, now or within a minute."""
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def test_silent_connections_keep_nobody_out(hold):
    with served(Answers(), connections=8) as address:
        silent = [hold(address) for _ in range(100)]
        visitor = hold(address, get())
        assert read_answer(visitor).status == 200
        assert all(map(is_closed, silent[:-8]))  # the oldest made room


@pytest.mark.slow
def test_connections_in_the_middle_of_a_request_keep_nobody_out(hold):
    with served(Answers(), connections=8) as address:
        body_missing = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n"
        parts = [b"GET / HT", get()[:-2], body_missing] * 20
        slow = [hold(address, part) for part in parts]
        assert read_answer(hold(address, get())).status == 200
        assert all(map(is_closed, slow[:-8]))


@pytest.mark.slow
def test_a_visitor_who_is_being_answered_is_never_closed(hold):
    answers = Answers()
    with served(answers, connections=8, patience=0.2) as address:
        answered = [hold(address, get("/slow")) for _ in range(4)]
        while answers.waiting < 4:
            time.sleep(0.01)
        for _ in range(50):
            hold(address)
        time.sleep(0.4)
        answers.go.set()
        assert [read_answer(connection).status for connection in answered] == [200] * 4


@pytest.mark.slow
@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET / HTTP/1.1\r\nHost",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n",
    ],
    ids=["silent", "half a head", "no body"],
)
def test_a_request_that_does_not_come_is_not_waited_for(hold, sent):
    with served(Answers(), patience=0.3) as address:
        assert is_closed(hold(address, sent))


@pytest.mark.slow
def test_a_request_that_comes_drop_by_drop_is_not_waited_for(hold):
    with served(Answers(), patience=0.5) as address:
        connection = hold(address, b"GET / HTTP/1.1\r\nHost: localhost\r\nX: ")
        drops = 0
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            while drops < 1000:
                connection.sendall(b"x")
                time.sleep(0.02)
                drops += 1
        assert drops < 1000


@pytest.mark.slow
def test_an_answer_that_is_not_taken_is_not_waited_for(hold):
    with served(Answers(), patience=0.3) as address:
        connection = hold(address, get("/large"))
        time.sleep(1)
        taken = 0
        with contextlib.suppress(ConnectionResetError):
            while part := connection.recv(1_000_000):
                taken += len(part)
        assert taken < LARGE


@pytest.mark.slow
def test_a_connection_is_kept_for_the_next_request_but_not_for_ever(hold):
    with served(Answers(), patience=2.0) as address:  # much longer than a busy machine is away
        connection = hold(address)
        for _ in range(4):
            connection.sendall(get())
            assert read_answer(connection).status == 200
            time.sleep(0.6)
        assert is_closed(connection)


@pytest.mark.parametrize(
    "sent",
    [
        b"\x00\x01\x02\r\n\r\n",
        b"GET /\x1b[2J HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: local\x00host\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"GET / HTTP/1.1\r\nX: " + b"x" * 100_000 + b"\r\n\r\n",
    ],
)
def test_what_is_no_http_is_refused_in_one_line_with_the_headers(hold, address, sent):
    answer = read_answer(hold(address, sent))
    assert answer.status == 400
    assert list(json.loads(answer.content)) == ["error"]
    assert_guarded(answer.headers)


def test_nonsense_after_an_answer_ends_the_connection_quietly(hold, caplog):
    head = b"POST /nowhere HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"

    async def impatient(scope, receive, send) -> None:
        """Answers before the body is there."""
        if scope["type"] == "http":
            await send({"type": "http.response.start", "status": 404, "headers": []})
            await send({"type": "http.response.body", "body": b""})

    with served(impatient) as address:
        connection = hold(address, head)
        assert read_answer(connection).status == 404
        connection.sendall(b"nonsense\r\n\r\n")
        assert is_closed(connection)
    assert not [record for record in caplog.records if record.exc_info]


class Transport:
    def __init__(self):
        self.aborted = False

    def abort(self) -> None:
        self.aborted = True


class SilentConnection:
    def __init__(self, *, known: bool = False):
        self.transport = Transport()
        self.known = known


def closed(connections: list[SilentConnection]) -> int:
    return sum(one.transport.aborted for one in connections)


def test_the_one_that_has_kept_us_waiting_longest_is_closed_first():
    now = 0.0
    turns = Turns(most=3, patience=10, clock=lambda: now)
    first, second, third = (SilentConnection() for _ in range(3))
    for now, one in enumerate((first, second, third)):  # noqa: B007 - the clock
        turns.begin(one)
    now = 3.0
    turns.begin(first)  # has asked in the meantime
    turns.end(second)  # is being answered
    turns.make_room()
    assert [one.transport.aborted for one in (first, second, third)] == [False, False, True]
    now = 13.5
    turns.close_overdue()
    assert [one.transport.aborted for one in (first, second, third)] == [True, False, True]
    turns.make_room()  # nobody is left whom it could close
    assert not second.transport.aborted


def test_neither_strangers_nor_acquaintances_push_out_the_others():
    turns = Turns(most=10, patience=10)
    known = [SilentConnection(known=True) for _ in range(5)]
    for one in known:
        turns.begin(one)
    strangers = [SilentConnection() for _ in range(100)]
    for number, one in enumerate(strangers):
        turns.begin(one)
        if number >= 5:
            turns.make_room()
    assert closed(known) == 0 and closed(strangers) == 95
    assert not any(one.transport.aborted for one in strangers[-5:])
    others = [SilentConnection(known=True) for _ in range(100)]
    for one in others:
        turns.begin(one)
        turns.make_room()
    assert closed(strangers) == 95 and closed(known) == 5 and closed(others) == 95


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ((256, 256), 136),
        ((1024, 1_000_000), CONNECTIONS),
        ((1024, 1500), 1380),
        ((1_000_000, 1_000_000), CONNECTIONS),
        ((16, 16), 8),
        ((resource.RLIM_INFINITY, resource.RLIM_INFINITY), CONNECTIONS),
        ((256, resource.RLIM_INFINITY), CONNECTIONS),
    ],
)
def test_there_are_as_many_connections_as_files_may_be_open(monkeypatch, limits, expected):
    now = list(limits)
    monkeypatch.setattr(connections.resource, "getrlimit", lambda kind: tuple(now))
    monkeypatch.setattr(
        connections.resource, "setrlimit", lambda kind, wanted: now.__setitem__(0, wanted[0])
    )
    assert most_connections() == expected
    raised = now[0] if now[0] != resource.RLIM_INFINITY else 10**9
    assert raised >= expected + 120 or expected == 8
