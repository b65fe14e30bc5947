"""The command line: `fine …` makes the same calls as a Python program, and prints what they return.

Each command is a class in the file of its name, and its fields are the options (arguments.py).
Options that several commands have are declared once, in options.py. Which commands there are is in
commands.py.
"""

import contextlib
import os
import signal
import sys
from collections.abc import Iterator


def main() -> None:
    """Run one command; an error is one line on standard error and exit code 2, Ctrl-C is 130."""
    try:
        with _ending_at_once():
            # Late, because a Ctrl-C cannot be handled while this module itself is imported.
            from fine.cli.commands import read_command  # noqa: PLC0415
            from fine.cli.terminal import console, errors_in_one_line  # noqa: PLC0415
        with errors_in_one_line():
            with _ending_at_once():
                command = read_command(sys.argv[1:] or ["--help"])
                from fine.distributed import leave, own_rank  # noqa: PLC0415 - needs torch
            console.quiet = own_rank() > 0  # under torchrun, the first process speaks for all
            command.run()
            leave()
    except KeyboardInterrupt:
        raise SystemExit(130) from None


@contextlib.contextmanager
def _ending_at_once() -> Iterator[None]:
    """While modules are imported, Ctrl-C ends the process: an import may swallow an exception.

    Nothing is lost, because no command has started. A caller's own handler stays, and so does a
    shell's setting that Ctrl-C is ignored.
    """
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    try:
        signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    except ValueError:  # only the main thread may, and only it is interrupted
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
