"""Serves the page: finds a free port, opens a browser once the page is ready, ends at Ctrl-C."""

import os
import signal
import socket
import threading
import webbrowser
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

import uvicorn
from starlette.types import ASGIApp

from fine.demo.admission import MOST, Admission
from fine.demo.app import make_app
from fine.demo.connections import PATIENCE, ServerConfig, most_connections
from fine.demo.hosts import names_of
from fine.demo.logs import sparing_log
from fine.errors import FineError

PORT = 8000
"""The first port to try if none is given; the hundredth after it is the last."""
_PORTS = 100
_BACKLOG = 1024  # connections that wait to be taken


def serve(
    models: Sequence[str],
    *,
    host: str,
    port: int | None,
    open_page: bool,
    say: Callable[[str], None],
) -> int:
    """Serve the page until Ctrl-C; ``say`` prints its address. Gives the signal that ended it.

    What was asked before is answered if that takes no more than two seconds. A second Ctrl-C ends
    the process at once.
    """
    with listen(host, port) as listening, sparing_log() as log:
        address = address_of(listening)

        def welcome() -> None:
            say(f"the page is at {address}    Ctrl-C ends it")
            if open_page:  # on a thread, because some browsers keep the caller waiting
                threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()

        connections = most_connections()
        # A third is answered, a third pauses: the others can make room for new connections.
        admission = Admission(most=min(MOST, connections // 3))
        app = make_app(models, names=names_of(host), admission=admission)
        server = Server(app, connections=connections, ready=welcome)

        def stop(number: int, frame: FrameType | None) -> None:
            if server.should_exit:
                os._exit(128 + number)
            log.stop()
            server.should_exit = True
            server.stopped_by = number

        with _at_signals(stop):
            server.run(sockets=[listening])
        return server.stopped_by


class Server(uvicorn.Server):
    """Calls ``ready`` as soon as it answers, and closes connections that keep it waiting."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        connections: int,
        patience: float = PATIENCE,
        ready: Callable[[], None] = lambda: None,
    ):
        self.limits = ServerConfig(app, most=connections, patience=patience)
        super().__init__(self.limits)
        self.ready = ready
        self.stopped_by = 0

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for listening in sockets or ():
            listening.listen(_BACKLOG)  # uvicorn has set it to what is taken at once
        if self.started:
            self.ready()

    async def on_tick(self, counter: int) -> bool:
        """Called ten times a second."""
        self.limits.turns.close_overdue()
        return await super().on_tick(counter)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Whoever starts the server takes care of signals."""
        yield


@contextmanager
def _at_signals(stop: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Call ``stop`` at Ctrl-C, and when the system ends the process."""
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, stop) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def listen(host: str, port: int | None) -> socket.socket:
    """A socket that listens on the port, or on the first free one from 8000 if none is given."""
    if port is not None and not 0 <= port < 2**16:
        raise FineError(f"there is no port {port}: give 1 to 65535, or 0 for any free one")
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError:
        raise FineError(
            f"'{host}' is no address of this machine: give 127.0.0.1, or 0.0.0.0 for the whole "
            "network"
        ) from None
    family, _, _, _, (address, *_) = found[0]
    for candidate in range(PORT, PORT + _PORTS) if port is None else [port]:
        # With the protocol named, asyncio sends small answers at once and not 40 ms later.
        listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((address, candidate))
            listening.listen(_BACKLOG)  # now, so that the port stays ours while models are loaded
        except PermissionError:
            listening.close()
            raise FineError(
                f"port {candidate} is reserved for administrators: give one above 1023"
            ) from None
        except OSError:
            listening.close()
            if port is not None:
                raise FineError(
                    f"port {port} on {host} is taken or not ours: give another --port, or none "
                    "for the next free one"
                ) from None
        else:
            return listening
    last = PORT + _PORTS - 1
    raise FineError(f"ports {PORT} to {last} on {host} are all taken: give another --port")


def address_of(listening: socket.socket) -> str:
    """What to type into a browser on this machine."""
    host, port = listening.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
