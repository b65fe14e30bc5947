"""Draws docs/img/apply.png: examples of three rules, and what each does to other images.

Run: python dev/make_apply_images.py. The images are drawn here; the rules are found from the first
pair of each row, with Pillow having made its second image.
"""

import math
from pathlib import Path

import matplotlib
import numpy as np
import torch
from PIL import Image, ImageDraw, ImageFilter, ImageFont

import fine

TARGET = Path(__file__).parent.parent / "docs" / "img" / "apply.png"
WIDTH, HEIGHT, GAP, LABEL = 1696, 210, 16, 34  # pixels of the sheet
PAPER, INK, LINE = "#ffffff", "#1f2328", "#d1d9e0"
FOUR_TO_THREE, TALL, WIDE, SQUARE = (1200, 900), (900, 1200), (1400, 800), (1000, 1000)
FINER = 2  # scenes are drawn larger, and reduced, so that their edges are smooth


def main() -> None:
    torch.set_num_threads(1)
    scenes = [harbour(FOUR_TO_THREE), street(WIDE), mountains(TALL), still_life(SQUARE)]
    first, *others = scenes
    afters = [
        first.rotate(-23.4, resample=Image.Resampling.BICUBIC, fillcolor="white"),
        bulged(first, (0.1, -0.05), 0.31),
        mirrored_and_small(first),
    ]
    rows = [draw_row(first, after, others) for after in afters]
    sheet = Image.new("RGB", (rows[0].width, sum(row.height for row in rows)), PAPER)
    top = 0
    for row in rows:
        sheet.paste(row, (0, top))
        top += row.height
    sheet.quantize(256, dither=Image.Dither.NONE).save(TARGET, optimize=True)


def draw_row(before: Image.Image, after: Image.Image, others: list[Image.Image]) -> Image.Image:
    """The example, and then each of the others beside its result."""
    f = fine.function(before, after)
    print(f)
    row = Image.new("RGB", (WIDTH, HEIGHT + LABEL + 2 * GAP), PAPER)
    draw = ImageDraw.Draw(row)
    draw.text((GAP, GAP // 2), f"found: {f.rule}", fill=INK, font=font(18))
    left = place(row, before, GAP, HEIGHT) + GAP // 2
    left = place(row, after, left, HEIGHT) + GAP
    top = LABEL + GAP // 2
    draw.line((left, top, left, top + HEIGHT), fill=LINE, width=2)
    left += GAP
    for image in others:
        left = place(row, image, left, HEIGHT * 2 // 3) + GAP // 2
        left = place(row, f.draw(image), left, HEIGHT * 2 // 3) + GAP + GAP // 2
    return row


def font(size: int) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(Path(matplotlib.get_data_path()) / "fonts/ttf/DejaVuSans.ttf", size)


def place(row: Image.Image, image: Image.Image, left: int, height: int) -> int:
    """A thumbnail with a thin border, in the middle of its row; where it ends."""
    width = round(image.width * height / image.height)
    shown = image.resize((width, height), Image.Resampling.LANCZOS)
    top = LABEL + GAP // 2 + (HEIGHT - height) // 2
    row.paste(shown, (left, top))
    box = (left, top, left + width - 1, top + height - 1)
    ImageDraw.Draw(row).rectangle(box, outline=LINE)
    return left + width


# ---- what somebody did to the first image, with other tools than ours ----


def bulged(image: Image.Image, centre: tuple[float, float], strength: float) -> Image.Image:
    """Through a wide lens, by Pillow's mesh of small quadrilaterals."""
    unit, step = max(image.size) / 2, 10

    def read(x: float, y: float) -> tuple[float, float]:
        across = (x - image.width / 2) / unit - centre[0]
        down = (y - image.height / 2) / unit - centre[1]
        further = strength * math.hypot(across, down) * unit
        return x + across * further, y + down * further

    mesh = []
    for top in range(0, image.height, step):
        for left in range(0, image.width, step):
            right, bottom = left + step, top + step
            corners = ((left, top), (left, bottom), (right, bottom), (right, top))
            quad = [value for corner in corners for value in read(*corner)]
            mesh.append(((left, top, right, bottom), quad))
    return image.transform(
        image.size,
        Image.Transform.MESH,
        mesh,
        resample=Image.Resampling.BICUBIC,
        fillcolor="white",
    )


def mirrored_and_small(image: Image.Image) -> Image.Image:
    width, height = (round(0.72 * side) for side in image.size)
    small = image.transpose(Image.Transpose.FLIP_LEFT_RIGHT).resize((width, height))
    result = Image.new("RGB", image.size, "#20242c")
    result.paste(small, ((image.width - width) // 2, (image.height - height) // 2))
    return result


# ---- scenes ----


def canvas(size: tuple[int, int], top: str, bottom: str) -> Image.Image:
    """A sky of two colours."""
    sky = Image.new("RGB", (1, 2))
    sky.putpixel((0, 0), rgb(top))
    sky.putpixel((0, 1), rgb(bottom))
    large = (size[0] * FINER, size[1] * FINER)
    return sky.resize(large, Image.Resampling.BILINEAR)


def rgb(colour: str) -> tuple[int, int, int]:
    return tuple(int(colour[place : place + 2], 16) for place in (1, 3, 5))


def finished(image: Image.Image, seed: int) -> Image.Image:
    """With a little grain, at its size."""
    image = image.resize((image.width // FINER, image.height // FINER), Image.Resampling.LANCZOS)
    noise = np.random.default_rng(seed).normal(0, 5, (image.height, image.width, 1))
    grainy = (np.asarray(image) + noise).clip(0, 255).astype(np.uint8)
    return Image.fromarray(grainy).filter(ImageFilter.GaussianBlur(0.5))


def harbour(size: tuple[int, int]) -> Image.Image:
    image = canvas(size, "#7fb2d9", "#fbe6c8")
    draw, (w, h) = ImageDraw.Draw(image), image.size
    draw.ellipse((0.70 * w, 0.12 * h, 0.82 * w, 0.28 * h), fill="#fff3b8")
    draw.rectangle((0, 0.62 * h, w, h), fill="#2f6f8f")
    for number in range(16):
        y = (0.65 + 0.021 * number) * h
        draw.line(
            (0.03 * w * (number % 5), y, w * (0.55 + 0.03 * number), y), fill="#4c8cab", width=7
        )
    for left, height, colour in (
        *((0.02, 0.26, "#c65b4a"), (0.13, 0.34, "#e0a458"), (0.24, 0.22, "#7d8f69")),
        *((0.35, 0.30, "#b8c4bb"), (0.46, 0.19, "#8c5e58")),
    ):
        house(draw, (left * w, 0.64 * h), (0.10 * w, height * h), colour)
    hull = [(0.60, 0.78), (0.92, 0.78), (0.86, 0.88), (0.66, 0.88)]
    draw.polygon([(x * w, y * h) for x, y in hull], fill="#f5f1e8")
    sail = [(0.75, 0.36), (0.75, 0.75), (0.90, 0.75)]
    draw.polygon([(x * w, y * h) for x, y in sail], fill="#d8453c")
    draw.line((0.74 * w, 0.33 * h, 0.74 * w, 0.78 * h), fill="#4a3728", width=10)
    return finished(image, 0)


def house(
    draw: ImageDraw.ImageDraw, foot: tuple[float, float], size: tuple[float, float], colour: str
) -> None:
    (left, bottom), (width, height) = foot, size
    draw.rectangle((left, bottom - height, left + width, bottom), fill=colour)
    ridge = (left + width / 2, bottom - height - 0.35 * width)
    draw.polygon([(left, bottom - height), ridge, (left + width, bottom - height)], fill="#5b3a35")
    for row in range(int(height // (0.4 * width))):
        for column in (0.2, 0.6):
            x, y = left + column * width, bottom - height + (0.15 + 0.4 * row) * width
            draw.rectangle((x, y, x + 0.2 * width, y + 0.22 * width), fill="#fdf3c4")


def street(size: tuple[int, int]) -> Image.Image:
    image = canvas(size, "#30436b", "#f0a37c")
    draw, (w, h) = ImageDraw.Draw(image), image.size
    road = [(0.42, 0.60), (0.58, 0.60), (0.95, 1.0), (0.05, 1.0)]
    draw.rectangle((0, 0.6 * h, w, h), fill="#4d5b4a")
    draw.polygon([(x * w, y * h) for x, y in road], fill="#43444d")
    for number in range(5):
        y, half = 0.63 + 0.08 * number, 0.004 + 0.003 * number
        draw.rectangle(((0.5 - half) * w, y * h, (0.5 + half) * w, (y + 0.045) * h), fill="#f3e9c6")
    for number, left in enumerate((0.02, 0.16, 0.29, 0.62, 0.74, 0.87)):
        colour = ("#9b4f54", "#c9a66b", "#6c7a89")[number % 3]
        house(draw, (left * w, 0.68 * h), (0.11 * w, (0.3 + 0.05 * (number % 3)) * h), colour)
    draw.ellipse((0.46 * w, 0.12 * h, 0.54 * w, 0.26 * h), fill="#ffe9d0")
    return finished(image, 1)


def mountains(size: tuple[int, int]) -> Image.Image:
    image = canvas(size, "#4f8fc0", "#dff0f7")
    draw, (w, h) = ImageDraw.Draw(image), image.size
    for peak, left, right, colour in (
        *((0.30, -0.2, 0.9, "#8fa3b5"), (0.22, 0.25, 1.3, "#6f8599")),
        *((0.48, -0.4, 0.75, "#4a6a5a"), (0.52, 0.3, 1.5, "#37564a")),
    ):
        middle = (left + right) / 2
        points = [(left * w, 0.8 * h), (middle * w, peak * h), (right * w, 0.8 * h)]
        draw.polygon(points, fill=colour)
        if peak < 0.4:
            snow = [(middle - 0.07, peak + 0.07), (middle, peak), (middle + 0.07, peak + 0.07)]
            draw.polygon([(x * w, y * h) for x, y in snow], fill="#ffffff")
    draw.rectangle((0, 0.78 * h, w, h), fill="#5f8f4e")
    for number in range(9):
        x, y = (0.06 + 0.11 * number) * w, (0.84 + 0.05 * (number % 3)) * h
        draw.rectangle((x - 6, y - 40, x + 6, y), fill="#4a3728")
        draw.polygon([(x - 50, y - 30), (x, y - 190), (x + 50, y - 30)], fill="#264f33")
    return finished(image, 2)


def still_life(size: tuple[int, int]) -> Image.Image:
    image = canvas(size, "#e9dccb", "#cdb79e")
    draw, (w, h) = ImageDraw.Draw(image), image.size
    draw.rectangle((0, 0.66 * h, w, h), fill="#8a5a3c")
    for row in range(4):
        y = (0.66 + 0.085 * row) * h
        draw.line((0, y, w, y), fill="#744a30", width=6)
    draw.ellipse((0.30 * w, 0.62 * h, 0.78 * w, 0.80 * h), fill="#3f6f8c")
    draw.ellipse((0.33 * w, 0.63 * h, 0.75 * w, 0.77 * h), fill="#5c8fae")
    for x, y, radius, colour in (
        *((0.44, 0.62, 0.085, "#c8382f"), (0.58, 0.63, 0.08, "#e3b23c")),
        *((0.51, 0.55, 0.08, "#7fa53a"), (0.66, 0.66, 0.05, "#5b2a53")),
    ):
        box = ((x - radius) * w, (y - radius) * h, (x + radius) * w, (y + radius) * h)
        draw.ellipse(box, fill=colour)
        shine = radius * 0.3
        spot = (x - 0.45 * radius, y - 0.5 * radius)
        draw.ellipse(
            (spot[0] * w, spot[1] * h, (spot[0] + shine) * w, (spot[1] + shine) * h), fill="#ffffff"
        )
    draw.rectangle((0.10 * w, 0.26 * h, 0.22 * w, 0.74 * h), fill="#2d5a45")
    draw.rectangle((0.14 * w, 0.12 * h, 0.18 * w, 0.28 * h), fill="#2d5a45")
    draw.rectangle((0.10 * w, 0.42 * h, 0.22 * w, 0.58 * h), fill="#f5ead6")
    return finished(image, 3)


if __name__ == "__main__":
    main()
