"""Your images as tensors: files, bytes, Pillow images, arrays.

    read_image("photo.jpg")           # float (3, side, side) in 0..1; (1, side, side) if it is grey
    read_images(["x.png", "y.png"])   # those of a puzzle, in their own shapes, on one paper

An image is rotated as its EXIF data says; of an animation the first frame counts. Transparent
drawings are laid on white or on black, whichever shows all of them best; those of a puzzle on the
same, and where some of its images are opaque, on what these have at their borders. One larger than
512 × 512 is reduced to that. A model sees squares: `squared` pads what is none, all images of a
puzzle in one colour, so nothing of it is lost.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

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
_EVEN, _SHARE = 0.12, 0.75  # a border is even if this share of it is so near to its median


class _Layer(NamedTuple):
    """An image whose paper is still open."""

    colour: NDArray[np.float32]  # (h, w, 1 or 3) in 0..1
    alpha: NDArray[np.float32] | None  # (h, w, 1) in 0..1; None if nothing shines through


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
    layer = _read(source)
    return _squared(_flat(layer, _paper([layer])))


def read_images(sources: Sequence[Source]) -> list[Tensor]:  # of (channels, h, w)
    """The images of a puzzle, on one paper, each in its own shape and in 0..1.

    Whether transparent ones lie on white or on black is decided once for all of them.
    """
    layers = [_read(source) for source in sources]
    paper = _paper(layers)
    flat = (torch.from_numpy(_flat(layer, paper)).permute(2, 0, 1) for layer in layers)
    return [
        image.contiguous() if max(image.shape[1:]) <= LARGEST else _shortened(image, LARGEST)
        for image in flat
    ]


def squared(images: Sequence[Tensor]) -> list[Tensor]:  # (channels, h, w) -> (channels, side, side)
    """Images of a puzzle in the middle of squares, padded in one colour.

    That is the colour of the first one's border, or, if that has many colours, each one's own.
    """
    if all(image.shape[1] == image.shape[2] for image in images):
        return list(images)
    shared = _even_border(images[0])
    return [_padded(image, _as_channels(shared, len(image))) for image in images]


def _read(source: Source) -> _Layer:
    if isinstance(source, Tensor):
        return _layered(array_of(source))
    if isinstance(source, np.ndarray):
        return _layered(source)
    try:
        if isinstance(source, Image.Image):
            name = "the Pillow image"
            return _pixels(ImageOps.exif_transpose(source), name)
        name = "the image" if isinstance(source, bytes) else str(source)
        with Decoder() as decoder:
            return _pixels(decoder.decode(_content(source), enough=2 * LARGEST), name)
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


def array_of(tensor: Tensor) -> NDArray[Any]:  # (h, w) or (h, w, channels)
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


def _pixels(upright: Image.Image, name: str) -> _Layer:
    """The pixels of a Pillow image that may be changed."""
    if upright.mode.startswith("I;16"):
        return _layered(np.asarray(upright).astype(np.uint16, copy=False))
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
    return _layered(np.asarray(upright.convert(mode)))


def _layered(array: NDArray[Any]) -> _Layer:
    """An array of any type and number of channels as brightness in 0..1."""
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
        return _Layer(values, None)
    colour, alpha = values[..., :-1], values[..., -1:]
    return _Layer(colour, None if alpha.min() == 1 else alpha)


def on_one_paper(arrays: Sequence[NDArray[Any]]) -> list[NDArray[np.float32]]:
    """Arrays of any type as brightness (h, w, 1 or 3) in 0..1, transparent ones on one paper."""
    layers = [_layered(array) for array in arrays]
    paper = _paper(layers)
    return [_flat(layer, paper) for layer in layers]


def _paper(layers: Sequence[_Layer]) -> float:
    """What transparent images of a puzzle are laid on: 1, white, or 0, black.

    It is what opaque images of the puzzle have at their borders; or else that on which the image
    that shows worst shows better, because a drawing would vanish on its own colour.
    """
    transparent = [layer for layer in layers if layer.alpha is not None]
    if not transparent:
        return 1.0
    opaque = [layer.colour.mean(axis=2) for layer in layers if layer.alpha is None]
    if opaque:
        borders = torch.cat([border(torch.from_numpy(image)) for image in opaque])
        return float(borders.median() > 0.5)
    brightness = [_brightness(layer) for layer in transparent]
    return float(1 - max(brightness) >= min(brightness))


def _brightness(layer: _Layer) -> float:
    """The mean brightness of what is not transparent; half, if all of it is."""
    assert layer.alpha is not None
    total = float(layer.alpha.sum())
    if total < 1e-6:
        return 0.5
    return float((layer.colour.mean(axis=2, keepdims=True) * (layer.alpha / total)).sum())


def _flat(layer: _Layer, paper: float) -> NDArray[np.float32]:  # (h, w, 1 or 3)
    """An image on its paper."""
    if layer.alpha is None:
        return layer.colour
    return layer.colour * layer.alpha + np.float32(paper) * (1 - layer.alpha)


def _even_border(image: Tensor) -> Tensor | None:  # (channels, h, w) -> (channels,)
    """The colour of a border, if it has one."""
    edge = border(image)
    middle = edge.median(dim=1).values
    near = ((edge - middle[:, None]).abs() <= _EVEN).all(dim=0).float().mean()
    return middle if near >= _SHARE else None


def _as_channels(colour: Tensor | None, channels: int) -> Tensor | None:
    if colour is None or len(colour) == channels:
        return colour
    return luminance(colour[:, None, None]).flatten().expand(channels)


def _padded(image: Tensor, colour: Tensor | None) -> Tensor:  # (channels, h, w)
    height, width = image.shape[1:]
    side = max(height, width)
    ground = border(image).median(dim=1).values if colour is None else colour
    left, top = (side - width) // 2, (side - height) // 2
    padding = (left, side - width - left, top, side - height - top)
    return F.pad(image - ground[:, None, None], padding).add_(ground[:, None, None])


def _squared(array: NDArray[np.float32]) -> Tensor:  # (h, w, channels) -> (channels, side, side)
    """The image in the middle of a square in the colour of its border, reduced if it is large."""
    image = torch.from_numpy(np.ascontiguousarray(array)).permute(2, 0, 1)
    height, width = image.shape[1:]
    if height != width and max(height, width) ** 2 > _PADDED_LIMIT:
        image = _shortened(image, 4 * LARGEST)
        height, width = image.shape[1:]
    if height != width:
        image = _padded(image, None)
    return resized(image[None], min(image.shape[-1], LARGEST))[0]


def _shortened(image: Tensor, longest: int) -> Tensor:  # (channels, h, w)
    """The image with sides of at most ``longest`` pixels, averaged over areas."""
    side = max(image.shape[1:])
    height, width = (max(1, round(length * longest / side)) for length in image.shape[1:])
    return F.interpolate(image[None], size=(height, width), mode="area")[0]
