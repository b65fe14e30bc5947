"""How fast photographs of 12 megapixels are done: python benchmarks/apply.py --count 1000

Against Pillow alone, which decodes, transforms and encodes the same files in as many processes,
with no check, no file that is whole or absent, nothing kept of what the file was. Both take turns,
round by round, in the same run. Memory is that of `fine apply`, after every file.

``--rule`` is rotation (default), or half, wave, swap, which Pillow's transform does not do: it
still rotates then. ``--costs`` prints what each rule costs without reading and writing, in time of
one core, and what antialiasing adds. Files lie in the folder for temporary files, at most about
1 GB at a time, and are deleted.
"""

import argparse
import contextlib
import gc
import io
import itertools
import math
import multiprocessing
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np
import torch
from PIL import Image, ImageFilter

from fine.apply import Settings, affine, apply_map, apply_to_files, remap
from fine.apply.batch import cores
from fine.geometry.point_map import PointMap
from fine.rules import FAMILIES, Rule
from fine.rules.rule_map import RuleMap
from timing import show, verdict

SIZE = (4000, 3000)
DISTINCT = 8
"""Photographs that are made; the others are links to them."""
ROUND = 100
"""Photographs that are done before the other one has its turn, at most."""
RULES = {
    "rotation": Rule(FAMILIES["rotation"], (37.2,)),
    "half": Rule(FAMILIES["scale"], (0.5,)),
    "wave": Rule(FAMILIES["wave"], (2.0, 2.0)),
    "swap": Rule(FAMILIES["swap"], (1, 0, 3, 2)),
}
LEAST = 0.7
"""Of Pillow's throughput."""
GROWTH = 60
"""Megabytes that memory may grow by in the second half: about one photograph."""


def photograph(seed: int) -> bytes:
    """A JPEG with detail at all scales, as photographs have: about 4 MB."""
    random = np.random.default_rng(seed)
    total = np.zeros((SIZE[1], SIZE[0], 3), dtype=np.float32)
    for scale, strength in ((400, 60), (60, 30), (8, 18), (1, 7)):
        shape = (SIZE[1] // scale + 1, SIZE[0] // scale + 1, 3)
        noise = Image.fromarray(random.integers(256, size=shape, dtype=np.uint8))
        total += (np.asarray(noise.resize(SIZE, Image.Resampling.BICUBIC)) / 127.5 - 1) * strength
    image = Image.fromarray((total + 128).clip(0, 255).astype(np.uint8))
    content = io.BytesIO()
    image.filter(ImageFilter.GaussianBlur(0.6)).save(content, "JPEG", quality=92)
    return content.getvalue()


def fill(folder: Path, count: int, contents: list[bytes]) -> list[Path]:
    folder.mkdir()
    paths = [folder / f"{number:04}.jpg" for number in range(count)]
    for number, path in enumerate(paths):
        if number < len(contents):
            path.write_bytes(contents[number])
        else:
            os.link(paths[number % len(contents)], path)
    return paths


def by_pillow(pool: Executor, paths: list[Path], out: Path, matrix: np.ndarray) -> None:
    """What a script of ten lines would do."""
    out.mkdir()
    list(pool.map(partial(one_by_pillow, out, matrix), paths))


def one_by_pillow(out: Path, matrix: np.ndarray, path: Path) -> None:
    with Image.open(path) as image:
        centre, unit = np.array(image.size) / 2, max(image.size) / 2
        linear = matrix[:, :2]
        offset = centre + matrix[:, 2] * unit - linear @ centre
        (a, b), (d, e) = linear
        coefficients = (a, b, offset[0], d, e, offset[1])
        moved = image.transform(
            image.size, Image.Transform.AFFINE, coefficients, resample=Image.Resampling.BICUBIC
        )
        moved.save(out / path.name, qtables=image.quantization, subsampling=2)


class Memory:
    """The memory in use after every file, in megabytes."""

    def __init__(self) -> None:
        self.seen: list[float] = []

    def __call__(self, done: int, total: int, path: Path) -> None:
        lines = Path("/proc/self/status").read_text().splitlines()
        kilobytes = next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:"))
        self.seen.append(kilobytes / 1000)

    @property
    def growth(self) -> float:
        half = len(self.seen) // 2
        return max(self.seen[half:]) - max(self.seen[:half])

    @property
    def by_tenths(self) -> str:
        """The highest of each tenth of the run."""
        ends = [round(len(self.seen) * tenth / 10) for tenth in range(11)]
        parts = [self.seen[start:end] for start, end in itertools.pairwise(ends)]
        return " ".join(f"{max(part):,.0f}" for part in parts if part)


def show_costs() -> None:
    """Milliseconds of one core for one photograph, the least of three."""
    torch.set_num_threads(1)
    image = Image.open(io.BytesIO(photograph(0)))
    image.load()
    rules = RULES | {
        "×0.72": Rule(FAMILIES["scale"], (0.72,)),
        "fisheye": Rule(FAMILIES["fisheye"], (0.1, -0.05, 0.31)),
    }
    rows = []
    for name, rule in rules.items():
        point_map = RuleMap((rule,))
        spent = [cost(image, point_map, resample) for resample in ("bilinear", "bicubic")]
        with not_antialiased():
            spent.append(cost(image, point_map, "bicubic"))
        rows.append((name, *(f"{1000 * seconds:.0f}" for seconds in spent)))
    show("12 megapixels, ms", ("", "bilinear", "bicubic", "not antialiased"), rows)


def cost(image: Image.Image, point_map: PointMap, resample: str) -> float:
    least = float("inf")
    for _ in range(3):
        started = time.process_time()
        apply_map(image, point_map, Settings(resample=resample))
        least = min(least, time.process_time() - started)
    return least


@contextlib.contextmanager
def not_antialiased() -> Iterator[None]:
    kept = affine.reduced, remap.reduced, remap._FINEST
    affine.reduced = remap.reduced = lambda image, *_: image
    remap._FINEST = 1
    try:
        yield
    finally:
        affine.reduced, remap.reduced, remap._FINEST = kept


def main() -> int:
    parser = argparse.ArgumentParser(description="Throughput of fine apply against Pillow alone")
    parser.add_argument("--count", type=int, default=24, help="photographs; 24 by default")
    parser.add_argument("--rule", choices=RULES, default="rotation")
    parser.add_argument(
        "--jobs", type=int, default=cores(), help="threads, and processes of Pillow"
    )
    parser.add_argument("--costs", action="store_true", help="what each rule costs, without files")
    options = parser.parse_args()
    if options.costs:
        show_costs()
        return 0
    rounds = max(2, math.ceil(options.count / ROUND))
    per_round = max(1, options.count // rounds)
    contents = [photograph(seed) for seed in range(min(DISTINCT, per_round))]
    memory = Memory()
    # New processes, not copies of this one: they have nothing but Pillow to do.
    context = multiprocessing.get_context("spawn")
    with (
        ProcessPoolExecutor(options.jobs, context) as pool,
        tempfile.TemporaryDirectory() as place,
    ):
        list(pool.map(abs, range(options.jobs)))  # they start before the clock does
        times = [
            one_round(number, Path(place), per_round, contents, pool, memory, options)
            for number in range(rounds)
        ]
    return show_results(times, per_round, contents, memory, options)


def one_round(
    number: int,
    folder: Path,
    count: int,
    contents: list[bytes],
    pool: Executor,
    memory: Memory,
    options: argparse.Namespace,
) -> tuple[float, float]:
    """Seconds of Pillow and of ours for the same files."""
    photos, out, other = (folder / name for name in ("photos", "out", "other"))
    paths = fill(photos, count, contents)
    point_map: PointMap = RuleMap((RULES[options.rule],))
    matrix = point_map.matrix
    if matrix is None:
        matrix = RuleMap((RULES["rotation"],)).matrix
    ours = partial(apply_to_files, point_map, [photos], out, Settings())
    work = [
        partial(by_pillow, pool, paths, other, matrix),
        partial(ours, jobs=options.jobs, progress=memory),
    ]
    spent = [0.0, 0.0]
    for which in (0, 1) if number % 2 else (1, 0):
        gc.collect()
        started = time.perf_counter()
        work[which]()
        spent[which] = time.perf_counter() - started
    assert len(list(out.glob("*.jpg"))) == len(list(other.glob("*.jpg"))) == len(paths)
    for used in (photos, out, other):
        shutil.rmtree(used)
    print(f"round {number + 1}: Pillow {spent[0]:.1f} s, ours {spent[1]:.1f} s", flush=True)
    return spent[0], spent[1]


def show_results(
    times: list[tuple[float, float]],
    per_round: int,
    contents: list[bytes],
    memory: Memory,
    options: argparse.Namespace,
) -> int:
    """A table; returns whether anything was missed."""
    pillow, ours = (sum(column) / per_round / len(times) for column in zip(*times, strict=True))
    ratio = median(pillow / ours for pillow, ours in times)
    rows = [
        ("Pillow alone", f"{1 / pillow:.2f}", "", ""),
        (f"fine apply, {options.rule}", f"{1 / ours:.2f}", "", ""),
        (f"throughput against Pillow; ≥ {LEAST}", "", f"{ratio:.2f}", verdict(ratio >= LEAST)),
        ("highest memory in use, MB", "", f"{max(memory.seen):,.0f}", ""),
        (
            f"… of the second half above the first; ≤ {GROWTH} MB",
            "",
            f"{memory.growth:+.0f}",
            verdict(memory.growth <= GROWTH),
        ),
    ]
    megabytes = sum(map(len, contents)) / len(contents) / 1e6
    title = (
        f"{per_round * len(times):,} photographs of 12 megapixels, {megabytes:.1f} MB each, "
        f"{options.jobs} at a time"
    )
    show(title, ("", "images/s", "", ""), rows)
    print(f"highest memory of each tenth of the run, MB: {memory.by_tenths}")
    return not (ratio >= LEAST and memory.growth <= GROWTH)


if __name__ == "__main__":
    sys.exit(main())
