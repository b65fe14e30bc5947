"""Whether memory grows over a long run: python benchmarks/long_run.py [--steps 2000] [--evaluations 200] [--seconds 120]

Trains something small for many steps, tests it many times, and asks the server of the demo for some minutes, and takes the
slope of the memory in use, of each half by itself: the first half may still be warming up. Fails if the second half grows by
more than a kilobyte a step, a test or a request, or if a request is not answered. A 0 leaves that part out.
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
from fine.progress import Silent
from fine.protocols import Training
from fine.runs import Run, RunConfig
from fine.tasks import Task
from fine.training import Trainer
from timing import show, verdict

LARGEST_SLOPE = 1.0
"""Kilobytes a step, a test or a request."""
EPOCH = 10
"""Steps an epoch: a state is written after each, as in a real run."""
VISITORS = 16
"""Who ask the server, each again as soon as the last answer is there."""
STRETCHES = 40
"""Samples of the server's memory."""


def kilobytes_in_use(process: int | str = "self") -> float:
    """Resident memory of a process (Linux)."""
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1024


def slope(samples: list[tuple[int, float]]) -> float:
    """Kilobytes a step: the median over all pairs of samples, which what is lost at every step moves, and one jump does not."""
    steps, memory = np.array(samples, dtype=float).T
    later, sooner = np.tril_indices(len(steps), -1)
    apart = steps[later] != steps[sooner]
    return float(np.median((memory[later] - memory[sooner])[apart] / (steps[later] - steps[sooner])[apart]))


class Watched(Silent):
    """Notes the memory in use after every epoch."""

    def __init__(self) -> None:
        self.samples: list[tuple[int, float]] = []

    def epoch(self, *, epoch: int, **_: float) -> None:
        self.samples.append((epoch * EPOCH, kilobytes_in_use()))


def train(steps: int, folder: Path) -> list[tuple[int, float]]:
    task = replace(Task.preset("glyphs", rules="affine"), train_count=8 * EPOCH, test_count=50)
    config = RunConfig(task=task, training=Training(epochs=steps // EPOCH, batch=8, fresh=True))
    run = Run(folder / "run")
    run.save_config(config)
    watched = Watched()
    Trainer(run, config, torch.device("cpu")).fit(watched)
    return watched.samples


def test(times: int) -> list[tuple[int, float]]:
    config = RunConfig(task=replace(Task.preset("glyphs", rules="affine"), test_count=50))
    model, puzzles = config.build(), config.task.test_puzzles()
    samples = []
    for number in range(times):
        evaluate(model, puzzles).summary()
        samples.append((number + 1, kilobytes_in_use()))
    return samples


def visits() -> list[tuple[str, str, dict[str, object] | None]]:
    """A bit of all that the page asks for: choices, answers drawn, the map, the quiz, pictures."""
    made: list[tuple[str, str, dict[str, object] | None]] = []
    for number, body in enumerate(requests()):
        step = {"family": "rotation", "parameters": [number]}
        played = {"model": MODEL, "source": "glyphs", "x": body["x"], "new": body["new"], "steps": [step], "seed": number}
        made += [("POST", "/api/solve", body), ("POST", "/api/play", played)]
        made += [("GET", f"/api/puzzles/glyphs/{number}?model={MODEL}", None)]
        made += [("POST", f"/api/puzzles/glyphs/{number}", {"model": MODEL, "source": "glyphs", "choice": number % 4})]
        made += [("GET", f"/api/pictures/glyphs?model={MODEL}&number={number}", None), ("GET", f"/api/map?model={MODEL}", None)]
    return made


async def ask_for(seconds: float, address: str, process: int) -> list[tuple[int, float]]:
    """Requests answered so far and the least memory of the server, stretch by stretch of time.

    The least, for what a request needs while it is answered is no growth: what is left behind is.
    """
    todo, answered, until = itertools.cycle(visits()), 0, time.monotonic() + seconds

    async def visitor(client: httpx2.AsyncClient) -> None:
        nonlocal answered
        while time.monotonic() < until:
            method, path, body = next(todo)
            (await client.request(method, path, json=body)).raise_for_status()
            answered += 1

    async def watch() -> list[tuple[int, float]]:
        samples = []
        while (now := time.monotonic()) < until:
            seen = []
            while time.monotonic() < now + seconds / STRETCHES:
                seen.append(kilobytes_in_use(process))
                await asyncio.sleep(0.02)
            samples.append((answered, min(seen)))
        return samples

    async with httpx2.AsyncClient(base_url=address, timeout=120) as client:
        return (await asyncio.gather(watch(), *(visitor(client) for _ in range(VISITORS))))[0]


def answer(seconds: float) -> list[tuple[int, float]]:
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
    with tempfile.TemporaryDirectory() as folder:
        runs: tuple[tuple[float, str, Callable[[], list[tuple[int, float]]]], ...] = (
            (wanted.steps, "training steps", lambda: train(wanted.steps, Path(folder))),
            (wanted.evaluations, "evaluations", lambda: test(wanted.evaluations)),
            (wanted.seconds, f"requests to the demo in {wanted.seconds:g} s", lambda: answer(wanted.seconds)),
        )
        for amount, name, work in runs:
            if not amount:
                continue
            samples = work()
            halves = [slope(samples[: len(samples) // 2]), slope(samples[len(samples) // 2 :])]
            met &= halves[1] <= LARGEST_SLOPE
            memory = f"{samples[0][1] / 1024:,.0f} → {samples[-1][1] / 1024:,.0f}"
            rows.append(
                (
                    f"{samples[-1][0]:,} {name}",
                    memory,
                    *(f"{half:+.3f}" for half in halves),
                    verdict(halves[1] <= LARGEST_SLOPE),
                )
            )
    columns = ("", "MB in use", "first half, KB each", "second half, KB each", f"≤ {LARGEST_SLOPE:g}")
    show("Memory over a long run", columns, rows)
    return not met


if __name__ == "__main__":
    sys.exit(main())
