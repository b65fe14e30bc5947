"""Your own images: a folder with one subfolder per class.

Images keep their brightness (dark ink on paper stays dark). They are rotated as their EXIF data
says, laid on white where they are transparent, cut to the middle square and resampled. The source
has one channel if all images are grey, else three.
"""

import os
import warnings
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image, ImageOps

from fine.errors import FineError
from fine.images.images import Images

PIXEL_LIMIT = 50_000_000
"""An image with more pixels is refused undecoded: a small file can unpack to gigabytes."""

# A list, because Pillow would also try formats that start other programs (EPS runs Ghostscript).
Image.init()
_WANTED = ("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP", "PPM", "JPEG2000", "AVIF")
FORMATS = [name for name in _WANTED if name in Image.OPEN]  # not every build of Pillow has AVIF
"""The image formats that are read."""

_LITTER = {"thumbs.db", "desktop.ini", "__macosx"}  # files that operating systems leave behind


def load(path: str, *, size: int) -> Images:
    """The images directly inside each subfolder of ``path``, sorted by name."""
    root = Path(os.path.expanduser(path))  # noqa: PTH111 (Path.expanduser raises for unknown users)
    classes = [entry for entry in _entries(root) if entry.is_dir()]
    if len(classes) < 2:
        raise FineError(
            f"{root} has {len(classes)} subfolder(s): expected one per class and at least 2 classes"
        )
    images: list[NDArray[np.uint8]] = []
    labels: list[int] = []
    for label, folder in enumerate(classes):
        files = [entry for entry in _entries(folder) if not entry.is_dir()]
        if not files:
            raise FineError(f"{folder} has no images in it: add some or remove the folder")
        images += [_read(file, size) for file in files]
        labels += [label] * len(files)
    pixels = torch.from_numpy(np.stack(images)).permute(0, 3, 1, 2)  # (n, 3, size, size)
    grey = bool((pixels == pixels[:, :1]).all())
    return Images(
        name=f"folder:{path}",
        pixels=pixels[:, : 1 if grey else 3].contiguous(),
        labels=torch.tensor(labels),
        class_names=tuple(folder.name for folder in classes),
    )


def _entries(folder: Path) -> list[Path]:
    """What a folder holds, sorted, without hidden files and litter."""
    expected = "expected a folder with one subfolder of images per class"
    try:
        entries = sorted(folder.iterdir(), key=lambda entry: entry.name)
    except FileNotFoundError:
        raise FineError(f"{folder} is missing: {expected}") from None
    except NotADirectoryError:
        raise FineError(f"{folder} is a file: {expected}") from None
    except (OSError, ValueError) as problem:
        raise FineError(f"{folder} cannot be read ({problem})") from problem
    return [entry for entry in entries if not _is_litter(entry.name)]


def _is_litter(name: str) -> bool:
    return name.startswith(".") or name.lower() in _LITTER


def _read(file: Path, size: int) -> NDArray[np.uint8]:  # (size, size, 3)
    limit = f"{PIXEL_LIMIT // 1_000_000} megapixels"
    too_large = FineError(f"{file} has more than {limit}: replace it by a smaller image")
    try:
        if file.stat().st_size == 0:
            raise FineError(f"{file} is empty (0 bytes): remove or replace it")
        with warnings.catch_warnings():
            # Pillow warns of large images and odd metadata; the limit below decides
            warnings.simplefilter("ignore")
            with Image.open(file, formats=FORMATS) as image:
                if image.width * image.height > PIXEL_LIMIT:
                    raise too_large
                square = _middle_square(_on_paper(ImageOps.exif_transpose(image)))
                resized = square.resize((size, size), Image.Resampling.BICUBIC)  # antialiased
                return np.asarray(resized)
    except FineError:
        raise
    except Image.DecompressionBombError:
        raise too_large from None
    except PermissionError as problem:
        raise FineError(f"{file} cannot be read ({problem.strerror})") from problem
    except Exception as problem:  # Pillow raises a dozen kinds of errors for broken files
        raise FineError(f"{file} is not a readable image: remove or replace it") from problem


def _middle_square(image: Image.Image) -> Image.Image:
    side = min(image.size)
    left, top = (image.width - side) // 2, (image.height - side) // 2
    return image.crop((left, top, left + side, top + side))


def _on_paper(image: Image.Image) -> Image.Image:
    """The image as 8-bit RGB, on white: black drawings on a transparent ground would vanish."""
    if image.mode.startswith("I;16"):  # Pillow would clip 16 bits to 8 instead of scaling them
        return Image.fromarray((np.asarray(image) >> 8).astype(np.uint8)).convert("RGB")
    if image.mode in ("I", "F"):
        raise ValueError("32 bits per pixel have no known white")
    if image.has_transparency_data:
        drawing = image.convert("RGBA")
        paper = Image.new("RGBA", drawing.size, "white")
        return Image.alpha_composite(paper, drawing).convert("RGB")
    return image.convert("RGB")
