"""Protects the server: checks who is asked for what, limits requests, adds security headers.

It surrounds the whole application, so that every answer carries the headers, also those to requests
that are refused before they are read, and those to requests that fail.
"""

import asyncio
import logging
from collections.abc import Collection

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fine.demo.admission import Admission, TooBusyError
from fine.demo.hosts import address_in, host_of, is_own_host
from fine.demo.refusing import busy_refusal, refusal

LARGEST_BODY = 1_000_000
"""Bytes of a request; a puzzle with eight choices has about 15,000."""
UPLOADS, LARGEST_UPLOAD = "/api/apply", 24_000_000
"""Where photographs are sent to, and the bytes of a request there: as base64, some 18 MB of files.
"""
SMALL_BODY = 50_000
MOST_HELD = 100_000_000
"""Bytes of all requests that are being read or answered, not counting small ones."""

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
    "Cache-Control": "no-store",
}
"""The page may load its own files and nothing else, and no other page may frame it."""

logger = logging.getLogger("fine.demo")


class TooLargeError(Exception):
    """A request has more bytes than any should have."""


class LeftError(Exception):
    """The visitor has gone before the request was there."""


class Guard:
    """ASGI middleware."""

    def __init__(self, app: ASGIApp, *, names: Collection[str], admission: Admission):
        self.app, self.names, self.admission = app, names, admission
        self.held = 0
        """Bytes of large requests in memory."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = False

        async def guarded_send(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
            await send(message)

        async def refuse(status: int, reason: str) -> None:
            if not started:
                await refusal(status, reason)(scope, receive, guarded_send)

        if not is_own_host(scope, self.names):
            given, own = host_of(scope)[:100], address_in(scope)
            await refuse(421, f"this page is not at '{given}': open it as http://{own}")
            return
        try:
            await self._answer(scope, receive, guarded_send)
        except LeftError:
            pass
        except TooLargeError:
            reason = f"the request is larger than {_largest(scope):,} bytes: send less"
            await refuse(413, reason)
        except TooBusyError as busy:
            if not started:
                await busy_refusal(busy)(scope, receive, guarded_send)
        except asyncio.CancelledError:  # Ctrl-C, and the model took too long to wait for
            await refuse(503, "the program is being ended: start `fine demo` again")
        except Exception as problem:
            logger.exception("%s %s", scope["method"], type(problem).__name__)
            await refuse(500, "the program has failed at this request: its log says how")

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = bytearray()
        counted, largest = 0, _largest(scope)
        try:
            # The body is read here, up to the limit, whatever length it claims to have.
            more = True
            while more:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise LeftError
                body += message.get("body", b"")
                more = message.get("more_body", False)
                if len(body) > largest:
                    raise TooLargeError
                if len(body) > SMALL_BODY:
                    self.held += len(body) - counted
                    counted = len(body)
                if counted and self.held > MOST_HELD:
                    raise TooBusyError(1)
            if scope["path"].startswith("/api/"):
                async with self.admission.admit(scope.get("client")):
                    await self.app(scope, _replay(bytes(body), receive), send)
            else:
                await self.app(scope, _replay(bytes(body), receive), send)
        finally:
            self.held -= counted


def _largest(scope: Scope) -> int:
    """Bytes that a request may have."""
    return LARGEST_UPLOAD if scope["path"] == UPLOADS else LARGEST_BODY


def _replay(body: bytes, receive: Receive) -> Receive:
    """Gives the body that was read once more, then whatever follows."""
    replayed = False

    async def replay() -> Message:
        nonlocal replayed
        if replayed:
            return await receive()
        replayed = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay
