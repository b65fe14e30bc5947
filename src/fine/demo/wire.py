"""Pictures on their way between page and model: small PNGs as text one way, tensors the other.

What comes in is not to be trusted: its length is checked before it is decoded, and its size before its pixels are.
"""

import base64
import binascii
import io
import warnings

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from fine.errors import FineError

PREFIX = "data:image/png;base64,"
LONGEST_TEXT = 100_000
"""Characters of a picture; a 32 × 32 one has about a thousand."""
LARGEST_SIDE = 512


def read_png(text: str, *, channels: int, size: int) -> Tensor:
    """A PNG as base64, with or without the prefix of a data URL -> float (channels, size, size) in 0..1."""
    if len(text) > LONGEST_TEXT:
        raise FineError(f"the picture has {len(text):,} characters: send a PNG of at most {LONGEST_TEXT:,} as base64")
    try:
        content = base64.b64decode(text.removeprefix(PREFIX), validate=True)
    except (binascii.Error, ValueError) as problem:
        raise FineError("the picture is not base64: send a PNG as a data URL, or its bytes as base64") from problem
    try:
        with warnings.catch_warnings(), Image.open(io.BytesIO(content), formats=["PNG"]) as picture:
            warnings.simplefilter("ignore")  # a size that Pillow warns of is refused below
            if max(picture.size) > LARGEST_SIDE:
                width, height = picture.size
                raise FineError(
                    f"the picture is {width} × {height} pixels: send one of at most {LARGEST_SIDE} × {LARGEST_SIDE}"
                )
            picture = picture.convert("L" if channels == 1 else "RGB")
            if picture.size != (size, size):
                picture = picture.resize((size, size), Image.Resampling.BOX)
            pixels = np.array(picture, dtype=np.uint8).reshape(size, size, channels)
    except FineError:
        raise
    except Exception as problem:  # whatever a decoder makes of bytes from anywhere
        raise FineError("the picture cannot be read: send a whole PNG file as base64") from problem
    return torch.from_numpy(pixels).permute(2, 0, 1).float() / 255


def write_png(picture: Tensor) -> str:
    """A picture (channels, size, size) in 0..1 -> a data URL that an <img> can show."""
    pixels = picture.detach().clamp(0, 1).mul(255).round().byte().permute(1, 2, 0).numpy()
    file = io.BytesIO()
    Image.fromarray(pixels[..., 0] if pixels.shape[-1] == 1 else pixels).save(file, "PNG")
    return PREFIX + base64.b64encode(file.getvalue()).decode("ascii")
