"""How fast puzzles of image files are solved, one or many at once: python benchmarks/solving.py"""

import os
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

PUZZLES, VERIFIED, ONE_BY_ONE, COMMANDS = 1000, 100, 20, 3
"""How many are solved at once, at once with the check on the pixels, and one by one."""
LIMIT = 150
"""Milliseconds one puzzle may take once a model is loaded."""
FASTER = 20
"""How many times faster than one command each a thousand puzzles at once should be."""
READING = 2.0
"""How many times longer than puzzles in memory they may take if they are read from files."""


def write_images(folder: Path, images: torch.Tensor) -> list[list[Path]]:
    """The seven images of every puzzle as files."""
    files = []
    for number, puzzle in enumerate(images.mul(255).byte()):
        paths = [folder / f"{number}-{place}.png" for place in range(7)]
        for path, image in zip(paths, puzzle, strict=True):
            Image.fromarray(image[0].numpy()).save(path)
        files.append(paths)
    return files


def command_seconds(paths: list[Path]) -> float:
    """Processor time of `fine solve` for one puzzle, the start of Python included."""
    before = os.times()
    command = [sys.executable, "-m", "fine", "solve", "--model-only", "--json", *paths]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    subprocess.run(command, check=True, capture_output=True, env=environment)
    after = os.times()
    user = after.children_user - before.children_user
    return user + after.children_system - before.children_system


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

        def verified_by_calls() -> None:
            for x, y, new, choices in asked[:ONE_BY_ONE]:
                solve(model, x, y, new, choices)

        def verified_at_once() -> None:
            solve_many(model, asked[:VERIFIED])

        ways = [by_calls, at_once, as_tensor, verified_by_calls, verified_at_once]
        seconds = take_turns(ways, rounds=3, clock=time.process_time)
        calls, many, tensors, verified_calls, verified = seconds
        by_command = 1000 * median(command_seconds(paths) for paths in files[:COMMANDS])
    call, among = 1000 * median(calls) / ONE_BY_ONE, 1000 * median(many) / PUZZLES
    in_memory = 1000 * median(tensors) / PUZZLES
    against_call = median_ratio(calls, many) * PUZZLES / ONE_BY_ONE
    checks = {
        "one call": call <= LIMIT,
        "a command each": by_command / among >= FASTER,
        "reading": among / in_memory <= READING,
    }
    rows = [
        ("one command per puzzle, `fine solve`", f"{by_command:,.0f}", "", ""),
        (f"one call per puzzle; ≤ {LIMIT} ms", f"{call:.2f}", "", verdict(checks["one call"])),
        (
            f"{PUZZLES:,} at once, against a command each; ≥ {FASTER} ×",
            f"{among:.2f}",
            f"{by_command / among:,.0f} ×",
            verdict(checks["a command each"]),
        ),
        ("… against a call each", "", f"{against_call:.1f} ×", ""),
        (
            f"as one tensor instead of {7 * PUZZLES:,} files; ≤ {READING:g} ×",
            f"{in_memory:.2f}",
            f"{among / in_memory:.2f} ×",
            verdict(checks["reading"]),
        ),
    ]
    rows += [
        (
            "with the check on the pixels, one call per puzzle",
            f"{1000 * median(verified_calls) / ONE_BY_ONE:.2f}",
            "",
            "",
        ),
        (
            f"with the check on the pixels, {VERIFIED} at once",
            f"{1000 * median(verified) / VERIFIED:.2f}",
            "",
            "",
        ),
    ]
    show("Solving, processor time of one thread", ("", "ms per puzzle", "faster by", ""), rows)
    return not all(checks.values())


if __name__ == "__main__":
    sys.exit(main())
