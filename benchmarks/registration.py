"""How exactly rules are found: python benchmarks/registration.py [PAIRS [FAMILY]] [OPTIONS]

Pairs are made by other programs (registration_pairs.py; `pip install scipy`). `--seed=1` makes
other pairs, `--verbose` tells of each that is not as it should be.
"""

import math
import sys
import time
from dataclasses import dataclass

import numpy as np
import scipy.ndimage
from numpy.typing import NDArray
from PIL import Image

from fine.apply import Settings, apply_map
from fine.geometry.frame import frame_points, pixel_maps
from fine.inference.registration import Registered, register
from registration_pairs import FAMILIES, Truth, make_example
from timing import show, verdict

ANGLE, WIDTH, SCALE, DECIBEL = 0.5, 0.005, 0.01, 30.0
"""Tolerances: degrees, parts of the width, parts of a factor; and the least PSNR of an answer."""


def near(truth: Truth, found: Registered, size: tuple[int, int]) -> bool:
    """Whether what was found is the truth, within the tolerances."""
    points = np.stack(np.meshgrid(np.linspace(-0.6, 0.6, 25), np.linspace(-0.6, 0.6, 25)), -1)
    points = points * np.array(size) / max(size)
    if truth.cut is not None:
        cuts = [rule for rule in found.rule.rules if rule.family.name == "black-white"]
        if len(cuts) != 1 or len(found.rule.rules) != 1:
            return False
        axis, place, side = cuts[0].parameters
        same = (axis, side) == (truth.cut[0], truth.cut[2])
        return same and abs(place / 16 - truth.cut[1]) <= 2 * WIDTH
    if found.rule.partly_negative or found.rule.negative != truth.negative:
        return False
    if truth.matrix is None or found.rule.matrix is None:
        wanted, got = truth.sources(points), found.rule.sources(points)
        reach = np.array(size) / max(size)
        seen = (np.abs(wanted) <= reach).all(-1)
        distance = np.linalg.norm(wanted - got, axis=-1)[seen]
        return bool(np.sqrt(np.mean(distance**2)) <= 2 * WIDTH)  # the width is two units
    back, there = (np.vstack((one, [0, 0, 1])) for one in (truth.matrix, found.rule.matrix))
    rest = np.linalg.inv(there) @ back  # the identity, if all is well
    left, factors, right = np.linalg.svd(rest[:2, :2])
    rotation = left @ right
    degrees = abs(math.degrees(math.atan2(rotation[1, 0], rotation[0, 0])))
    moved = float(np.abs(rest[:2, 2]).max())
    return degrees <= ANGLE and bool((np.abs(factors - 1) <= SCALE).all()) and moved <= 2 * WIDTH


def psnr(found: Registered, x: Image.Image, y: Image.Image, defined: NDArray[np.bool_]) -> float:
    """Of the answer drawn at full size, where it is defined."""
    if not found.rule.partly_negative and x.size == y.size:
        drawn = np.asarray(apply_map(x, found.rule, Settings()), dtype=np.float64)
    else:
        points = frame_points(y.size[1], y.size[0], unit=max(x.size) / 2)
        columns, rows = pixel_maps(found.rule.sources(points), x.size[::-1])
        pixels = np.asarray(x, dtype=np.float64)
        bands = [
            scipy.ndimage.map_coordinates(pixels[..., c], [rows, columns], order=3)
            for c in range(3)
        ]
        drawn = np.stack(bands, -1).clip(0, 255)
        inverted = found.rule.negative_at(points)
        drawn = np.where(inverted[..., None], 255 - drawn, drawn)
    error = np.mean((drawn - np.asarray(y, dtype=np.float64))[defined] ** 2)
    return 10 * math.log10(255**2 / max(error, 1e-3))


@dataclass(frozen=True)
class Outcome:
    near: bool
    sure: bool
    decibel: float
    seconds: float


def try_one(family: str, number: int, seed: int, *, verbose: bool) -> Outcome:
    """One example, registered and judged."""
    example = make_example(family, number=number, seed=seed)
    truth = example.truth
    began = time.process_time()
    found = register(example.xs, example.ys)
    seconds = time.process_time() - began
    good = near(truth, found, example.size)
    shown = example.defined.any()
    decibel = psnr(found, example.x, example.y, example.defined) if shown else math.inf
    if verbose and not (good and found.sure and decibel >= DECIBEL):
        state = f"{'near' if good else 'OFF'} {'sure' if found.sure else 'unsure ' + found.reason}"
        told = f"{decibel:.1f} dB, left {found.residual:.3f}, {seconds:.1f} s"
        what = truth.matrix.round(3).tolist() if truth.matrix is not None else truth.cut
        images = f"{example.kind} {example.size} q{example.quality} ×{len(example.xs)}"
        print(f"{family} {number} {images}: {state}, {told}")
        print(f"    {what} -> {found}", flush=True)
    return Outcome(good, found.sure, decibel, seconds)


def main() -> None:
    options = [one for one in sys.argv[1:] if one.startswith("--")]
    given = [one for one in sys.argv[1:] if not one.startswith("--")]
    count = int(given[0]) if given else 300
    names = [given[1]] if len(given) > 1 else list(FAMILIES)
    seed = next((int(one.removeprefix("--seed=")) for one in options if "--seed=" in one), 0)
    results: dict[str, list[Outcome]] = {family: [] for family in names}
    for number in range(math.ceil(count / len(names))):
        for family in names:
            results[family].append(try_one(family, number, seed, verbose="--verbose" in options))
        if "--verbose" in options:
            print(f"{(number + 1) * len(names)} pairs, {time.process_time():.0f} s", flush=True)
    show_results(results)


def show_results(results: dict[str, list[Outcome]]) -> None:
    rows, wrong, total = [], 0, 0
    for family, outcomes in results.items():
        within = sum(one.near for one in outcomes) / len(outcomes)
        misled = sum(one.sure and not one.near for one in outcomes)
        drawn = [one.decibel for one in outcomes if one.near]
        clear = sum(one >= DECIBEL for one in drawn) / max(len(drawn), 1)
        wrong, total = wrong + misled, total + len(outcomes)
        rows.append(
            (
                family,
                f"{len(outcomes)}",
                f"{within:.1%} {verdict(within >= 0.95)}",
                f"{sum(one.sure for one in outcomes) / len(outcomes):.1%}",
                f"{misled}",
                f"{clear:.1%}",
                f"{np.median(drawn):.1f}" if drawn else "",
                f"{np.median([one.seconds for one in outcomes]):.2f}",
            )
        )
    share = wrong / total
    rows.append(("all", f"{total}", "", "", f"{share:.1%} {verdict(share <= 0.01)}", "", "", ""))
    columns = ("family", "pairs", "within tolerance", "sure", "sure and wrong")
    drawn_columns = ("≥ 30 dB", "median dB", "median s")
    show("Rules found from one example or two", (*columns, *drawn_columns), rows)


if __name__ == "__main__":
    main()
