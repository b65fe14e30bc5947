"""Pairs of images that other programs made, and the rules they were made by.

    example = make_example("rotation", number=3, seed=0)

Rules are made with Pillow and SciPy, not with our own warp: photographs of CIFAR-100 scaled up,
drawings of letters and shapes, and smooth synthetic photographs, 64 to 4,000 pixels (a sixth of
them above 800), with parameters off every grid, JPEG noise in half of them and a second hint in a
quarter.
"""

import functools
import io
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.ndimage
import torch
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from fine import load_images

Floats = NDArray[np.float64]
Point = Callable[[Floats], Floats]
"""Output points -> input points, in frame units."""


@dataclass(frozen=True)
class Truth:
    """A rule as the benchmark itself knows it."""

    sources: Point
    matrix: Floats | None = None
    """2 × 3, output point -> input point, if it is affine."""
    cut: tuple[int, float, int] | None = None
    """Axis, place in frame units and side of the part that is negative."""
    negative: bool = False
    expand: bool = False
    """Whether the frame becomes as large as all of the moved image."""


def affine(forward: Floats, shift: tuple[float, float] = (0.0, 0.0), **more: bool) -> Truth:
    back = np.linalg.inv(forward)
    matrix = np.column_stack((back, -back @ np.array(shift)))
    return Truth(lambda p: p @ matrix[:, :2].T + matrix[:, 2], matrix, **more)


def turn(degrees: float) -> Floats:  # counter-clockwise as seen, with y down
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return np.array([[c, s], [-s, c]])


def make_square(rng: np.random.Generator) -> Truth:
    mirror = np.diag([rng.choice([-1.0, 1.0]), 1.0])
    return affine(np.round(turn(90 * rng.integers(4))) @ mirror, expand=True)


def make_translation(rng: np.random.Generator) -> Truth:
    across, down = rng.uniform(-0.5, 0.5, 2)
    return affine(np.eye(2), (across, down))


def make_rotation(rng: np.random.Generator) -> Truth:
    return affine(turn(rng.uniform(0, 360)), expand=bool(rng.random() < 0.3))


def make_scale(rng: np.random.Generator) -> Truth:
    factor = math.exp(rng.uniform(math.log(0.5), math.log(1.9)))
    return affine(np.eye(2) * factor, expand=bool(rng.random() < 0.3))


def make_stretch(rng: np.random.Generator) -> Truth:
    return affine(np.diag(np.exp(rng.uniform(math.log(0.6), math.log(1.6), 2))))


def make_shear(rng: np.random.Generator) -> Truth:
    across, down = np.tan(np.radians(rng.uniform(-40, 40, 2)))
    return affine(np.array([[1, across], [down, 1 + across * down]]))


def make_mix(rng: np.random.Generator) -> Truth:
    mirror = np.diag([rng.choice([-1.0, 1.0]), 1.0])
    lean = np.array([[1, math.tan(math.radians(rng.uniform(-15, 15)))], [0, 1]])
    factors = np.diag(np.exp(rng.uniform(math.log(0.65), math.log(1.4), 2)))
    shift = rng.uniform(-0.25, 0.25, 2)
    return affine(turn(rng.uniform(0, 360)) @ lean @ factors @ mirror, (shift[0], shift[1]))


def wave_points(height: float, waves: float) -> Point:
    def sources(p: Floats) -> Floats:
        moved = p.copy()
        moved[..., 1] += height / 16 * np.cos(math.pi * waves * p[..., 1])
        return moved

    return sources


def fisheye_points(x: float, y: float, strength: float) -> Point:
    def sources(p: Floats) -> Floats:
        offset = p - np.array([x, y])
        return p + offset * strength * np.linalg.norm(offset, axis=-1, keepdims=True)

    return sources


def make_wave(rng: np.random.Generator) -> Truth:
    height = rng.choice([-1, 1]) * rng.uniform(1, 4)
    return Truth(wave_points(height, rng.uniform(0.8, 3)))


def make_fisheye(rng: np.random.Generator) -> Truth:
    x, y = rng.uniform(-0.5, 0.5, 2)
    return Truth(fisheye_points(x, y, rng.uniform(0.2, 0.9)))


def make_swap(rng: np.random.Generator) -> Truth:
    orders = list(itertools.permutations(range(4)))[1:]
    origins = np.array(orders[rng.integers(len(orders))])

    def sources(p: Floats) -> Floats:
        quarter = (p[..., 0] > 0).astype(int) + 2 * (p[..., 1] > 0)
        origin = origins[quarter]
        moved = p.copy()
        moved[..., 0] += origin % 2 - quarter % 2
        moved[..., 1] += origin // 2 - quarter // 2
        return moved

    return Truth(sources)


def make_black_white(rng: np.random.Generator) -> Truth:
    if rng.random() < 0.25:
        return Truth(lambda p: p, np.eye(2, 3), negative=True)
    cut = (int(rng.integers(2)), float(rng.uniform(-0.5, 0.5)), int(rng.choice([-1, 1])))
    return Truth(lambda p: p, cut=cut)


def make_negative_mix(rng: np.random.Generator) -> Truth:
    forward = turn(rng.uniform(0, 360)) * math.exp(rng.uniform(math.log(0.7), math.log(1.4)))
    return affine(forward, negative=True)


def make_bent_mix(rng: np.random.Generator) -> Truth:
    moved = affine(
        turn(rng.uniform(-60, 60)) * rng.uniform(0.75, 1.3), tuple(rng.uniform(-0.15, 0.15, 2))
    )
    if rng.random() < 0.5:
        bend = wave_points(rng.choice([-1, 1]) * rng.uniform(1.5, 3), rng.uniform(0.8, 2))
    else:
        bend = fisheye_points(*rng.uniform(-0.4, 0.4, 2), rng.uniform(0.3, 0.8))
    if rng.random() < 0.5:
        return Truth(lambda p: bend(moved.sources(p)))
    return Truth(lambda p: moved.sources(bend(p)))


FAMILIES: dict[str, Callable[[np.random.Generator], Truth]] = {
    "square": make_square,
    "translation": make_translation,
    "rotation": make_rotation,
    "scale": make_scale,
    "stretch": make_stretch,
    "shear": make_shear,
    "affine mix": make_mix,
    "wave": make_wave,
    "fisheye": make_fisheye,
    "swap": make_swap,
    "black-white": make_black_white,
    "affine + negative": make_negative_mix,
    "affine + bend": make_bent_mix,
}

# Images


@functools.cache
def small_photographs() -> torch.Tensor:  # (n, 3, 32, 32)
    return load_images("cifar100").pixels


def photograph(rng: np.random.Generator, size: tuple[int, int]) -> Image.Image:
    pixels = small_photographs()
    small = Image.fromarray(pixels[rng.integers(len(pixels))].movedim(0, -1).numpy())
    return small.resize(size, Image.Resampling.BICUBIC)


def drawing(rng: np.random.Generator, size: tuple[int, int]) -> Image.Image:
    paper = "white" if rng.random() < 0.5 else "black"
    image = Image.new("RGB", size, paper)
    draw = ImageDraw.Draw(image)
    width, height = size
    side = min(size)
    ink = [tuple(int(v) for v in rng.integers(40, 200, 3)) for _ in range(3)]
    corner = [0.22 * width, 0.55 * height, 0.45 * width, 0.75 * height]
    draw.rectangle(corner, fill=ink[0])
    draw.ellipse([0.6 * width, 0.2 * height, 0.6 * width + 0.18 * side, 0.4 * height], fill=ink[1])
    font = ImageFont.load_default(0.4 * side)
    letters = "".join(rng.choice(list("FGRkQ7&5PJLh4")) for _ in range(2))
    draw.text((0.3 * width, 0.25 * height), letters, fill=ink[2], font=font)
    return image


def synthetic(rng: np.random.Generator, size: tuple[int, int]) -> Image.Image:
    total = np.zeros((size[1], size[0], 3))
    for cells, weight in ((4, 0.5), (9, 0.35), (24, 0.15)):
        noise = Image.fromarray(rng.integers(0, 256, (cells, cells, 3), dtype=np.uint8))
        total += weight * np.asarray(noise.resize(size, Image.Resampling.BICUBIC), dtype=float)
    stretched = (total - total.min()) / np.ptp(total) * 255
    return Image.fromarray(stretched.round().astype(np.uint8))


def as_jpeg(image: Image.Image, quality: int) -> Image.Image:
    file = io.BytesIO()
    image.save(file, format="JPEG", quality=quality)
    return Image.open(io.BytesIO(file.getvalue())).convert("RGB")


def out_size(truth: Truth, size: tuple[int, int]) -> tuple[int, int]:
    """Width and height of the result."""
    if not truth.expand or truth.matrix is None:
        return size
    forward = np.linalg.inv(truth.matrix[:, :2])
    corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * np.array(size) / 2
    reach = np.abs(corners @ forward.T).max(0) * 2
    return max(8, math.ceil(reach[0] - 1e-6)), max(8, math.ceil(reach[1] - 1e-6))


def transformed(
    image: Image.Image, truth: Truth, fill: int
) -> tuple[Image.Image, NDArray[np.bool_]]:
    """The image under a rule, and which of its pixels come from well within the image."""
    size, unit = out_size(truth, image.size), max(image.size) / 2
    points = np.stack(
        np.meshgrid(
            (np.arange(size[0]) + 0.5 - size[0] / 2) / unit,
            (np.arange(size[1]) + 0.5 - size[1] / 2) / unit,
        ),
        axis=-1,
    )
    read = truth.sources(points) * unit + np.array(image.size) / 2  # in pixels, continuous
    margin = 2.0
    defined = ((read > margin) & (read < np.array(image.size) - margin)).all(-1)
    if truth.matrix is not None:
        linear, shift = truth.matrix[:, :2], truth.matrix[:, 2] * unit + np.array(image.size) / 2
        offset = shift - linear @ (np.array(size) / 2)
        data = (*linear[0], offset[0], *linear[1], offset[1])
        made = image.transform(
            size, Image.Transform.AFFINE, data, Image.Resampling.BICUBIC, fillcolor=(fill,) * 3
        )
    else:
        pixels = np.asarray(image, dtype=np.float64)
        where = [read[..., 1] - 0.5, read[..., 0] - 0.5]
        bands = [
            scipy.ndimage.map_coordinates(
                pixels[..., c], where, order=3, cval=fill, mode="constant"
            )
            for c in range(3)
        ]
        made = Image.fromarray(np.stack(bands, -1).round().clip(0, 255).astype(np.uint8))
    inverted = np.zeros(points.shape[:2], dtype=bool)
    if truth.cut is not None:
        axis, place, side = truth.cut
        inverted = (points[..., axis] - place) * side > 0
    if truth.negative:
        inverted = ~inverted
    values = np.asarray(made)
    return Image.fromarray(np.where(inverted[..., None], 255 - values, values)), defined


def tensor(image: Image.Image) -> torch.Tensor:
    return torch.from_numpy(np.asarray(image).astype(np.float32) / 255).movedim(-1, 0)


@dataclass(frozen=True)
class Example:
    """One pair or two, made by one rule."""

    truth: Truth
    kind: str
    size: tuple[int, int]
    quality: int
    """That of the JPEG noise; 0: there is none."""
    xs: list[torch.Tensor]
    ys: list[torch.Tensor]
    x: Image.Image
    """The first x without noise."""
    y: Image.Image
    defined: NDArray[np.bool_]
    """Which pixels of y come from well within x."""


def make_example(family: str, *, number: int, seed: int) -> Example:
    """An example of a family; the same numbers make the same one."""
    rng = np.random.default_rng([list(FAMILIES).index(family), number, seed])
    truth = FAMILIES[family](rng)
    size = _size(rng, family, truth)
    kind = (photograph, drawing, synthetic)[number % 3]
    fill = 255 if kind is drawing and rng.random() < 0.5 else 0
    quality = int(rng.integers(75, 96)) if rng.random() < 0.5 else 0
    made = []
    for _ in range(2 if rng.random() < 0.25 else 1):
        x = kind(rng, size)
        made.append((x, *transformed(x, truth, fill)))
    noisy = [[as_jpeg(one, quality) if quality else one for one in pair[:2]] for pair in made]
    xs, ys = ([tensor(pair[place]) for pair in noisy] for place in (0, 1))
    return Example(truth, kind.__name__, size, quality, xs, ys, *made[0])


def _size(rng: np.random.Generator, family: str, truth: Truth) -> tuple[int, int]:
    """Width and height of the images."""
    large = 4000 if truth.matrix is not None else 1500  # SciPy is slower
    shortest, longest = (800, large) if rng.random() < 1 / 6 else (64, 800)
    side = round(math.exp(rng.uniform(math.log(shortest), math.log(longest))))
    if family == "swap":
        return side // 2 * 2, side // 2 * 2
    shape = (1.0, 1.5, 2 / 3, 1.33)[rng.integers(4)]
    if shape >= 1:
        return side, max(48, round(side / shape))
    return max(48, round(side * shape)), side
