"""The end of `fine demo`: Ctrl-C ends it cleanly, once or twice, however busy it is."""

import contextlib
import json
import os
import signal
import subprocess
from collections.abc import Iterator

import pytest

from support.commands import PROGRAM
from support.demo import MODEL, connect, read_answer

pytestmark = pytest.mark.slow


@contextlib.contextmanager
def running() -> Iterator[tuple[subprocess.Popen[str], str]]:
    """`fine demo` as a process of its own, and its address."""
    command = [*PROGRAM, "demo", "--no-open", "--port", "0", "--model", MODEL]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    with process:
        try:
            line = process.stdout.readline()
            assert line.startswith("the page is at http://127.0.0.1:"), process.stderr.read()
            yield process, line.split()[4]
        finally:
            process.kill()


@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_under_load_is_a_clean_end(puzzle, times):
    body = json.dumps(puzzle).encode()
    head = f"POST /api/solve HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n"
    request = head.encode() + b"Content-Type: application/json\r\n\r\n" + body
    with running() as (process, address), contextlib.ExitStack() as stack:
        busy = [stack.enter_context(connect(address)) for _ in range(40)]
        for connection in busy:
            connection.sendall(request)
        stack.enter_context(connect(address))  # says nothing
        assert read_answer(busy[0]).status == 200  # the others are being answered, or wait
        for _ in range(times):
            process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, "", "")
