"""Connections of visitors: how many there may be, and how long one may keep the server waiting.

uvicorn alone takes every connection until the process may open no more files, and waits for ever
for a request that does not come. Here, whenever it is the visitor's turn (to send a request, or to
take an answer), a clock runs: when it has run out the connection is closed. If there are too many
connections, the one whose visitor has kept the server waiting longest makes room for the new one:
one that has not asked for anything yet, as long as those are in the majority. A connection whose
request is being answered is never closed.
"""

import asyncio
import json
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from fine.demo.guarding import HEADERS

if sys.platform != "win32":
    import resource

CONNECTIONS = 2000
"""Connections at a time, if the process may open that many files."""
PATIENCE = 15.0
"""Seconds for a request to arrive once it has begun, for the next one to begin, for an answer to be
taken."""
ACCEPTED_AT_ONCE = 16
"""Connections that are taken before those there are too many of are closed."""
_SPARE = 120  # open files for all else: libraries, threads, connections just taken or being closed
_FEWEST = 8


def most_connections() -> int:
    """As many as the process may have; its limit on open files is raised if that is allowed."""
    if sys.platform == "win32":
        return CONNECTIONS
    allowed, highest = resource.getrlimit(resource.RLIMIT_NOFILE)
    if allowed == resource.RLIM_INFINITY:
        return CONNECTIONS
    wanted = CONNECTIONS + _SPARE
    if allowed < wanted:
        allowed = wanted if highest == resource.RLIM_INFINITY else min(wanted, highest)
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, highest))
    return max(_FEWEST, min(CONNECTIONS, allowed - _SPARE))


Since = dict["Connection", float]
"""When the turn of visitors has begun; the one that has kept us waiting longest comes first."""


class Turns:
    """Connections whose visitor is to act."""

    def __init__(self, *, most: int, patience: float, clock: Callable[[], float] = time.monotonic):
        self.most, self.patience, self.clock = most, patience, clock
        self._strangers: Since = {}
        self._known: Since = {}
        """Those who have been answered before."""

    def begin(self, connection: "Connection") -> None:
        """It is the visitor's turn from now on."""
        self.end(connection)
        turns = self._known if connection.known else self._strangers
        turns[connection] = self.clock()

    def end(self, connection: "Connection") -> None:
        """It is ours, or the connection is closed."""
        self._strangers.pop(connection, None)
        self._known.pop(connection, None)

    def close_overdue(self) -> None:
        """Close the connections whose time has run out."""
        latest = self.clock() - self.patience
        for turns in (self._strangers, self._known):
            while turns and next(iter(turns.values())) < latest:
                self._close_first(turns)

    def make_room(self) -> None:
        """Close the connection that has kept us waiting longest, if there is any.

        Neither can those who come and say nothing push out those who have been answered, nor the
        other way round.
        """
        many = len(self._strangers) > self.most // 2
        turns = self._strangers if many or not self._known else self._known
        if turns:
            self._close_first(turns)

    def _close_first(self, turns: Since) -> None:
        connection = next(iter(turns))
        self.end(connection)
        connection.transport.abort()  # without waiting for unsent data to be taken


class ServerConfig(uvicorn.Config):
    """Settings of the server, and the turns of its connections."""

    def __init__(self, app: ASGIApp, *, most: int, patience: float):
        super().__init__(
            app,
            http=Connection,
            ws="none",
            backlog=ACCEPTED_AT_ONCE,
            log_config=None,
            log_level="warning",
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_keep_alive=int(patience) + 1,  # ours comes first
            timeout_graceful_shutdown=2,
        )
        self.turns = Turns(most=most, patience=patience)


class Connection(H11Protocol):
    """One connection of a visitor."""

    config: ServerConfig

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.turns = self.config.turns
        self.silent = True
        """Nothing of the next request has arrived."""
        self.known = False
        """A request has been answered."""
        self.turns.begin(self)
        if len(self.connections) > self.turns.most:
            self.turns.make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        self.turns.end(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.silent:  # the time for the whole request begins with its first byte
            self.silent = False
            self.turns.begin(self)
        super().data_received(data)
        self._end_turn_if_answering()

    def on_response_complete(self) -> None:
        self.silent = self.known = True
        self.turns.begin(self)
        super().on_response_complete()
        self._end_turn_if_answering()  # the next request may have arrived already

    def pause_writing(self) -> None:
        super().pause_writing()
        self.turns.begin(self)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._end_turn_if_answering()

    def _end_turn_if_answering(self) -> None:
        cycle = self.cycle
        arrived = cycle is not None and not cycle.more_body and not cycle.response_complete
        if arrived and not self.flow.write_paused:
            self.turns.end(self)

    def send_400_response(self, msg: str) -> None:
        """What is no HTTP is refused as everything else is: in one line, with all headers."""
        reason = "this is no request that a browser would send: see /openapi.json"
        body = json.dumps({"error": reason}).encode()
        headers = {
            **HEADERS,
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
            "Connection": "close",
        }
        events: Sequence[Any] = (
            h11.Response(status_code=400, headers=list(headers.items()), reason=b"Bad Request"),
            h11.Data(data=body),
            h11.EndOfMessage(),
        )
        try:
            for event in events:
                self.transport.write(self.conn.send(event))
        except h11.LocalProtocolError:  # another answer is on its way
            self.transport.abort()
        else:
            self.transport.close()
