"""Your images as square tensors: files, bytes, Pillow images, arrays.

    read_image("photo.jpg")           # float (3, side, side) in 0..1; (1, side, side) if it is grey

An image is rotated as its EXIF data says; of an animation the first frame counts. A transparent
drawing is laid on white if it is dark and on black if it is bright, so that it can be seen. An
image that is not square is padded in the colour of its border, so nothing of it is lost. One larger
than 512 × 512 is reduced to that.
"""

import os
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from PIL import Image, ImageOps
from torch import Tensor

from fine.errors import FineError
from fine.images.decoding import Decoder
from fine.images.limits import FILE_LIMIT, PIXEL_LIMIT, TooCostlyError
from fine.io.untrusted import read_bytes

Source = str | os.PathLike[str] | bytes | Image.Image | NDArray[Any] | Tensor
"""A path, the bytes of a file, a Pillow image, an array (h, w) or (h, w, channels), or a tensor
(channels, h, w)."""

LARGEST = 512
"""Pixels a side that are kept: more than a model sees, and enough for an answer that is drawn."""

_PADDED_LIMIT = 2 * PIXEL_LIMIT  # as a square: a line of 30,000 pixels would take gigabytes
_RED, _GREEN, _BLUE = 0.299, 0.587, 0.114  # ITU-R 601, as in fine.images


def read_image(source: Source) -> Tensor:
    """The image as float (channels, side, side) in 0..1; one channel if it is grey, else three.

    Args:
        source: A path, the bytes of a file, a Pillow image, an array (h, w) or (h, w, channels), or
            a tensor (channels, h, w).

    Examples:
        >>> import fine, numpy
        >>> fine.read_image(numpy.zeros((40, 60), dtype=numpy.uint8)).shape  # padded to a square
        torch.Size([1, 60, 60])
        >>> fine.read_image("photo.jpg").shape  # doctest: +SKIP
    """
    if isinstance(source, Tensor):
        return _squared(_checked(_array(source)))
    if isinstance(source, np.ndarray):
        return _squared(_checked(source))
    try:
        if isinstance(source, Image.Image):
            name = "the Pillow image"
            return _squared(_pixels(ImageOps.exif_transpose(source), name))
        name = "the image" if isinstance(source, bytes) else str(source)
        with Decoder() as decoder:
            return _squared(_pixels(decoder.decode(_content(source), enough=2 * LARGEST), name))
    except FineError:
        raise
    except TooCostlyError as problem:
        raise FineError(f"{name} {problem}: give a smaller one") from None
    except Exception as problem:  # Pillow's readers raise errors of a dozen kinds for broken files
        if isinstance(source, Image.Image):
            raise FineError(
                f"{name} cannot be read ({problem}): give one that is open and whole, in a mode "
                "that Pillow converts to RGB"
            ) from problem
        raise FineError(
            f"{name} is not an image that can be read: give a PNG, JPEG, GIF, WebP, BMP or TIFF "
            "file"
        ) from problem


def luminance(images: Tensor) -> Tensor:  # (…, channels, h, w) -> (…, h, w)
    """The brightness of every pixel."""
    # In floats, unlike Images.with_channels: these images may have 16 bits or be averages of many
    # pixels, and rounding to 256 levels would move the thresholds that are found in them. Training
    # images are bytes that have to be the same on every machine, so theirs is computed in integers.
    if images.shape[-3] == 1:
        return images[..., 0, :, :]
    red, green, blue = images.unbind(-3)
    return _RED * red + _GREEN * green + _BLUE * blue


def border(images: Tensor) -> Tensor:  # (…, h, w) -> (…, n)
    """The pixels along the four sides, a sixteenth of the image deep."""
    height, width = images.shape[-2:]
    depth = max(1, min(height, width) // 16)
    at_border = torch.ones(height, width, dtype=torch.bool, device=images.device)
    at_border[depth : height - depth, depth : width - depth] = False
    return images[..., at_border]


def resized(images: Tensor, size: int) -> Tensor:  # (n, c, side, side) -> (n, c, size, size)
    """Averaged over areas where they get smaller, interpolated where they get larger."""
    side = images.shape[-1]
    if side == size:
        return images
    if side > size:
        return F.interpolate(images, size=(size, size), mode="area")
    return F.interpolate(images, size=(size, size), mode="bilinear", align_corners=False)


def _array(tensor: Tensor) -> NDArray[Any]:  # (h, w) or (h, w, channels)
    try:
        if tensor.dtype == torch.bfloat16:  # which NumPy has not
            tensor = tensor.float()
        array = tensor.detach().cpu().numpy()
    except (TypeError, RuntimeError, NotImplementedError) as problem:
        raise FineError(
            f"a {tensor.layout} tensor of {tensor.dtype} on '{tensor.device}' is no image "
            f"({problem}): give a dense one with values"
        ) from problem
    return np.moveaxis(array, 0, -1) if array.ndim == 3 else array


def _content(source: str | os.PathLike[str] | bytes) -> bytes:
    """The bytes of a file."""
    if isinstance(source, bytes):
        name, content = "the image", source
    elif isinstance(source, str | os.PathLike):
        name, content = str(source), _read_bytes(Path(source))
    else:
        raise FineError(
            f"a {type(source).__name__} is no image: give a path, bytes, a Pillow image, an array "
            "or a tensor"
        )
    if not content:
        raise FineError(f"{name} is empty (0 bytes): expected an image")
    return content


def _read_bytes(path: Path) -> bytes:
    try:
        return read_bytes(path, largest=FILE_LIMIT, expected="an image")
    except FileNotFoundError:
        raise FineError(f"{path} is missing: expected an image there") from None
    except IsADirectoryError:
        raise FineError(f"{path} is a folder: give the file of an image") from None
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or problem
        raise FineError(f"{path} cannot be read ({reason})") from problem


def _pixels(upright: Image.Image, name: str) -> NDArray[np.float32]:  # (h, w, 1 or 3) in 0..1
    """A Pillow image that may be changed, laid on paper where it is transparent."""
    if upright.mode.startswith("I;16"):
        return _checked(np.asarray(upright).astype(np.uint16, copy=False))
    if upright.mode in ("I", "F"):
        raise FineError(
            f"{name} has 32 bits a pixel, which have no known white: save it with 8 or 16 bits"
        )
    if upright.mode == "La":  # which Pillow converts to this mode alone
        upright = upright.convert("LA")
    # Early, because a large image takes a gigabyte as floats.
    upright.thumbnail((4 * LARGEST, 4 * LARGEST), Image.Resampling.BOX)
    mode = "L" if upright.mode in ("1", "L", "LA") else "RGB"
    if upright.has_transparency_data:
        mode += "A"
    return _checked(np.asarray(upright.convert(mode)))


def _checked(array: NDArray[Any]) -> NDArray[np.float32]:  # (h, w, 1 or 3) in 0..1
    """An array of any type and number of channels as brightness in 0..1, without transparency."""
    shape = array.shape
    if array.ndim == 2:
        array = array[..., None]
    if array.ndim != 3 or array.shape[2] not in (1, 2, 3, 4) or not array.size:
        raise FineError(
            f"an array of shape {shape} is no image: give (h, w) or (h, w, channels), or a tensor "
            "(channels, h, w)"
        )
    if array.dtype == np.bool_ or np.issubdtype(array.dtype, np.floating):
        values = array.astype(np.float32)
    elif array.dtype in (np.uint8, np.uint16):
        values = array.astype(np.float32)
        values /= np.float32(np.iinfo(array.dtype).max)
    else:
        raise FineError(
            f"an image of {array.dtype} has no known white: give uint8, uint16, or floats between "
            "0 and 1"
        )
    if not (values.min() >= 0 and values.max() <= 1):
        raise FineError(
            "an image of floats must have brightness between 0 and 1: divide it by its white, such "
            "as 255"
        )
    if values.shape[2] in (1, 3):
        return values
    return _on_paper(values[..., :-1], values[..., -1:])


def _on_paper(colour: NDArray[np.float32], alpha: NDArray[np.float32]) -> NDArray[np.float32]:
    """On white if the drawing is dark, else on black: it would vanish on its own colour."""
    weight = alpha / max(float(alpha.sum()), 1e-6)
    is_bright = float((colour.mean(axis=2, keepdims=True) * weight).sum()) > 0.5
    return colour * alpha + (0 if is_bright else 1) * (1 - alpha)


def _squared(array: NDArray[np.float32]) -> Tensor:  # (h, w, channels) -> (channels, side, side)
    """The image in the middle of a square in the colour of its border, reduced if it is large."""
    image = torch.from_numpy(np.ascontiguousarray(array)).permute(2, 0, 1)
    height, width = image.shape[1:]
    if height != width and max(height, width) ** 2 > _PADDED_LIMIT:
        image = _shortened(image, 4 * LARGEST)
        height, width = image.shape[1:]
    side = max(height, width)
    if height != width:
        ground = border(image).median(dim=1).values[:, None, None]
        left, top = (side - width) // 2, (side - height) // 2
        padding = (left, side - width - left, top, side - height - top)
        image = F.pad(image - ground, padding).add_(ground)
    return resized(image[None], min(side, LARGEST))[0]


def _shortened(image: Tensor, longest: int) -> Tensor:  # (channels, h, w)
    """The image with sides of at most ``longest`` pixels, averaged over areas."""
    side = max(image.shape[1:])
    height, width = (max(1, round(length * longest / side)) for length in image.shape[1:])
    return F.interpolate(image[None], size=(height, width), mode="area")[0]
