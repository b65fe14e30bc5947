"""Puzzles of another make: images and transforms by Pillow and by SciPy, none of them by fine.

    made = make_puzzle("letters", "pillow", number=3, near=True)
    made.x, made.y, made.new, made.choices, made.answer

Five kinds of images; affine rules on the paper's grids and between them; wrong rules far from the
right one or near it. A puzzle is drawn again if its hint does not show which of the two rules it
is, or if two of its choices look alike, so each has exactly one answer.
"""

import math
import random
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

SIDE = 64
UNIT = SIDE / 32  # pixels of a unit of the rules
KINDS = ("letters", "icons", "silhouettes", "digits", "photographs")
RENDERERS = ("pillow", "scipy")
FAMILIES = ("rotation", "translation", "reflection", "scale", "shear")
MIXED = ("mix",)
"""Turned and moved, perhaps mirrored and scaled before."""
LETTERS = "FGJLPQRabdefghkpqrty"  # without those that look the same when turned or mirrored
VISIBLE = 0.08
"""Mean difference of brightness, in shares of the ink, by which images must differ."""

Pixels = NDArray[np.float64]
"""(side, side) or (side, side, 3) in 0..1"""
Matrix = tuple[float, float, float, float, float, float]
"""a b right, c d down: where a point of the image goes, from the middle, y down, in pixels."""


@dataclass(frozen=True)
class OtherPuzzle:
    """A puzzle and its answer."""

    x: Image.Image
    y: Image.Image
    new: Image.Image
    choices: list[Image.Image]
    answer: int
    family: str
    on_grid: bool


def make_puzzle(
    kind: str,
    renderer: str,
    *,
    number: int,
    near: bool,
    photographs: Pixels | None = None,
    families: tuple[str, ...] = FAMILIES,
) -> OtherPuzzle:
    """The puzzle of this number; the same every time."""
    rng = random.Random(f"{kind} {renderer} {number} {near}")
    family = families[number % len(families)]
    on_grid = number // len(families) % 2 == 0
    paper = 0.0 if kind == "photographs" else 1.0
    while True:
        x, new, other = (draw(kind, rng, photographs) for _ in range(3))
        right = random_rule(family, rng, on_grid=on_grid)
        wrong = near_rule(right, rng) if near else far_rule(families, rng, on_grid=on_grid)
        right_x, wrong_x = (render(renderer, x, rule[1], paper) for rule in (right, wrong))
        choices = [
            render(renderer, image, rule[1], paper)
            for image in (new, other)
            for rule in (right, wrong)
        ]
        alike = [right_x, wrong_x], [right_x, x], *pairs(choices)
        if all(differ(one, two, paper) for one, two in alike) and all(
            ink(image, paper) > 0.4 * ink(original, paper)
            for image, original in ((right_x, x), (choices[0], new))
        ):
            break
    order = rng.sample(range(4), 4)
    images = [as_image(image) for image in (x, right_x, new)]
    shown = [as_image(choices[place]) for place in order]
    return OtherPuzzle(*images, shown, order.index(0), family, on_grid)


# Rules: a family and the matrix of what happens to points


def random_rule(family: str, rng: random.Random, *, on_grid: bool) -> tuple[str, Matrix]:
    if family == "rotation":
        degrees = 15 * rng.randint(1, 23) if on_grid else rng.uniform(8, 352)
        return family, turned(degrees)
    if family == "translation":
        steps = (-9, -6, -3, 0, 3, 6, 9)
        while True:
            right, down = (rng.choice(steps) if on_grid else rng.uniform(-9, 9) for _ in range(2))
            if math.hypot(right, down) > 2.5:
                return family, (1, 0, right * UNIT, 0, 1, down * UNIT)
    if family == "reflection":
        return family, rng.choice(((-1, 0, 0, 0, 1, 0), (1, 0, 0, 0, -1, 0)))
    if family == "scale":
        factor = (
            rng.choice((0.5, 0.75, 1.25))
            if on_grid
            else rng.choice((rng.uniform(0.45, 0.85), rng.uniform(1.18, 1.5)))
        )
        return family, (factor, 0, 0, 0, factor, 0)
    if family == "mix":
        return family, mixed(rng, on_grid=on_grid)
    angles = [rng.choice((-45, -30, -15, 15, 30, 45)) if on_grid else rng.uniform(-45, 45)]
    angles.append(0 if rng.random() < 0.5 else rng.choice((-30, -15, 15, 30)))
    if abs(angles[0]) < 10:
        angles[0] = math.copysign(12, angles[0])
    return family, sheared(*angles)


def mixed(rng: random.Random, *, on_grid: bool) -> Matrix:
    """A mirror image or not, at its size or not, turned, and moved by 2 to 6 units."""
    degrees = 15 * rng.randint(1, 23) if on_grid else rng.uniform(8, 352)
    factor = 1 if rng.random() < 0.5 else rng.uniform(0.6, 1.3)
    mirror = rng.choice((1, -1))
    a, b, _, c, d, _ = turned(degrees)
    angle, step = rng.uniform(0, 2 * math.pi), rng.uniform(2, 6) * UNIT
    right, down = step * math.cos(angle), step * math.sin(angle)
    return factor * mirror * a, factor * b, right, factor * mirror * c, factor * d, down


def far_rule(families: tuple[str, ...], rng: random.Random, *, on_grid: bool) -> tuple[str, Matrix]:
    """Any rule, most often of another family."""
    return random_rule(rng.choice(families), rng, on_grid=on_grid)


def near_rule(right: tuple[str, Matrix], rng: random.Random) -> tuple[str, Matrix]:
    """A rule of the same family whose parameters are a step away."""
    family, (a, b, right_by, c, d, down_by) = right
    sign = rng.choice((-1, 1))
    if family == "rotation":
        return family, turned(math.degrees(math.atan2(b, a)) + sign * rng.uniform(15, 25))
    if family == "mix" and sign > 0:  # turned further
        e, f, _, g, h, _ = turned(rng.choice((-1, 1)) * rng.uniform(15, 25))
        linear = e * a + f * c, e * b + f * d, g * a + h * c, g * b + h * d
        return family, (linear[0], linear[1], right_by, linear[2], linear[3], down_by)
    if family in ("translation", "mix"):
        angle, step = rng.uniform(0, 2 * math.pi), 3 * UNIT
        moved = right_by + step * math.cos(angle), down_by + step * math.sin(angle)
        return family, (a, b, moved[0], c, d, moved[1])
    if family == "reflection":
        return family, (-a, b, 0, c, -d, 0)
    if family == "scale":
        factor = a * (1.3 if sign > 0 else 1 / 1.3)
        return family, (factor, 0, 0, 0, factor, 0)
    across = math.degrees(math.atan(b)) + sign * 15
    down = math.degrees(math.atan(c))
    return family, sheared(across, down)


def turned(degrees: float) -> Matrix:
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return cos, sin, 0, -sin, cos, 0


def sheared(across: float, down: float) -> Matrix:
    a, b = math.tan(math.radians(across)), math.tan(math.radians(down))
    return 1, a, 0, b, 1 + a * b, 0


# Renderers


def render(renderer: str, image: Pixels, matrix: Matrix, paper: float) -> Pixels:
    a, b, right, c, d, down = matrix
    inverse = np.linalg.inv(np.array([[a, b], [c, d]]))
    middle = (SIDE - 1) / 2
    if renderer == "pillow":
        # Pillow counts from the corner of a pixel.
        offset = SIDE / 2 - inverse @ np.array([SIDE / 2 + right, SIDE / 2 + down])
        (e, f), (g, h) = inverse
        result = as_image(image).transform(
            (SIDE, SIDE),
            Image.Transform.AFFINE,
            (e, f, offset[0], g, h, offset[1]),
            Image.Resampling.BICUBIC,
            fillcolor=round(255 * paper) if image.ndim == 2 else (round(255 * paper),) * 3,
        )
        return np.asarray(result) / 255
    from scipy import ndimage  # noqa: PLC0415 - heavy, and not everyone has it

    flipped = inverse[::-1, ::-1]  # SciPy has rows first
    offset = middle - flipped @ np.array([middle + down, middle + right])
    planes = image[..., None] if image.ndim == 2 else image
    moved = [
        ndimage.affine_transform(planes[..., n], flipped, offset, order=3, cval=paper)
        for n in range(planes.shape[2])
    ]
    result = np.clip(np.stack(moved, axis=-1), 0, 1)
    return result[..., 0] if image.ndim == 2 else result


# Images


def draw(kind: str, rng: random.Random, photographs: Pixels | None) -> Pixels:
    """An image of a kind, dark on white; a photograph fills its frame."""
    if kind == "photographs":
        assert photographs is not None
        return photographs[rng.randrange(len(photographs))]
    canvas = Image.new("L", (SIDE, SIDE), 255)
    pen = ImageDraw.Draw(canvas)
    {"letters": letter, "icons": icon, "silhouettes": silhouette, "digits": digit}[kind](pen, rng)
    if kind == "digits":  # as coarse as scikit-learn's, 8 × 8 with 17 levels, shown larger
        small = canvas.crop((12, 12, 52, 52)).resize((8, 8), Image.Resampling.BOX)
        coarse = small.point(lambda value: round(value / 255 * 16) * 255 / 16)
        canvas.paste(255, (0, 0, SIDE, SIDE))
        canvas.paste(coarse.resize((40, 40), Image.Resampling.BICUBIC), (12, 12))
    return np.asarray(canvas) / 255


def letter(pen: ImageDraw.ImageDraw, rng: random.Random) -> None:
    font = ImageFont.load_default(rng.randint(40, 50))
    pen.text(
        (SIDE / 2, SIDE / 2), rng.choice(LETTERS), font=font, fill=rng.randint(0, 60), anchor="mm"
    )


def digit(pen: ImageDraw.ImageDraw, rng: random.Random) -> None:
    middle = (SIDE / 2 + rng.uniform(-2, 2), SIDE / 2 + rng.uniform(-2, 2))
    text, font = rng.choice("1234579"), ImageFont.load_default(rng.randint(38, 44))
    pen.text(middle, text, font=font, fill=0, anchor="mm", stroke_width=1)


def icon(pen: ImageDraw.ImageDraw, rng: random.Random) -> None:
    """A few filled and outlined shapes side by side, as a pictogram."""
    shade = rng.randint(0, 90)
    for _ in range(rng.randint(2, 4)):
        left, top = rng.uniform(12, 34), rng.uniform(12, 34)
        box = (left, top, left + rng.uniform(8, 18), top + rng.uniform(8, 18))
        shape = rng.choice(("ellipse", "rectangle", "triangle", "line"))
        if shape == "triangle":
            pen.polygon([(box[0], box[3]), (box[2], box[3]), (box[0], box[1])], fill=shade)
        elif shape == "line":
            pen.line([(box[0], box[1]), (box[2], box[3])], fill=shade, width=4)
        elif rng.random() < 0.5:
            getattr(pen, shape)(box, fill=shade)
        else:
            getattr(pen, shape)(box, outline=shade, width=3)


def silhouette(pen: ImageDraw.ImageDraw, rng: random.Random) -> None:
    """A filled outline of a garment or a shoe, in a grey of its own with a darker part."""
    corners = []
    count = rng.randint(7, 11)
    for n in range(count):
        angle = 2 * math.pi * (n + rng.uniform(-0.3, 0.3)) / count
        reach = rng.uniform(8, 23)
        corners.append((32 + reach * math.cos(angle), 32 + reach * math.sin(angle)))
    shade = rng.randint(60, 140)
    pen.polygon(corners, fill=shade)
    pen.polygon(corners[: rng.randint(3, 4)], fill=max(0, shade - 60))


def cifar_photographs(root: Path, count: int = 400) -> Pixels:
    """Photographs of CIFAR-100's test set at twice their size, grey."""
    records = np.fromfile(root / "cifar-100-binary/test.bin", dtype=np.uint8, count=3074 * count)
    colours = records.reshape(-1, 3074)[:, 2:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
    large = [
        Image.fromarray(image).convert("L").resize((SIDE, SIDE), Image.Resampling.LANCZOS)
        for image in colours
    ]
    return np.stack([np.asarray(image) for image in large]) / 255


# Checks


def as_image(pixels: Pixels) -> Image.Image:
    return Image.fromarray(np.round(255 * pixels).astype(np.uint8))


def ink(image: Pixels, paper: float) -> float:
    return float(np.abs(image - paper).mean())


def differ(one: Pixels, two: Pixels, paper: float) -> bool:
    """Whether people would see the difference."""
    amount = max(ink(one, paper), ink(two, paper), 0.01)
    return float(np.abs(one - two).mean()) > VISIBLE * 2 * amount


def pairs(images: list[Pixels]) -> list[list[Pixels]]:
    return [[images[n], images[m]] for n in range(len(images)) for m in range(n)]
