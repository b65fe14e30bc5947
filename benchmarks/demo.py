"""How many visitors the demo answers, and what batching them gains: python benchmarks/demo.py

The server runs in a process of its own and is asked over the network of this machine, with 200
requests at a time. Here it refuses nobody; demo_crowd.py shows what a visitor meets in a crowd.
"""

import asyncio
import multiprocessing
import sys
import time
from multiprocessing.connection import Connection
from statistics import median

import httpx2

from fine.demo.admission import Admission
from fine.demo.app import make_app
from fine.demo.batching import MOST
from fine.demo.serving import Server, address_of, listen
from fine.demo.sources import quiz_of
from fine.demo.wire import write_png
from timing import show, verdict

MODEL = "all-glyphs"
AT_ONCE = 200
ROUNDS = 5
TARGET = 1.2
"""Least gain of batching; reading requests and images takes its time either way."""

Body = dict[str, object]
Visit = tuple[float, list[float], int]
"""Seconds for all requests, seconds of each, and how many were not answered."""


def serve(most: int, ready: Connection) -> None:
    with listen("127.0.0.1", 0) as listening:
        ready.send(address_of(listening))
        # Nobody is refused, and a connection that waits for its turn stays open.
        app = make_app([MODEL], most=most, admission=Admission(longest=600, most=10 * AT_ONCE))
        Server(app, connections=10 * AT_ONCE, patience=120).run(sockets=[listening])


def requests() -> list[Body]:
    """Puzzles of the quiz, no two alike."""
    puzzles, render = quiz_of("glyphs", rules="all", channels=1, size=32)
    made = []
    for images in render(puzzles.specs[:AT_ONCE]).images:
        x, y, new, *choices = map(write_png, images)
        made.append({"model": MODEL, "x": x, "y": y, "new": new, "choices": choices})
    return made


async def visit(address: str, bodies: list[Body]) -> Visit:
    """Ask for all at once."""
    limits = httpx2.Limits(max_connections=AT_ONCE, max_keepalive_connections=AT_ONCE)
    async with httpx2.AsyncClient(base_url=address, limits=limits, timeout=120) as client:

        async def one(body: Body) -> tuple[float, bool]:
            started = time.perf_counter()
            response = await client.post("/api/solve", json=body)
            return time.perf_counter() - started, response.status_code == 200

        await asyncio.gather(*map(one, bodies))  # connections are made, and the server is warm
        started = time.perf_counter()
        answers = await asyncio.gather(*map(one, bodies))
        whole = time.perf_counter() - started
        missed = sum(not answered for _, answered in answers)
        return whole, [seconds for seconds, _ in answers], missed


def main() -> int:
    bodies, rows, failed = requests(), [], 0
    start = multiprocessing.get_context("spawn")
    servers = {}
    for most in (1, MOST):
        here, there = start.Pipe()
        process = start.Process(target=serve, args=(most, there), daemon=True)
        process.start()
        servers[most] = here.recv(), process
    seen: dict[int, list[Visit]] = {most: [] for most in servers}
    for _ in range(ROUNDS):  # in turns, so that other load on the machine is shared by both
        for most, (address, _) in servers.items():
            seen[most].append(asyncio.run(visit(address, bodies)))
    for most, (_, process) in servers.items():
        process.terminate()
        process.join()
        speed = AT_ONCE / median(whole for whole, _, _ in seen[most])
        slowest = median(max(each) for _, each, _ in seen[most])
        missed = sum(count for _, _, count in seen[most])
        failed += missed
        rows.append((f"{most}", f"{speed:,.0f}", f"{slowest:.2f}", f"{missed}"))
    pairs = zip(seen[1], seen[MOST], strict=True)
    gain = median(alone[0] / batched[0] for alone, batched in pairs)
    columns = ("batch", "requests/s", "slowest answer, s", "not answered")
    show(f"The demo under {AT_ONCE} requests at a time", columns, rows)
    gained = (f"{gain:.2f} times as fast", verdict(gain >= TARGET))
    show("Gain", ("answered in batches", f"≥ {TARGET:g}"), [gained])
    return int(failed > 0 or gain < TARGET)


if __name__ == "__main__":
    sys.exit(main())
