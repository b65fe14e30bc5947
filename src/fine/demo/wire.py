"""Images between page and model: base64 PNGs on one side, tensors on the other.

Input is not trusted: its length is checked before it is decoded, its size before its pixels are.
"""

import base64
import binascii
import io
import struct

from PIL import Image
from torch import Tensor

from fine.errors import FineError
from fine.inference import read_image

PREFIX = "data:image/png;base64,"
LONGEST_TEXT = 100_000
"""Characters of an image; one of 32 × 32 pixels has about a thousand."""
LARGEST_SIDE = 512
_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def read_png(text: str) -> Tensor:  # (channels, side, side)
    """A PNG as base64, with or without the prefix of a data URL -> brightness in 0..1."""
    return read_image(png_content(text))


def png_content(text: str) -> bytes:
    """The bytes of a PNG that is not too large; its pixels have not been looked at."""
    if len(text) > LONGEST_TEXT:
        raise FineError(
            f"the image has {len(text):,} characters: send a PNG of at most {LONGEST_TEXT:,} as "
            "base64"
        )
    try:
        content = base64.b64decode(text.removeprefix(PREFIX), validate=True)
    except (binascii.Error, ValueError) as problem:
        raise FineError(
            "the image is not base64: send a PNG as a data URL, or its bytes as base64"
        ) from problem
    width, height = _size(content)
    if not 0 < max(width, height) <= LARGEST_SIDE:
        raise FineError(
            f"the image is {width:,} × {height:,} pixels: send one of at most "
            f"{LARGEST_SIDE} × {LARGEST_SIDE}"
        )
    return content


def _size(content: bytes) -> tuple[int, int]:
    """Width and height, from the header of a PNG file."""
    if not content.startswith(_SIGNATURE) or content[12:16] != b"IHDR" or len(content) < 24:
        raise FineError("the image is no PNG: send one as a data URL, or its bytes as base64")
    return struct.unpack(">II", content[16:24])


def write_png(image: Tensor) -> str:  # (channels, size, size) in 0..1
    """An image as a data URL for an <img>."""
    pixels = image.detach().clamp(0, 1).mul(255).round().byte().permute(1, 2, 0).numpy()
    file = io.BytesIO()
    Image.fromarray(pixels[..., 0] if pixels.shape[-1] == 1 else pixels).save(file, "PNG")
    return PREFIX + base64.b64encode(file.getvalue()).decode("ascii")
