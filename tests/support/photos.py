"""Photographs for the demo: drawn ones, and what a visitor sends of them."""

import base64
import io

import numpy as np
from PIL import Image, ImageDraw


def scene(seed: int, size: tuple[int, int]) -> Image.Image:
    """Discs of many colours."""
    random = np.random.default_rng(seed)
    image = Image.new("RGB", size, "skyblue")
    for x, y, r in random.uniform((0, 0, 0.03), (1, 1, 0.15), (14, 3)) * max(size):
        colour = tuple(map(int, random.integers(256, size=3)))
        ImageDraw.Draw(image).ellipse((x - r, y - r / 2, x + r, y + r / 2), fill=colour)
    return image


def rotated(image: Image.Image, degrees: float) -> Image.Image:
    return image.rotate(degrees, resample=Image.Resampling.BICUBIC, fillcolor="white")


def file_of(image: Image.Image, kind: str = "PNG", **options: object) -> bytes:
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def url_of(content: bytes, kind: str = "png") -> str:
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"


def image_of(url: str) -> Image.Image:
    return Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2])))
