"""How many visitors the demo answers, and what answering them together gains: python benchmarks/demo.py

The server runs in a process of its own and is asked over the network of this machine, with 200 requests at a time.
"""

import asyncio
import multiprocessing
import sys
import time
from multiprocessing.connection import Connection
from statistics import median

import httpx2
import uvicorn

from fine.demo.app import make_app
from fine.demo.batching import MOST
from fine.demo.serving import address_of, listen
from fine.demo.sources import quiz_of
from fine.demo.wire import write_png
from timing import show, verdict

MODEL = "all-glyphs"
AT_ONCE = 200
ROUNDS = 5
TARGET = 1.2
"""Least gain of answering together; reading requests and pictures takes its time either way."""


def serve(most: int, ready: Connection) -> None:
    with listen("127.0.0.1", 0) as listening:
        ready.send(address_of(listening))
        uvicorn.Server(uvicorn.Config(make_app([MODEL], most=most), log_level="warning")).run(sockets=[listening])


def requests() -> list[dict[str, object]]:
    """Puzzles of the quiz, no two alike."""
    puzzles, render = quiz_of("glyphs", rules="all", channels=1, size=32)
    made = []
    for pictures in render(puzzles.specs[:AT_ONCE]).pictures:
        x, y, new, *choices = map(write_png, pictures)
        made.append({"model": MODEL, "x": x, "y": y, "new": new, "choices": choices})
    return made


async def visit(address: str, bodies: list[dict[str, object]]) -> tuple[float, list[float], int]:
    """Seconds for all, seconds of each, and how many were not answered."""
    limits = httpx2.Limits(max_connections=AT_ONCE, max_keepalive_connections=AT_ONCE)
    async with httpx2.AsyncClient(base_url=address, limits=limits, timeout=120) as client:

        async def one(body: dict[str, object]) -> tuple[float, bool]:
            started = time.perf_counter()
            response = await client.post("/api/solve", json=body)
            return time.perf_counter() - started, response.status_code == 200

        await asyncio.gather(*map(one, bodies))  # connections are made, and the server is warm
        started = time.perf_counter()
        answers = await asyncio.gather(*map(one, bodies))
        return time.perf_counter() - started, [seconds for seconds, _ in answers], sum(not right for _, right in answers)


def main() -> int:
    bodies, rows, speeds, failed = requests(), [], {}, 0
    start = multiprocessing.get_context("spawn")
    servers = {}
    for most in (1, MOST):
        here, there = start.Pipe()
        process = start.Process(target=serve, args=(most, there), daemon=True)
        process.start()
        servers[most] = here.recv(), process
    seen: dict[int, list[tuple[float, list[float], int]]] = {most: [] for most in servers}
    for _ in range(ROUNDS):  # in turns, so that whatever else the machine does befalls both
        for most, (address, _) in servers.items():
            seen[most].append(asyncio.run(visit(address, bodies)))
    for most, (_, process) in servers.items():
        process.terminate()
        process.join()
        speeds[most] = AT_ONCE / median(total for total, _, _ in seen[most])
        slowest = median(max(each) for _, each, _ in seen[most])
        missed = sum(count for _, _, count in seen[most])
        failed += missed
        rows.append((f"{most}", f"{speeds[most]:,.0f}", f"{slowest:.2f}", f"{missed}"))
    gain = median(alone[0] / together[0] for alone, together in zip(seen[1], seen[MOST], strict=True))
    columns = ("questions at once", "requests/s", "slowest answer, s", "not answered")
    show(f"The demo under {AT_ONCE} requests at a time", columns, rows)
    show("Gain", ("answered together", f"≥ {TARGET:g}"), [(f"{gain:.2f} times as fast", verdict(gain >= TARGET))])
    return int(failed > 0 or gain < TARGET)


if __name__ == "__main__":
    sys.exit(main())
