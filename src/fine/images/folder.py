"""Your own images: a folder with one subfolder per class.

Images keep their brightness (dark ink on paper stays dark). They are rotated as their EXIF data
says, laid on white where they are transparent, cut to the middle square and resampled. The source
has one channel if all images are grey, else three.
"""

import os
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image

from fine.errors import FineError
from fine.images.decoding import Decoder
from fine.images.images import Images
from fine.images.limits import FILE_LIMIT, TooCostlyError
from fine.io.untrusted import read_bytes

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
    with Decoder() as decoder:
        for label, folder in enumerate(classes):
            files = [entry for entry in _entries(folder) if not entry.is_dir()]
            if not files:
                raise FineError(f"{folder} has no images in it: add some or remove the folder")
            images += [_read(file, size, decoder) for file in files]
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
    return [entry for entry in entries if not is_litter(entry.name)]


def is_litter(name: str) -> bool:
    """Whether a file or folder is hidden, or left behind by an operating system."""
    return name.startswith(".") or name.lower() in _LITTER


def _read(file: Path, size: int, decoder: Decoder) -> NDArray[np.uint8]:  # (size, size, 3)
    try:
        square = _on_paper(_middle_square(decoder.decode(_content(file))))
        return np.asarray(square.resize((size, size), Image.Resampling.BICUBIC))  # antialiased
    except FineError:
        raise
    except TooCostlyError as problem:
        raise FineError(f"{file} {problem}: replace it by a smaller image") from None
    except PermissionError as problem:
        raise FineError(f"{file} cannot be read ({problem.strerror})") from problem
    except Exception as problem:  # Pillow raises a dozen kinds of errors for broken files
        raise FineError(f"{file} is not a readable image: remove or replace it") from problem


def _content(file: Path) -> bytes:
    content = read_bytes(file, largest=FILE_LIMIT, expected="an image")
    if not content:
        raise FineError(f"{file} is empty (0 bytes): remove or replace it")
    return content


def _middle_square(image: Image.Image) -> Image.Image:
    if image.width == image.height:
        return image
    side = min(image.size)
    left, top = (image.width - side) // 2, (image.height - side) // 2
    return image.crop((left, top, left + side, top + side))


def _on_paper(image: Image.Image) -> Image.Image:
    """The image as 8-bit RGB, on white: black drawings on a transparent ground would vanish."""
    if image.mode.startswith("I;16"):  # Pillow would clip 16 bits to 8 instead of scaling them
        return Image.fromarray((np.asarray(image) >> 8).astype(np.uint8)).convert("RGB")
    if image.mode in ("I", "F"):
        raise ValueError("32 bits per pixel have no known white")
    if not image.has_transparency_data:
        return image if image.mode == "RGB" else image.convert("RGB")
    drawing = image if image.mode == "RGBA" else image.convert("RGBA")
    paper = Image.new("RGBA", drawing.size, "white")
    composite = Image.alpha_composite(paper, drawing)
    del paper, drawing  # a large image takes 200 MB each time
    return composite.convert("RGB")
