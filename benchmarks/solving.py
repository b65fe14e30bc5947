"""How fast puzzles of image files are solved, one or many at once: python benchmarks/solving.py"""

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


def write_images(folder: Path, images: torch.Tensor) -> list[list[Path]]:
    """The seven images of every puzzle as files."""
    files = []
    for number, puzzle in enumerate(images.mul(255).byte()):
        paths = [folder / f"{number}-{place}.png" for place in range(7)]
        for path, image in zip(paths, puzzle, strict=True):
            Image.fromarray(image[0].numpy()).save(path)
        files.append(paths)
    return files


def main() -> int:
    torch.set_num_threads(1)
    model = load("all-glyphs")
    puzzles = Task.preset("glyphs", rules="all").test_puzzles()[:PUZZLES]
    images = puzzles.render(range(PUZZLES)).images
    with tempfile.TemporaryDirectory() as folder:
        files = write_images(Path(folder), images)
        asked = [(x, y, new, choices) for x, y, new, *choices in files]

        def by_calls() -> None:
            for x, y, new, choices in asked[:ONE_BY_ONE]:
                solve(model, x, y, new, choices, verify=False)

        def at_once() -> None:
            solve_many(model, asked, verify=False)

        def as_tensor() -> None:
            solve_many(model, images, verify=False)

        calls, many = take_turns([by_calls, at_once], rounds=3, clock=time.process_time)
        tensors = take_turns([as_tensor], rounds=3, clock=time.process_time)[0]
        started = time.perf_counter()
        for paths in files[:2]:
            command = [sys.executable, "-m", "fine", "solve", "--json", *paths]
            subprocess.run(command, check=True, capture_output=True)
        by_command = 1000 * (time.perf_counter() - started) / 2
    call, among = 1000 * median(calls) / ONE_BY_ONE, 1000 * median(many) / PUZZLES
    ratios = {
        "a command": by_command / among,
        "a call": median_ratio(calls, many) * PUZZLES / ONE_BY_ONE,
    }
    fast_enough = call <= LIMIT
    rows = [
        ("one command a puzzle, `fine solve`", f"{by_command:,.0f}", "", ""),
        (f"one call a puzzle, solve; ≤ {LIMIT} ms", f"{call:.2f}", "", verdict(fast_enough)),
        (f"{PUZZLES:,} puzzles at once, solve_many", f"{among:.2f}", "", ""),
        (
            f"… and as one tensor instead of {7 * PUZZLES:,} files",
            f"{1000 * median(tensors) / PUZZLES:.2f}",
            "",
            "",
        ),
    ]
    for name, ratio in ratios.items():
        target = TARGETS[name]
        what = f"at once, against {name} a puzzle; ≥ {target:g} ×"
        rows.append((what, "", f"{ratio:,.1f} ×", verdict(ratio >= target)))
    show("Solving, one thread", ("", "ms a puzzle", "faster by", ""), rows)
    met = all(ratio >= TARGETS[name] for name, ratio in ratios.items())
    return not (met and fast_enough)


if __name__ == "__main__":
    sys.exit(main())
