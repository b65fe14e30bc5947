"""What a million puzzles cost before they are rendered: python benchmarks/specs.py

Each set of rules is drawn in a process of its own, so that its peak memory is its own (read from /proc: Linux).
"""

import multiprocessing
import sys
import time
from pathlib import Path

import torch

from fine.images import load_images
from fine.puzzles import draw_puzzles
from fine.rules import rule_set
from timing import show, verdict

COUNT = 1_000_000
MOST_SECONDS = 10
MOST_BYTES = 200
"""Bytes a puzzle kept in specs and attempts: 200 MB a million."""


def megabytes(entry: str) -> float:
    """A line of /proc/self/status: VmRSS is what is resident now, VmHWM its peak."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(status[entry].split()[0]) / 1024


def draw(rules: str) -> tuple[float, int, float]:
    """Seconds, bytes kept and peak growth in MB of a million puzzles."""
    torch.set_num_threads(1)
    images = load_images("glyphs")
    draw_puzzles(images, rule_set(rules), 10_000, seed=1)  # what only a first call costs
    before, started = megabytes("VmRSS"), time.perf_counter()
    puzzles = draw_puzzles(images, rule_set(rules), COUNT, seed=0)
    return time.perf_counter() - started, puzzles.specs.nbytes + puzzles.attempts.nbytes, megabytes("VmHWM") - before


def main() -> int:
    rows, met = [], True
    for rules in ("rotation", "all"):
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            seconds, kept, growth = pool.apply(draw, (rules,))
        small = kept <= MOST_BYTES * COUNT
        met &= small
        measured = (f"{seconds:.1f}", verdict(seconds <= MOST_SECONDS), f"{kept / 1e6:.0f}", verdict(small), f"{growth:.0f}")
        rows.append((rules, *measured))
    columns = (
        "rules",
        "seconds",
        f"≤ {MOST_SECONDS} s",
        "kept MB",
        f"≤ {MOST_BYTES * COUNT // 10**6} MB",
        "peak RSS growth MB",
    )
    show(f"{COUNT:,} puzzle specs over glyphs", columns, rows)
    return not met


if __name__ == "__main__":
    sys.exit(main())
