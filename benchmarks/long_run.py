"""Whether memory grows over a long run: python benchmarks/long_run.py [--steps 2000] …

Trains something small for many steps, tests it many times, and asks the server of the demo for some
minutes. Then it takes the slope of the memory in use, of each half by itself: the first half may
still be warming up. Fails if the second half grows by more than a kilobyte a step, a test or a
request, or if a request is not answered. `--steps`, `--evaluations` and `--seconds` set how many; 0
leaves that part out.
"""

import argparse
import asyncio
import itertools
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import httpx2
import numpy as np
import torch

from demo import MODEL, requests, serve
from fine.demo.batching import MOST
from fine.evaluation import evaluate
from fine.puzzles.task import Task
from fine.training import Run, RunConfig, Silent, Trainer, Training
from timing import show, verdict

LARGEST_SLOPE = 1.0
"""Kilobytes a step, a test or a request."""
EPOCH = 10
"""Steps in an epoch: a checkpoint is written after each, as in a real run."""
VISITORS = 16
"""Who ask the server, each again as soon as the last answer is there."""
STRETCHES = 40
"""Samples of the server's memory."""

Samples = list[tuple[int, float]]
"""How often something was done, and the kilobytes in use then."""


def kilobytes_in_use(process: int | str = "self") -> float:
    """Resident memory of a process (Linux)."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1024


def slope(samples: Samples) -> float:
    """Kilobytes a step: the median over all pairs of samples, which a single jump does not move."""
    steps, memory = np.array(samples, dtype=float).T
    later, sooner = np.tril_indices(len(steps), -1)
    apart = steps[later] != steps[sooner]
    slopes = (memory[later] - memory[sooner])[apart] / (steps[later] - steps[sooner])[apart]
    return float(np.median(slopes))


class MemoryProgress(Silent):
    """Notes the memory in use after every epoch."""

    def __init__(self) -> None:
        self.samples: Samples = []

    def epoch(self, *, epoch: int, **_: float) -> None:
        self.samples.append((epoch * EPOCH, kilobytes_in_use()))


def train(steps: int, folder: Path) -> Samples:
    task = Task.preset("glyphs", rules="affine")
    task = replace(task, train_count=8 * EPOCH, test_count=50)
    training = Training(epochs=steps // EPOCH, batch=8, resample_each_epoch=True)
    config = RunConfig(task=task, training=training)
    run = Run(folder / "run")
    run.save_config(config)
    progress = MemoryProgress()
    Trainer(run, config, torch.device("cpu")).fit(progress)
    return progress.samples


def test(times: int) -> Samples:
    config = RunConfig(task=replace(Task.preset("glyphs", rules="affine"), test_count=50))
    model, puzzles = config.build(), config.task.test_puzzles()
    samples = []
    for number in range(times):
        evaluate(model, puzzles).summary()
        samples.append((number + 1, kilobytes_in_use()))
    return samples


def visits() -> list[tuple[str, str, dict[str, object] | None]]:
    """A bit of all that the page asks for: choices, drawn answers, the map, the quiz, images."""
    made: list[tuple[str, str, dict[str, object] | None]] = []
    for number, body in enumerate(requests()):
        steps = [{"family": "rotation", "parameters": [number]}]
        shared = {"model": MODEL, "source": "glyphs"}
        played = {**shared, "x": body["x"], "new": body["new"], "steps": steps, "seed": number}
        picked = {**shared, "choice": number % 4}
        made += [
            ("POST", "/api/solve", body),
            ("POST", "/api/play", played),
            ("GET", f"/api/puzzles/glyphs/{number}?model={MODEL}", None),
            ("POST", f"/api/puzzles/glyphs/{number}", picked),
            ("GET", f"/api/images/glyphs?model={MODEL}&number={number}", None),
            ("GET", f"/api/map?model={MODEL}", None),
        ]
    return made


async def ask_for(seconds: float, address: str, process: int) -> Samples:
    """Requests answered so far and the least memory of the server, stretch by stretch of time.

    The least, because what a request needs while it is answered is no growth; what it leaves is.
    """
    todo, answered, until = itertools.cycle(visits()), 0, time.monotonic() + seconds

    async def visitor(client: httpx2.AsyncClient) -> None:
        nonlocal answered
        while time.monotonic() < until:
            method, path, body = next(todo)
            (await client.request(method, path, json=body)).raise_for_status()
            answered += 1

    async def watch() -> Samples:
        samples = []
        while (now := time.monotonic()) < until:
            seen = []
            while time.monotonic() < now + seconds / STRETCHES:
                seen.append(kilobytes_in_use(process))
                await asyncio.sleep(0.02)
            samples.append((answered, min(seen)))
        return samples

    async with httpx2.AsyncClient(base_url=address, timeout=120) as client:
        visitors = (visitor(client) for _ in range(VISITORS))
        return (await asyncio.gather(watch(), *visitors))[0]


def answer(seconds: float) -> Samples:
    start = multiprocessing.get_context("spawn")
    here, there = start.Pipe()
    server = start.Process(target=serve, args=(MOST, there), daemon=True)
    server.start()
    try:
        return asyncio.run(ask_for(seconds, here.recv(), server.pid))
    finally:
        server.terminate()
        server.join()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--evaluations", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=120)
    wanted = parser.parse_args()
    torch.set_num_threads(1)
    rows, met = [], True
    requests_in = f"requests to the demo in {wanted.seconds:g} s"
    with tempfile.TemporaryDirectory() as folder:
        runs: tuple[tuple[float, str, Callable[[], Samples]], ...] = (
            (wanted.steps, "training steps", lambda: train(wanted.steps, Path(folder))),
            (wanted.evaluations, "evaluations", lambda: test(wanted.evaluations)),
            (wanted.seconds, requests_in, lambda: answer(wanted.seconds)),
        )
        for amount, name, work in runs:
            if not amount:
                continue
            samples = work()
            middle = len(samples) // 2
            halves = [slope(samples[:middle]), slope(samples[middle:])]
            ok = halves[1] <= LARGEST_SLOPE
            met &= ok
            memory = f"{samples[0][1] / 1024:,.0f} → {samples[-1][1] / 1024:,.0f}"
            slopes = (f"{half:+.3f}" for half in halves)
            rows.append((f"{samples[-1][0]:,} {name}", memory, *slopes, verdict(ok)))
    slopes = ("first half, KB each", "second half, KB each")
    show("Memory over a long run", ("", "MB in use", *slopes, f"≤ {LARGEST_SLOPE:g}"), rows)
    for what, memory, _, second, _ in rows:  # for docs/reliability.md
        print(f"| {what} | {memory} MB in use; in the second half {second} KB each |")
    return not met


if __name__ == "__main__":
    sys.exit(main())
