"""What the server writes to the terminal: a few messages a minute, with nothing in them that could
move the cursor.

    with sparing_log() as log:
        ...                                    # serve
        log.stop()                             # requests that Ctrl-C cuts off are no errors
"""

import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from fine.errors import printable

LOGGERS = ("uvicorn", "asyncio", "fine.demo")
MOST = 20
"""Messages a minute; one more line says that there would have been more."""
LONGEST = 4000
"""Characters of a message; the end of a traceback says more than its beginning."""
_PERIOD = 60.0


class SparingHandler(logging.StreamHandler):
    """Writes warnings and errors to standard error, but not too many of them."""

    def __init__(self) -> None:
        super().__init__(sys.stderr)
        self.setLevel(logging.WARNING)
        self.setFormatter(logging.Formatter("%(levelname)s: %(message)s"))
        self._stopped = False
        self._since, self._count = -_PERIOD, 0

    def emit(self, record: logging.LogRecord) -> None:
        now = time.monotonic()
        if now - self._since >= _PERIOD:
            self._since, self._count = now, 0
        self._count += 1
        if self._stopped or self._count > MOST:
            return
        super().emit(record)
        if self._count == MOST:
            self.stream.write(f"there may be more; the next messages follow in {_PERIOD:.0f} s\n")

    def format(self, record: logging.LogRecord) -> str:
        text = super().format(record)[-LONGEST:]
        return "\n".join(map(printable, text.split("\n")))

    def stop(self) -> None:
        """Write nothing from now on."""
        self._stopped = True


@contextmanager
def sparing_log() -> Iterator[SparingHandler]:
    """Let the server, its event loop and the application write to one such handler."""
    handler = SparingHandler()
    loggers = [logging.getLogger(name) for name in LOGGERS]
    before = [logger.propagate for logger in loggers]
    for logger in loggers:
        logger.addHandler(handler)
        logger.propagate = False
    try:
        yield handler
    finally:
        for logger, propagate in zip(loggers, before, strict=True):
            logger.removeHandler(handler)
            logger.propagate = propagate
