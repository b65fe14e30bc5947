"""Serves the page: finds a free port, opens a browser once the page is ready, ends at Ctrl-C."""

import socket
import threading
import webbrowser
from collections.abc import Callable, Sequence

import uvicorn

from fine.demo.app import make_app
from fine.errors import FineError

PORT = 8000
"""The first port to try if none is given; the hundredth after it is the last."""
_PORTS = 100


def serve(
    models: Sequence[str],
    *,
    host: str,
    port: int | None,
    open_page: bool,
    say: Callable[[str], None],
) -> None:
    """Serve the page until Ctrl-C; ``say`` prints its address."""
    with listen(host, port) as listening:
        address = address_of(listening)

        def welcome() -> None:
            say(f"the page is at {address}    Ctrl-C ends it")
            if open_page:  # on a thread, because some browsers keep the caller waiting
                threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()

        config = uvicorn.Config(
            make_app(models),
            log_level="warning",
            server_header=False,
            timeout_graceful_shutdown=2,
        )
        _Server(config, ready=welcome).run(sockets=[listening])


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
            listening.listen(1024)  # now, so that the port stays ours while models are loaded
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


class _Server(uvicorn.Server):
    """Calls ``ready`` as soon as it answers."""

    def __init__(self, config: uvicorn.Config, *, ready: Callable[[], None]):
        super().__init__(config)
        self.ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self.ready()
