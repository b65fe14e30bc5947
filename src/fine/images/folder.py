"""Your own pictures: a folder with one subfolder per class.

Pictures keep their brightness (dark ink on paper stays dark), are turned the way their EXIF data says, laid on white
where they are transparent, cut to the middle square and resampled. If all are grey there is one channel, else three.
"""

import os
import warnings
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image, ImageOps

from fine.errors import FineError
from fine.images import Images

PIXEL_LIMIT = 50_000_000
"""A picture with more pixels is refused before it is decoded: a small file can unpack to gigabytes."""

# Named, because Pillow would otherwise also try formats that start other programs (EPS runs Ghostscript).
Image.init()
_WANTED = ("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP", "PPM", "JPEG2000", "AVIF")
FORMATS = [name for name in _WANTED if name in Image.OPEN]  # not every build of Pillow has AVIF
"""The formats that are read."""
_LITTER = {"thumbs.db", "desktop.ini", "__macosx"}


def load(path: str, *, size: int) -> Images:
    """The pictures directly inside each subfolder of ``path``, sorted by name."""
    root = Path(os.path.expanduser(path))  # noqa: PTH111 (Path.expanduser raises for an unknown user)
    classes = [entry for entry in _entries(root) if entry.is_dir()]
    if len(classes) < 2:
        raise FineError(f"{root} has {len(classes)} subfolder(s): expected one per class and at least 2 classes")
    pictures: list[NDArray[np.uint8]] = []
    labels: list[int] = []
    for label, folder in enumerate(classes):
        files = [entry for entry in _entries(folder) if not entry.is_dir()]
        if not files:
            raise FineError(f"{folder} has no pictures in it: add some or remove the folder")
        pictures += [_read(file, size) for file in files]
        labels += [label] * len(files)
    pixels = torch.from_numpy(np.stack(pictures)).permute(0, 3, 1, 2)  # (n, 3, size, size)
    grey = bool((pixels == pixels[:, :1]).all())
    return Images(
        name=f"folder:{path}",
        pixels=pixels[:, : 1 if grey else 3].contiguous(),
        labels=torch.tensor(labels),
        class_names=tuple(folder.name for folder in classes),
    )


def _entries(folder: Path) -> list[Path]:
    """What a folder holds, sorted, without what operating systems leave in it."""
    try:
        entries = sorted(folder.iterdir(), key=lambda entry: entry.name)
    except FileNotFoundError:
        raise FineError(f"{folder} is missing: expected a folder with one subfolder of pictures per class") from None
    except NotADirectoryError:
        raise FineError(f"{folder} is a file: expected a folder with one subfolder of pictures per class") from None
    except (OSError, ValueError) as problem:
        raise FineError(f"{folder} cannot be read ({problem})") from problem
    return [entry for entry in entries if not entry.name.startswith(".") and entry.name.lower() not in _LITTER]


def _read(file: Path, size: int) -> NDArray[np.uint8]:  # (size, size, 3)
    too_large = FineError(f"{file} has more than {PIXEL_LIMIT // 1_000_000} megapixels: replace it by a smaller one")
    try:
        if file.stat().st_size == 0:
            raise FineError(f"{file} is empty (0 bytes): remove or replace it")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Pillow warns of large pictures and odd metadata; the limit below decides
            with Image.open(file, formats=FORMATS) as picture:
                if picture.width * picture.height > PIXEL_LIMIT:
                    raise too_large
                square = _middle_square(_on_paper(ImageOps.exif_transpose(picture)))
                return np.asarray(square.resize((size, size), Image.Resampling.BICUBIC))  # antialiased by Pillow
    except FineError:
        raise
    except Image.DecompressionBombError:
        raise too_large from None
    except PermissionError as problem:
        raise FineError(f"{file} cannot be read ({problem.strerror})") from problem
    except Exception as problem:  # Pillow's readers raise errors of a dozen kinds for broken files
        raise FineError(f"{file} is not a picture that can be read: remove or replace it") from problem


def _middle_square(picture: Image.Image) -> Image.Image:
    side = min(picture.size)
    left, top = (picture.width - side) // 2, (picture.height - side) // 2
    return picture.crop((left, top, left + side, top + side))


def _on_paper(picture: Image.Image) -> Image.Image:
    """Eight-bit RGB; transparent parts become white, because a drawing in black on nothing would vanish on black."""
    if picture.mode.startswith("I;16"):  # Pillow would clip sixteen bits to eight instead of scaling them
        return Image.fromarray((np.asarray(picture) >> 8).astype(np.uint8)).convert("RGB")
    if picture.mode in ("I", "F"):
        raise ValueError("32 bits a pixel have no known white")
    if picture.has_transparency_data:
        drawing = picture.convert("RGBA")
        return Image.alpha_composite(Image.new("RGBA", drawing.size, "white"), drawing).convert("RGB")
    return picture.convert("RGB")
