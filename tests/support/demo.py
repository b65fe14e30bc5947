"""What tests of the demo share: the app served on a loopback port, requests, and refusals."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from fastapi import FastAPI

from fine.demo.serving import address_of, listen

MODEL = "all-glyphs"


@contextmanager
def served(app: FastAPI, *, log_level: str = "warning") -> Iterator[str]:
    """Serve the app from a thread of this process; gives its address."""
    with listen("127.0.0.1", 0) as listening:
        config = uvicorn.Config(app, log_level=log_level, timeout_graceful_shutdown=2)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        while not server.started:
            time.sleep(0.01)
        yield address_of(listening)
        server.should_exit = True
        thread.join()


def play_request(glyphs: list[str], **changes: object) -> dict[str, object]:
    """A quarter turn of the first glyph, and the second glyph as x'."""
    steps = [{"family": "rotation", "parameters": [90]}]
    request = {"model": MODEL, "source": "glyphs", "x": glyphs[0], "new": glyphs[1]}
    return request | {"steps": steps} | changes


def assert_refused(response, reason: str, status: int = 422) -> None:
    """One line that has one of the reasons, which are separated by |."""
    assert response.status_code == status
    assert list(response.json()) == ["error"]
    line = response.json()["error"]
    assert "\n" not in line and len(line) < 300
    assert any(part in line for part in reason.split("|")), line
