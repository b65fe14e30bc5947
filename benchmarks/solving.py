"""How fast puzzles of picture files are solved, one by one and many at once: python benchmarks/solving.py"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import torch
from PIL import Image

from fine import Task, load, solve, solve_many
from timing import median_ratio, show, take_turns, verdict

PUZZLES, ONE_BY_ONE = 1000, 20
LIMIT = 150
"""Milliseconds one puzzle may take once a model is loaded."""
TARGETS = {"a command": 20.0, "a call": 20.0}
"""How much faster than that a puzzle should be among a thousand."""


def main() -> int:
    torch.set_num_threads(1)
    model = load("all-glyphs")
    pictures = Task.preset("glyphs", rules="all").test_puzzles()[:PUZZLES].render(range(PUZZLES)).pictures
    with tempfile.TemporaryDirectory() as folder:
        files = [[Path(folder) / f"{number}-{place}.png" for place in range(7)] for number in range(PUZZLES)]
        for paths, puzzle in zip(files, pictures.mul(255).byte(), strict=True):
            for path, picture in zip(paths, puzzle, strict=True):
                Image.fromarray(picture[0].numpy()).save(path)
        puzzles = [(x, y, new, choices) for x, y, new, *choices in files]

        def by_calls() -> None:
            for x, y, new, choices in puzzles[:ONE_BY_ONE]:
                solve(model, x, y, new, choices)

        def at_once() -> None:
            solve_many(model, puzzles)

        calls, many = take_turns([by_calls, at_once], rounds=3, clock=time.process_time)
        tensors = take_turns([lambda: solve_many(model, pictures)], rounds=3, clock=time.process_time)[0]
        started = time.perf_counter()
        for paths in files[:2]:
            subprocess.run([sys.executable, "-m", "fine", "solve", "--json", *paths], check=True, capture_output=True)
        command = (time.perf_counter() - started) / 2
    call, among = (1000 * median(seconds) / count for seconds, count in ((calls, ONE_BY_ONE), (many, PUZZLES)))
    ratios = {"a command": 1000 * command / among, "a call": median_ratio(calls, many) * PUZZLES / ONE_BY_ONE}
    met = {name: ratio >= TARGETS[name] for name, ratio in ratios.items()} | {"limit": call <= LIMIT}
    rows = [
        ("one command a puzzle, `fine solve`", f"{1000 * command:,.0f}", "", ""),
        (f"one call a puzzle, solve; ≤ {LIMIT} ms", f"{call:.2f}", "", verdict(met["limit"])),
        (f"{PUZZLES:,} puzzles at once, solve_many", f"{among:.2f}", "", ""),
        (f"… and as one tensor instead of {7 * PUZZLES:,} files", f"{1000 * median(tensors) / PUZZLES:.2f}", "", ""),
        *(
            (f"at once, against {name} a puzzle; ≥ {TARGETS[name]:g} ×", "", f"{ratio:,.1f} ×", verdict(met[name]))
            for name, ratio in ratios.items()
        ),
    ]
    show("Solving, one thread", ("", "ms a puzzle", "faster by", ""), rows)
    return not all(met.values())


if __name__ == "__main__":
    sys.exit(main())
