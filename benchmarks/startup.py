"""How soon the program is there, against what it cannot do without: python benchmarks/startup.py

Everything is a process of its own, and they take turns. What counts is their CPU time, one thread:
about what a quiet core takes.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median

from PIL import Image

from fine import Task
from timing import median_ratio, show, take_turns, verdict

ROUNDS = 5
SHORT = 0.3
"""Seconds in which help, version and an import are there."""
TORCH, MORE = 1.5, 0.5
"""A puzzle is solved within 1.5 × the time of `import torch`, and half a second."""


def process(*arguments: str) -> Callable[[], object]:
    """A Python that starts, does something, and ends."""
    command = [sys.executable, *arguments]
    alone = {**os.environ, "OMP_NUM_THREADS": "1"}
    return lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=alone)


def seconds_of_processes() -> float:
    """CPU seconds of all processes that have ended."""
    times = os.times()
    return times.children_user + times.children_system


def write_puzzle(folder: Path) -> list[str]:
    """The seven images of a puzzle as files."""
    puzzle = Task.preset("glyphs", rules="rotation").test_puzzles()[:1].render([0]).images[0]
    paths = [folder / f"{place}.png" for place in range(7)]
    for path, image in zip(paths, puzzle.mul(255).byte(), strict=True):
        Image.fromarray(image[0].numpy()).save(path)
    return [str(path) for path in paths]


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        processes = {
            "python": process("-c", "pass"),
            "import torch": process("-c", "import torch"),
            "import fine": process("-c", "import fine"),
            "fine --version": process("-m", "fine", "--version"),
            "fine --help": process("-m", "fine", "--help"),
            "fine solve": process("-m", "fine", "solve", *write_puzzle(Path(folder))),
        }
        candidates = list(processes.values())
        times = take_turns(candidates, rounds=ROUNDS, clock=seconds_of_processes)
    taken = dict(zip(processes, times, strict=True))
    torch = taken["import torch"]
    limits = dict.fromkeys(("import fine", "fine --version", "fine --help"), SHORT)
    limits["fine solve"] = TORCH * median(torch) + MORE
    aims = dict.fromkeys(limits, f"≤ {SHORT:g} s")
    aims["fine solve"] = f"≤ {TORCH:g} × and {MORE:g} s: {limits['fine solve']:.2f} s"
    rows, met = [], True
    for name, seconds in taken.items():
        fast = name not in limits or median(seconds) <= limits[name]
        met &= fast
        outcome = verdict(fast) if name in limits else ""
        ratio = f"{median_ratio(seconds, torch):.2f} ×"
        rows.append((name, f"{median(seconds):.2f}", ratio, aims.get(name, ""), outcome))
    columns = ("process", "CPU seconds", "of import torch", "target", "")
    show("From nothing to done, one thread", columns, rows)
    return not met


if __name__ == "__main__":
    sys.exit(main())
