"""Puzzles by another program: shapes of ImageDraw under Pillow's own transforms."""

import io
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageOps

SIDE, PAPER, PEN = 96, 255, 0
UNIT = SIDE // 32  # a pixel of the rules
FAMILIES = ("rotation", "translation", "reflection", "scale", "swap")

Change = Callable[[Image.Image], Image.Image]


def shape(rng: random.Random) -> Image.Image:
    """A polyline, and a ring or a box: dark strokes on white."""
    image = Image.new("L", (SIDE, SIDE), PAPER)
    draw = ImageDraw.Draw(image)
    low, high = 0.2 * SIDE, 0.8 * SIDE
    corners = [(rng.uniform(low, high), rng.uniform(low, high)) for _ in range(rng.randint(3, 5))]
    draw.line(corners, fill=PEN, width=5)
    left, top = rng.uniform(low, SIDE / 2), rng.uniform(low, SIDE / 2)
    box = (left, top, left + rng.uniform(16, 30), top + rng.uniform(16, 30))
    rng.choice((draw.ellipse, draw.rectangle))(box, outline=PEN, width=5)
    return image


def change(family: str, rng: random.Random) -> Change:
    """A rule of a family, none of them the identity, as Pillow does it."""
    if family == "rotation":
        degrees = 15 * rng.randint(1, 23)
        options = {"resample": Image.Resampling.BILINEAR, "fillcolor": PAPER}
        return lambda image: image.rotate(degrees, **options)
    if family == "translation":
        steps = range(-9, 10, 3)
        right, down = rng.choice([(a, b) for a in steps for b in steps if (a, b) != (0, 0)])
        return lambda image: pasted(image, right * UNIT, down * UNIT)
    if family == "reflection":
        mirrors = (Image.Transpose.FLIP_LEFT_RIGHT, Image.Transpose.FLIP_TOP_BOTTOM)
        mirror = rng.choice(mirrors)
        return lambda image: image.transpose(mirror)
    if family == "scale":
        side = round(rng.choice((0.5, 0.75, 1.25)) * SIDE)
        edge = (SIDE - side) // 2
        size = (side, side)
        return lambda image: pasted(image.resize(size, Image.Resampling.BILINEAR), edge, edge)
    order = rng.sample(range(4), 4)
    if order == sorted(order):
        order.reverse()
    return lambda image: swapped(image, order)


def pasted(image: Image.Image, left: int, top: int) -> Image.Image:
    paper = Image.new(image.mode, (SIDE, SIDE), PAPER)
    paper.paste(image, (left, top))
    return paper


def swapped(image: Image.Image, order: list[int]) -> Image.Image:
    half = SIDE // 2
    corners = [(0, 0), (half, 0), (0, half), (half, half)]
    result = image.copy()
    for (left, top), origin in zip(corners, order, strict=True):
        x, y = corners[origin]
        result.paste(image.crop((x, y, x + half, y + half)), (left, top))
    return result


def puzzle(number: int) -> tuple[list[Image.Image], int]:
    """x, y, x' and four choices in random order, and the place of the right one."""
    rng = random.Random(number)
    x, new, other = (shape(rng) for _ in range(3))
    right = change(FAMILIES[number % len(FAMILIES)], rng)
    wrong = change(rng.choice(FAMILIES), rng)
    while wrong(new).tobytes() == right(new).tobytes():
        wrong = change(rng.choice(FAMILIES), rng)
    choices = [right(new), wrong(new), right(other), wrong(other)]
    order = rng.sample(range(4), 4)
    return [x, right(x), new, *(choices[kind] for kind in order)], order.index(0)


def save(images: list[Image.Image], folder: Path) -> list[Path]:
    """The images as PNG files: x, y, new, a, b, c, d."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{name}.png" for name in ("x", "y", "new", *"abcd")]
    for image, path in zip(images, paths, strict=True):
        image.save(path)
    return paths


def on_nothing(image: Image.Image) -> Image.Image:
    """Blue strokes on a transparent ground."""
    ink = Image.new("RGBA", image.size, (20, 40, 120, 0))
    ink.putalpha(ImageOps.invert(image))
    return ink


def photographed(image: Image.Image) -> Image.Image:
    """As a phone sees it on a table: larger, soft, noisy, lit from the left, as a JPEG file."""
    soft = np.asarray(image.resize((400, 400)).filter(ImageFilter.GaussianBlur(2))) / 255
    light = np.linspace(0.95, 0.5, 400)
    noise = np.random.default_rng(0).normal(0, 0.02, soft.shape)
    seen = np.clip((0.15 + 0.85 * soft) * light + noise, 0, 1)
    photo = Image.fromarray((255 * seen).astype(np.uint8)).convert("RGB")
    file = io.BytesIO()
    photo.save(file, format="JPEG", quality=70)
    return Image.open(file)


MATERIALS: dict[str, Change] = {
    "dark on white": lambda image: image,
    "bright on black": ImageOps.invert,
    "on a transparent ground": on_nothing,
    "photographed": photographed,
}
"""Ways a drawing may come."""
