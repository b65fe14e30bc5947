"""Serving the page: a free port, a browser that opens when the page is there, and a quiet end at Ctrl-C."""

import socket
import threading
import webbrowser
from collections.abc import Callable, Sequence

import uvicorn

from fine.demo.app import make_app
from fine.errors import FineError

PORT = 8000
"""Where the page is unless told otherwise; if it is taken, the next free one of the hundred after it."""


def serve(models: Sequence[str], *, host: str, port: int | None, open_page: bool, say: Callable[[str], None]) -> None:
    """Serve the page until Ctrl-C."""
    with listen(host, port) as listening:
        address = address_of(listening)
        config = uvicorn.Config(make_app(models), log_level="warning", server_header=False, timeout_graceful_shutdown=2)
        _Server(config, ready=lambda: _welcome(address, open_page, say)).run(sockets=[listening])


def listen(host: str, port: int | None) -> socket.socket:
    """A socket that listens on the port, or on the next free one if none was asked for."""
    if port is not None and not 0 <= port < 2**16:
        raise FineError(f"there is no port {port}: give 1 to 65535, or 0 for any free one")
    try:
        family, _, _, _, (address, *_) = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)[0]
    except OSError:
        raise FineError(f"'{host}' is no address of this machine: give 127.0.0.1, or 0.0.0.0 for the whole network") from None
    for candidate in range(PORT, PORT + 100) if port is None else [port]:
        listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # else asyncio lets small answers wait 40 ms
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((address, candidate))
            listening.listen(1024)  # now, so that nobody else can take it while the models are loaded
        except PermissionError:
            listening.close()
            raise FineError(f"port {candidate} is not for everyone to use: give one above 1023") from None
        except OSError:
            listening.close()
            if port is not None:
                raise FineError(
                    f"port {port} on {host} is taken or not ours: give another --port, or none for the next free one"
                ) from None
        else:
            return listening
    raise FineError(f"ports {PORT} to {PORT + 99} on {host} are all taken: give another --port")


def address_of(listening: socket.socket) -> str:
    """What to type into a browser on this machine."""
    host, port = listening.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class _Server(uvicorn.Server):
    """Says when it is ready, and leaves Ctrl-C without a word."""

    def __init__(self, config: uvicorn.Config, *, ready: Callable[[], None]):
        super().__init__(config)
        self.ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self.ready()


def _welcome(address: str, open_page: bool, say: Callable[[str], None]) -> None:
    say(f"the page is at {address}    Ctrl-C ends it")
    if open_page:
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()  # some browsers keep the caller waiting
