"""What a visitor of the demo meets in a crowd: python benchmarks/demo_crowd.py [--idle 1000] …

`fine demo` runs as anyone would run it. Another process holds idle connections, which say nothing,
and busy ones, which ask again as soon as they are answered or refused; a connection that the server
closes is opened again. Meanwhile new visitors come, one after the other: each opens the page and
asks the model. Then Ctrl-C ends the server under this load.

Fails if a visitor waits for more than two seconds or is not answered, if the log grows by a
megabyte, or if the end is not clean. `--descriptors` limits the open files of the server,
`--interrupts 2` presses Ctrl-C twice.
"""

import argparse
import asyncio
import contextlib
import http.client
import json
import multiprocessing
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from typing import IO

from timing import show, verdict

MODEL = "all-glyphs"
LONGEST = 2.0
"""Seconds within which a visitor is served."""
LARGEST_LOG = 1_000_000
"""Bytes."""
PAUSE = 0.05
"""Seconds until a connection that was closed is opened again, and between two visitors."""
SETTLED = 5.0
"""Seconds from when the crowd is there until the first visitor comes."""

Body = dict[str, object]


@dataclass(frozen=True)
class Visit:
    """Seconds until the page and the model's answer were there, and the status of each."""

    page: float
    answer: float
    statuses: str


@dataclass
class Seen:
    """What the connections of the crowd have seen."""

    idle: Counter[str] = field(default_factory=Counter)
    busy: Counter[str] = field(default_factory=Counter)
    waits: list[float] = field(default_factory=list)
    """Seconds of the answers to busy connections."""


def start(log: IO[bytes], descriptors: int) -> tuple[subprocess.Popen[str], str]:
    """`fine demo`, and its host and port."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))

    command = [sys.executable, "-m", "fine", "demo", "--no-open", "--port", "0", "--model", MODEL]
    server = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=log,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        preexec_fn=limit if descriptors else None,
    )
    assert server.stdout is not None
    line = server.stdout.readline()  # the page is at http://127.0.0.1:40123    Ctrl-C ends it
    return server, line.split()[4].removeprefix("http://")


def ask(
    connection: http.client.HTTPConnection, path: str, body: Body | None = None
) -> tuple[str, bytes]:
    """The status of an answer, or what went wrong; and its content."""
    method = "GET" if body is None else "POST"
    content = None if body is None else json.dumps(body)
    try:
        connection.request(method, path, content, {"Content-Type": "application/json"})
        response = connection.getresponse()
        return str(response.status), response.read()
    except (OSError, http.client.HTTPException) as problem:
        return type(problem).__name__, b""


def puzzle(address: str) -> Body:
    """A puzzle of the quiz, as a visitor would send it to be solved."""
    connection = http.client.HTTPConnection(address, timeout=60)
    shown = json.loads(ask(connection, f"/api/puzzles/glyphs/3?model={MODEL}")[1])
    connection.close()
    return {"model": MODEL, **{name: shown[name] for name in ("x", "y", "new", "choices")}}


def visit(address: str, body: Body) -> Visit:
    """Open the page over a new connection, then ask the model; a minute at most for each."""
    connection = http.client.HTTPConnection(address, timeout=60)
    started = time.perf_counter()
    first, _ = ask(connection, "/")
    shown = time.perf_counter()
    second, _ = ask(connection, "/api/solve", body)
    answered = time.perf_counter()
    connection.close()
    return Visit(shown - started, answered - shown, f"{first} {second}")


async def stay_idle(host: str, port: int, seen: Seen) -> None:
    """Hold a connection that says nothing, again and again."""
    while True:
        try:
            reader, writer = await asyncio.open_connection(host, port)
        except OSError:
            seen.idle["not connected"] += 1
        else:
            seen.idle["connected"] += 1
            with contextlib.suppress(OSError):
                await reader.read()
            writer.close()
            seen.idle["closed"] += 1
        await asyncio.sleep(PAUSE)


async def stay_busy(host: str, port: int, request: bytes, seen: Seen) -> None:
    """Ask again as soon as there is an answer."""
    while True:
        try:
            reader, writer = await asyncio.open_connection(host, port)
            while True:
                started = time.perf_counter()
                writer.write(request)
                status = await read_answer(reader)
                seen.busy[status] += 1
                if status == "200":
                    seen.waits.append(time.perf_counter() - started)
        except (OSError, asyncio.IncompleteReadError):
            seen.busy["closed"] += 1
        await asyncio.sleep(PAUSE)


async def read_answer(reader: asyncio.StreamReader) -> str:
    """The status of the next answer on a connection."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *fields = head.lower().split("\r\n")
    lengths = [line for line in fields if line.startswith("content-length:")]
    await reader.readexactly(int(lengths[0].split(":")[1]))
    return first.split()[1]


def crowd(address: str, idle: int, busy: int, body: Body, asked: Connection) -> None:
    """Hold all connections; says when all are there, and what they have seen when asked for it."""
    _, highest = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (highest, highest))
    host, port = address.rsplit(":", 1)
    content = json.dumps(body).encode()
    head = f"POST /api/solve HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n"
    request = f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content
    seen = Seen()

    async def hold() -> None:
        coroutines = [stay_idle(host, int(port), seen) for _ in range(idle)]
        coroutines += [stay_busy(host, int(port), request, seen) for _ in range(busy)]
        tasks = [asyncio.create_task(coroutine) for coroutine in coroutines]
        while sum(seen.idle.values()) < idle or sum(seen.busy.values()) < busy:
            await asyncio.sleep(0.1)
        asked.send(seen)
        while not asked.poll():
            await asyncio.sleep(0.1)
        asked.send(seen)
        await asyncio.gather(*tasks)  # until this process is ended

    asyncio.run(hold())


def cpu_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def peak_megabytes(process: int) -> float:
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def interrupt(server: subprocess.Popen[str], times: int) -> tuple[int | None, float]:
    """Press Ctrl-C; gives the exit code, or None after half a minute, and the seconds it took."""
    started = time.perf_counter()
    for _ in range(times):
        server.send_signal(signal.SIGINT)
        time.sleep(0.2)
    try:
        return server.wait(30), time.perf_counter() - started
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
        return None, time.perf_counter() - started


def counts(seen: Counter[str]) -> str:
    return ", ".join(f"{count:,} {what}" for what, count in seen.most_common())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--idle", type=int, default=1000)
    parser.add_argument("--busy", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--descriptors", type=int, default=0)
    parser.add_argument("--interrupts", type=int, default=1)
    wanted = parser.parse_args()
    spawning = multiprocessing.get_context("spawn")
    with tempfile.TemporaryFile() as log:
        server, address = start(log, wanted.descriptors)
        body = puzzle(address)
        visit(address, body)  # the server is warm
        here, there = spawning.Pipe()
        held = (address, wanted.idle, wanted.busy, body, there)
        holder = spawning.Process(target=crowd, args=held, daemon=True)
        holder.start()
        here.recv()  # all are there
        time.sleep(SETTLED)
        logged, used = os.fstat(log.fileno()).st_size, cpu_seconds(server.pid)
        started, visits = time.perf_counter(), []
        while time.perf_counter() < started + wanted.seconds:
            visits.append(visit(address, body))
            time.sleep(PAUSE)
        took = time.perf_counter() - started
        logged = os.fstat(log.fileno()).st_size - logged
        used = cpu_seconds(server.pid) - used
        memory = peak_megabytes(server.pid)
        here.send("what have you seen?")
        seen = here.recv()
        code, ending = interrupt(server, wanted.interrupts)
        holder.kill()
        holder.join()
        log.seek(0)
        text = log.read(2000).decode()
    pages, answers = [one.page for one in visits], [one.answer for one in visits]
    statuses = Counter(one.statuses for one in visits)
    results = [
        ("visitors", f"{len(visits)}: {counts(statuses)}", set(statuses) == {"200 200"}),
        ("page, median", f"{median(pages):.2f} s", None),
        ("page, slowest", f"{max(pages):.2f} s", max(pages) <= LONGEST),
        ("answer, median", f"{median(answers):.2f} s", None),
        ("answer, slowest", f"{max(answers):.2f} s", max(answers) <= LONGEST),
        ("log grew by", f"{logged / 1000:,.1f} kB", logged < LARGEST_LOG),
        ("CPU time", f"{used / took * 60:.0f} s a minute", None),
        ("memory, peak", f"{memory:,.0f} MB", memory < 1000),
        ("idle connections", counts(seen.idle), None),
        ("busy connections", counts(seen.busy), None),
        ("their answers, median", f"{median(seen.waits or [0]):.2f} s", None),
        ("their answers, slowest", f"{max(seen.waits or [0]):.2f} s", None),
        ("Ctrl-C", f"exit {code} after {ending:.1f} s", code == 130 and not text),
    ]
    rows = [(what, value, "" if met is None else verdict(met)) for what, value, met in results]
    crowded = f"{wanted.idle:,} idle and {wanted.busy:,} busy connections"
    show(f"A visitor of the demo among {crowded}, for {took:.0f} s", ("", "", ""), rows)
    if text:
        print(f"the log begins with:\n{text}")
    return any(met is False for _, _, met in results)


if __name__ == "__main__":
    sys.exit(main())
