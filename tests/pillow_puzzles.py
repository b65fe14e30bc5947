"""Puzzles that owe nothing to this program's renderer: shapes by ImageDraw, and Pillow's own rotate, transform and paste."""

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
    picture = Image.new("L", (SIDE, SIDE), PAPER)
    draw = ImageDraw.Draw(picture)
    low, high = 0.2 * SIDE, 0.8 * SIDE
    draw.line([(rng.uniform(low, high), rng.uniform(low, high)) for _ in range(rng.randint(3, 5))], fill=PEN, width=5)
    left, top = rng.uniform(low, SIDE / 2), rng.uniform(low, SIDE / 2)
    box = (left, top, left + rng.uniform(16, 30), top + rng.uniform(16, 30))
    rng.choice((draw.ellipse, draw.rectangle))(box, outline=PEN, width=5)
    return picture


def change(family: str, rng: random.Random) -> Change:
    """A rule of a family, none of them the identity, as Pillow does it."""
    if family == "rotation":
        degrees = 15 * rng.randint(1, 23)
        return lambda picture: picture.rotate(degrees, resample=Image.Resampling.BILINEAR, fillcolor=PAPER)
    if family == "translation":
        right, down = rng.choice([(a, b) for a in range(-9, 10, 3) for b in range(-9, 10, 3) if (a, b) != (0, 0)])
        return lambda picture: pasted(picture, right * UNIT, down * UNIT)
    if family == "reflection":
        way = rng.choice((Image.Transpose.FLIP_LEFT_RIGHT, Image.Transpose.FLIP_TOP_BOTTOM))
        return lambda picture: picture.transpose(way)
    if family == "scale":
        side = round(rng.choice((0.5, 0.75, 1.25)) * SIDE)
        edge = (SIDE - side) // 2
        return lambda picture: pasted(picture.resize((side, side), Image.Resampling.BILINEAR), edge, edge)
    order = rng.sample(range(4), 4)
    if order == sorted(order):
        order.reverse()
    return lambda picture: swapped(picture, order)


def pasted(picture: Image.Image, left: int, top: int) -> Image.Image:
    paper = Image.new(picture.mode, (SIDE, SIDE), PAPER)
    paper.paste(picture, (left, top))
    return paper


def swapped(picture: Image.Image, order: list[int]) -> Image.Image:
    half = SIDE // 2
    corners = [(0, 0), (half, 0), (0, half), (half, half)]
    result = picture.copy()
    for (left, top), origin in zip(corners, order, strict=True):
        x, y = corners[origin]
        result.paste(picture.crop((x, y, x + half, y + half)), (left, top))
    return result


def puzzle(number: int) -> tuple[list[Image.Image], int]:
    """x, y, x' and four choices in random order, and the place of the right one."""
    rng = random.Random(number)
    x, new, other = (shape(rng) for _ in range(3))
    right, wrong = change(FAMILIES[number % len(FAMILIES)], rng), change(rng.choice(FAMILIES), rng)
    while wrong(new).tobytes() == right(new).tobytes():
        wrong = change(rng.choice(FAMILIES), rng)
    choices = [right(new), wrong(new), right(other), wrong(other)]
    order = rng.sample(range(4), 4)
    return [x, right(x), new, *(choices[kind] for kind in order)], order.index(0)


def save(pictures: list[Image.Image], folder: Path) -> list[Path]:
    """The pictures as PNG files: x, y, new, a, b, c, d."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{name}.png" for name in ("x", "y", "new", *"abcd")]
    for picture, path in zip(pictures, paths, strict=True):
        picture.save(path)
    return paths


def inverted(picture: Image.Image) -> Image.Image:
    """Bright strokes on black."""
    return ImageOps.invert(picture)


def on_nothing(picture: Image.Image) -> Image.Image:
    """Blue strokes on a transparent ground."""
    ink = Image.new("RGBA", picture.size, (20, 40, 120, 0))
    ink.putalpha(ImageOps.invert(picture))
    return ink


def photographed(picture: Image.Image) -> Image.Image:
    """As a phone sees it on a table: larger, soft, noisy, lit from the left, in the artefacts of a JPEG file."""
    soft = np.asarray(picture.resize((400, 400)).filter(ImageFilter.GaussianBlur(2))) / 255
    light = np.linspace(0.95, 0.5, 400)
    noise = np.random.default_rng(0).normal(0, 0.02, soft.shape)
    seen = np.clip((0.15 + 0.85 * soft) * light + noise, 0, 1)
    file = io.BytesIO()
    Image.fromarray((255 * seen).astype(np.uint8)).convert("RGB").save(file, format="JPEG", quality=70)
    return Image.open(file)


MATERIALS: dict[str, Change] = {
    "dark on white": lambda picture: picture,
    "bright on black": inverted,
    "on a transparent ground": on_nothing,
    "photographed": photographed,
}
"""Ways a drawing may come."""
