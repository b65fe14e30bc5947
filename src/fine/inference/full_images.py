"""Images at their own size and shape, for rules that are found and drawn at full size.

    image = open_image("photo.jpg")            # a Pillow image, the right way up
    x, y = example_pixels(before, after)       # float (channels, h, w) each, reduced alike

`read_image` of fine.inference.reading makes squares for models; here nothing is padded.
"""

import os
from pathlib import Path

import numpy as np
import torch
from PIL import Image, ImageOps
from torch import Tensor

from fine.apply.photo import read_photo
from fine.errors import FineError
from fine.images.decoding import Decoder
from fine.images.limits import FULL_SIZE, TooCostlyError
from fine.inference.reading import Source, array_of, on_one_paper

LONGEST = 1024
"""Pixels of the longer side of an example that are looked at."""


def open_image(source: Source) -> Image.Image:
    """A source as a Pillow image at its full size, the right way up."""
    if isinstance(source, Image.Image):
        return ImageOps.exif_transpose(source)
    if isinstance(source, Tensor):
        return _from_array(array_of(source))
    if isinstance(source, np.ndarray):
        return _from_array(source)
    with Decoder(FULL_SIZE) as decoder:
        if isinstance(source, str | os.PathLike):
            return read_photo(Path(source), decoder).image
        if isinstance(source, bytes):
            return _decoded(source, decoder)
    raise FineError(
        f"a {type(source).__name__} is no image: give a path, bytes, a Pillow image, an array or a "
        "tensor"
    )


def _decoded(content: bytes, decoder: Decoder) -> Image.Image:
    if not content:
        raise FineError("the image is empty (0 bytes): expected the bytes of a file")
    try:
        return decoder.decode(content)
    except TooCostlyError as problem:
        raise FineError(f"the image {problem}: give a smaller one") from None
    except Exception as problem:  # Pillow's readers raise errors of a dozen kinds for broken files
        raise FineError(
            "these bytes are not an image that can be read: give those of a PNG, JPEG, GIF, WebP "
            "or BMP file"
        ) from problem


def _from_array(array: np.ndarray) -> Image.Image:
    (brightness,) = on_one_paper([array])
    values = np.rint(brightness * 255).astype(np.uint8)
    return Image.fromarray(values[..., 0] if values.shape[2] == 1 else values)


def example_pixels(before: Image.Image, after: Image.Image) -> tuple[Tensor, Tensor]:
    """Both images of an example as float (channels, h, w) in 0..1, reduced by one factor.

    If they are transparent, they lie on one paper: else what is dark in one could be bright in the
    other.
    """
    factor = min(1.0, LONGEST / max(before.size))
    x, y = map(_tensor, on_one_paper([_pixels(image, factor) for image in (before, after)]))
    if x.shape[0] != y.shape[0]:
        x, y = x.expand(3, -1, -1), y.expand(3, -1, -1)
    return x, y


def _pixels(image: Image.Image, factor: float) -> np.ndarray:
    if factor < 1:
        width, height = (max(4, round(side * factor)) for side in image.size)
        if image.mode in ("P", "PA", "1", "CMYK"):
            image = image.convert("RGBA" if image.has_transparency_data else "RGB")
        image = image.resize((width, height), Image.Resampling.BOX)
    if image.mode.startswith("I;16"):
        return np.asarray(image).astype(np.uint16, copy=False)
    if image.mode in ("I", "F"):
        raise FineError(
            "the image has 32 bits a pixel, which have no known white: save it with 8 or 16 bits"
        )
    mode = "L" if image.mode in ("1", "L", "LA", "La") else "RGB"
    if image.has_transparency_data:
        mode += "A"
    return np.asarray(image.convert(mode))


def _tensor(values: np.ndarray) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(values)).permute(2, 0, 1)
