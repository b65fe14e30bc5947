"""Pictures as people have them, as square tensors: files, bytes, Pillow images, arrays.

    read_picture("photo.jpg")                      # float (3, side, side) in 0..1; (1, side, side) if it is grey

Pictures are turned the way their EXIF data says; of an animation the first frame counts. What is transparent is laid on white
if the drawing on it is dark, and on black if it is bright, so that it can be seen. A picture that is not square is padded, in
the colour of its border, and so nothing of it is lost. Larger ones than 512 × 512 are reduced to that.
"""

import io
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from PIL import Image, ImageOps
from torch import Tensor

from fine.errors import FineError
from fine.images.folder import FORMATS, PIXEL_LIMIT

Source = str | os.PathLike[str] | bytes | Image.Image | NDArray[Any] | Tensor
"""A path, the bytes of a file, a Pillow image, an array (h, w) or (h, w, channels), or a tensor (channels, h, w)."""

LARGEST = 512
"""Pixels a side that are kept: more than a model sees, and enough for an answer that is drawn."""

_RED, _GREEN, _BLUE = 0.299, 0.587, 0.114  # ITU-R 601, as in fine.images


def read_picture(source: Source) -> Tensor:
    """The picture as float (channels, side, side) in 0..1, one channel if it is grey and three if not."""
    if isinstance(source, Tensor):
        return _squared(_checked(source.detach().cpu().movedim(0, -1).numpy() if source.ndim == 3 else source.numpy()))
    if isinstance(source, np.ndarray):
        return _squared(_checked(source))
    if isinstance(source, Image.Image):
        return _squared(_pixels(source, "the picture"))
    name, file = _open(source)
    too_large = FineError(f"{name} has more than {PIXEL_LIMIT // 1_000_000} megapixels: give a smaller one")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Pillow warns of large pictures and odd metadata; the limit below decides
            with Image.open(file, formats=FORMATS) as picture:
                if picture.width * picture.height > PIXEL_LIMIT:
                    raise too_large
                return _squared(_pixels(picture, name))
    except FineError:
        raise
    except Image.DecompressionBombError:
        raise too_large from None
    except Exception as problem:  # Pillow's readers raise errors of a dozen kinds for broken files
        raise FineError(f"{name} is not a picture that can be read: give a PNG, JPEG, GIF, WebP, BMP or TIFF file") from problem


def luminance(pictures: Tensor) -> Tensor:  # (…, channels, h, w) -> (…, h, w)
    """The brightness of every pixel."""
    if pictures.shape[-3] == 1:
        return pictures[..., 0, :, :]
    red, green, blue = pictures.unbind(-3)
    return _RED * red + _GREEN * green + _BLUE * blue


def border(pictures: Tensor) -> Tensor:  # (…, h, w) -> (…, n)
    """The pixels along the four sides, a sixteenth of the picture deep."""
    height, width = pictures.shape[-2:]
    deep = max(1, min(height, width) // 16)
    inner = torch.ones(height, width, dtype=torch.bool, device=pictures.device)
    inner[deep : height - deep, deep : width - deep] = False
    return pictures[..., inner]


def _open(source: str | os.PathLike[str] | bytes) -> tuple[str, io.BytesIO]:
    """What to call a source, and its bytes."""
    if isinstance(source, bytes):
        name, content = "the picture", source
    elif isinstance(source, str | os.PathLike):
        path = Path(source)
        name = str(path)
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            raise FineError(f"{name} is missing: expected a picture there") from None
        except IsADirectoryError:
            raise FineError(f"{name} is a folder: give the file of a picture") from None
        except (OSError, ValueError) as problem:
            raise FineError(f"{name} cannot be read ({getattr(problem, 'strerror', None) or problem})") from problem
    else:
        raise FineError(f"a {type(source).__name__} is no picture: give a path, bytes, a Pillow image, an array or a tensor")
    if not content:
        raise FineError(f"{name} is empty (0 bytes): expected a picture")
    return name, io.BytesIO(content)


def _pixels(picture: Image.Image, name: str) -> NDArray[np.float32]:  # (h, w, 1 or 3) in 0..1
    """A Pillow image the right way up, laid on paper where it is transparent."""
    upright = ImageOps.exif_transpose(picture)
    if upright.mode.startswith("I;16"):
        return _checked(np.asarray(upright).astype(np.uint16))
    if upright.mode in ("I", "F"):
        raise FineError(f"{name} has 32 bits a pixel, which have no known white: save it with 8 or 16 bits")
    upright.thumbnail((4 * LARGEST, 4 * LARGEST), Image.Resampling.BOX)  # early, or a large picture takes a gigabyte as floats
    mode = "L" if upright.mode in ("1", "L", "LA") else "RGB"
    return _checked(np.asarray(upright.convert(f"{mode}A" if upright.has_transparency_data else mode)))


def _checked(array: NDArray[Any]) -> NDArray[np.float32]:  # (h, w, 1 or 3) in 0..1
    """An array of any type and number of channels as brightness in 0..1, without transparency."""
    shape = array.shape
    if array.ndim == 2:
        array = array[..., None]
    if array.ndim != 3 or array.shape[2] not in (1, 2, 3, 4) or not array.size:
        raise FineError(
            f"an array of shape {shape} is no picture: give (h, w) or (h, w, channels), or a tensor (channels, h, w)"
        )
    if array.dtype == np.bool_ or np.issubdtype(array.dtype, np.floating):
        values = array.astype(np.float32)
    elif array.dtype in (np.uint8, np.uint16):
        values = array.astype(np.float32) / np.float32(np.iinfo(array.dtype).max)
    else:
        raise FineError(f"a picture of {array.dtype} has no known white: give uint8, uint16, or floats between 0 and 1")
    if not (values.min() >= 0 and values.max() <= 1):
        raise FineError("a picture of floats must have brightness between 0 and 1: divide it by its white, such as 255")
    if values.shape[2] in (1, 3):
        return values
    return _on_paper(values[..., :-1], values[..., -1:])


def _on_paper(colour: NDArray[np.float32], alpha: NDArray[np.float32]) -> NDArray[np.float32]:
    """Laid on white where the drawing is dark, on black where it is bright: it would vanish on its own colour."""
    weight = alpha / max(float(alpha.sum()), 1e-6)
    bright = float((colour.mean(axis=2, keepdims=True) * weight).sum()) > 0.5
    return colour * alpha + (0 if bright else 1) * (1 - alpha)


def _squared(array: NDArray[np.float32]) -> Tensor:  # (h, w, channels) -> (channels, side, side)
    """The picture in the middle of a square in the colour of its border, reduced if it is large."""
    picture = torch.from_numpy(np.ascontiguousarray(array)).permute(2, 0, 1)
    height, width = picture.shape[1:]
    side = max(height, width)
    if height != width:
        ground = border(picture).median(dim=1).values[:, None, None]
        left, top = (side - width) // 2, (side - height) // 2
        padding = (left, side - width - left, top, side - height - top)
        picture = F.pad(picture - ground, padding) + ground
    return resized(picture[None], min(side, LARGEST))[0]


def resized(pictures: Tensor, size: int) -> Tensor:  # (n, channels, side, side) -> (n, channels, size, size)
    """Averaged over areas where they get smaller, interpolated where they get larger."""
    side = pictures.shape[-1]
    if side == size:
        return pictures
    if side > size:
        return F.interpolate(pictures, size=(size, size), mode="area")
    return F.interpolate(pictures, size=(size, size), mode="bilinear", align_corners=False)
