"""An example pair from files: as tensors that a rule is found from, and as images.

    example = read_example(Path("before.jpg"), Path("after.jpg"))
    example.x, example.y             # float (channels, h, w) in 0..1, in their own shapes

Both are reduced by one factor, for a frame unit of the two is the same.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from fine.apply.photo import read_photo
from fine.errors import FineError
from fine.images.decoding import Decoder
from fine.images.limits import FULL_SIZE

LONGEST = 1600
"""Pixels of the longer side that are kept: more tell no more about a rule."""
_GREY = (128, 128, 128, 255)  # behind what is transparent: dark and bright drawings show on it


@dataclass(frozen=True)
class Example:
    """What an image was, and what became of it."""

    before: Image.Image
    after: Image.Image
    x: Tensor
    y: Tensor


def read_example(before: Path, after: Path) -> Example:
    """Two files as one example."""
    with Decoder(FULL_SIZE) as decoder:
        images = [read_photo(path, decoder).image for path in (before, after)]
    scale = min(1.0, LONGEST / max(max(image.size) for image in images))
    small = [_reduced(image, scale) for image in images]
    x, y = (_tensor(image, path) for image, path in zip(small, (before, after), strict=True))
    channels = max(len(x), len(y))
    x, y = (image.expand(channels, -1, -1) for image in (x, y))
    return Example(small[0], small[1], x, y)


def _reduced(image: Image.Image, scale: float) -> Image.Image:
    if image.mode in ("P", "PA"):
        image = image.convert("RGBA" if image.has_transparency_data else "RGB")
    if scale == 1:
        return image
    if image.mode.startswith("I;16"):
        image = image.convert("I")
    width, height = (max(1, round(side * scale)) for side in image.size)
    return image.resize((width, height), Image.Resampling.BOX, reducing_gap=3.0)


def _tensor(image: Image.Image, path: Path) -> Tensor:  # (1 or 3, h, w)
    if image.mode == "I" or image.mode.startswith("I;16"):
        values = np.asarray(image).astype(np.float32) / 65_535
        if values.max() > 1 or values.min() < 0:
            raise FineError(f"{path} has 32 bits a pixel, which have no known white: save 8 or 16")
        return torch.from_numpy(values)[None]
    if image.mode == "F":
        raise FineError(f"{path} has 32 bits a pixel, which have no known white: save 8 or 16")
    if image.has_transparency_data:
        drawing = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", drawing.size, _GREY), drawing)
    mode = "L" if image.mode in ("1", "L") else "RGB"
    values = np.asarray(image.convert(mode)).astype(np.float32) / 255
    return torch.from_numpy(values.reshape(*values.shape[:2], -1)).permute(2, 0, 1)
