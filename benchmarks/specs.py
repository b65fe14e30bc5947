"""What a million puzzles cost before they are rendered: python benchmarks/specs.py

Each set of rules is drawn in a process of its own, so that its peak memory is its own (read from
/proc: Linux).
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
"""Bytes of specs and attempts for each puzzle: 200 MB for a million."""


def megabytes(entry: str) -> float:
    """A line of /proc/self/status: VmRSS is what is resident now, VmHWM its peak."""
    lines = Path("/proc/self/status").read_text().splitlines()
    status = dict(line.split(":", 1) for line in lines)
    return int(status[entry].split()[0]) / 1024


def draw(rules: str) -> tuple[float, int, float]:
    """Seconds, bytes kept and peak growth in MB of a million puzzles."""
    torch.set_num_threads(1)
    images = load_images("glyphs")
    draw_puzzles(images, rule_set(rules), 10_000, seed=1)  # what only a first call costs
    before, started = megabytes("VmRSS"), time.perf_counter()
    puzzles = draw_puzzles(images, rule_set(rules), COUNT, seed=0)
    seconds = time.perf_counter() - started
    kept = puzzles.specs.nbytes + puzzles.attempts.nbytes
    return seconds, kept, megabytes("VmHWM") - before


def main() -> int:
    rows, met = [], True
    for rules in ("rotation", "all"):
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            seconds, kept, growth = pool.apply(draw, (rules,))
        small = kept <= MOST_BYTES * COUNT
        met &= small
        times = (f"{seconds:.1f}", verdict(seconds <= MOST_SECONDS))
        sizes = (f"{kept / 1e6:.0f}", verdict(small), f"{growth:.0f}")
        rows.append((rules, *times, *sizes))
    most = f"≤ {MOST_BYTES * COUNT // 10**6} MB"
    columns = ("rules", "seconds", f"≤ {MOST_SECONDS} s", "kept MB", most, "peak RSS growth MB")
    show(f"{COUNT:,} puzzle specs over glyphs", columns, rows)
    return not met


if __name__ == "__main__":
    sys.exit(main())
