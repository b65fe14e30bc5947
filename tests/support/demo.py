"""What tests of the demo share: the app served on a loopback port, requests, and refusals."""

import http.client
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple
from urllib.parse import urlsplit

from starlette.types import ASGIApp

from fine.demo.connections import CONNECTIONS, PATIENCE
from fine.demo.guarding import HEADERS
from fine.demo.serving import Server, address_of, listen

MODEL = "all-glyphs"


@contextmanager
def served(
    app: ASGIApp, *, connections: int = CONNECTIONS, patience: float = PATIENCE
) -> Iterator[str]:
    """Serve the app from a thread of this process; gives its address."""
    with listen("127.0.0.1", 0) as listening:
        server = Server(app, connections=connections, patience=patience)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        while not server.started:
            time.sleep(0.01)
        try:
            yield address_of(listening)
        finally:
            server.should_exit = True
            thread.join()


class RawAnswer(NamedTuple):
    """An answer as it came over the network."""

    status: int
    headers: http.client.HTTPMessage
    content: bytes


def connect(address: str) -> socket.socket:
    """A connection that has said nothing yet."""
    at = urlsplit(address)
    return socket.create_connection((at.hostname, at.port), timeout=60)


def read_answer(connection: socket.socket) -> RawAnswer:
    """The next answer on a connection."""
    response = http.client.HTTPResponse(connection)
    response.begin()
    return RawAnswer(response.status, response.headers, response.read())


def get(path: str = "/", *, host: str = "localhost") -> bytes:
    """A request as it goes over the network."""
    return f"GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()


def play_request(glyphs: list[str], **changes: object) -> dict[str, object]:
    """A quarter turn of the first glyph, and the second glyph as x'."""
    steps = [{"family": "rotation", "parameters": [90]}]
    request = {"model": MODEL, "source": "glyphs", "x": glyphs[0], "new": glyphs[1]}
    return request | {"steps": steps} | changes


def assert_refused(response, reason: str, status: int = 422) -> None:
    """One line that has one of the reasons, which are separated by |; and all headers."""
    assert response.status_code == status
    assert list(response.json()) == ["error"]
    line = response.json()["error"]
    assert "\n" not in line and len(line) < 300
    assert any(part in line for part in reason.split("|")), line
    assert_guarded(response.headers)


def assert_guarded(headers: Mapping[str, str]) -> None:
    """An answer, whatever it is, carries the security headers."""
    assert {name: headers.get(name) for name in HEADERS} == HEADERS
