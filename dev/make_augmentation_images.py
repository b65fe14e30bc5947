"""Draws docs/img/augmentation.png, what each part of the augmentation makes of some images.

Run: python dev/make_augmentation_images.py (needs CIFAR-100 and Omniglot)
"""

from pathlib import Path

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from fine.geometry.d4 import D4
from fine.images import load_images
from fine.images.augmentation import PARTS, TURNS, ImageAugmentation
from fine.randomness import random_below, random_bits

CLASSES = ("bottle", "elephant", "mushroom", "orchid", "plate", "rocket", "skunk")
"""Photographs in grey, and the first three of them in colour."""
CHARACTERS = (7, 123, 800)
GROUND = "#eef0f2"  # so that white images have an edge
TRIES = 60  # bits that are tried until a part happens to an image
TARGET = Path(__file__).parent.parent / "docs" / "img" / "augmentation.png"


def main() -> None:
    images = examples()
    rows = {"as it is": images}
    rows |= {part: [happened(part, image, at) for at, image in enumerate(images)] for part in PARTS}
    everything = ImageAugmentation(PARTS)
    for again in range(3):
        rows["all" if not again else " " * again] = [
            everything(turned(image, at, again)[None], random_bits(again, np.array([at])))[0]
            for at, image in enumerate(images)
        ]
    figure = Figure(figsize=(9, 9 * len(rows) / (len(images) + 1.1)), dpi=160, facecolor=GROUND)
    cells = figure.subplots(len(rows), len(images), gridspec_kw={"wspace": 0.06, "hspace": 0.06})
    for row, (label, shown) in zip(cells, rows.items(), strict=True):
        for cell, image in zip(row, shown, strict=True):
            show(cell, image)
        row[0].text(-4, 16, label, ha="right", va="center", fontsize=8)
    figure.subplots_adjust(left=0.09, right=0.99, top=0.99, bottom=0.01)
    figure.savefig(TARGET)


def examples() -> list[Tensor]:
    """Photographs in grey and in colour, and characters: (channels, 32, 32) each."""
    photographs = load_images("cifar100")
    firsts = [
        int((photographs.labels == photographs.class_names.index(name)).nonzero()[3])
        for name in CLASSES
    ]
    grey = photographs.with_channels(1).pixels[firsts]
    characters = load_images("omniglot").pixels[[20 * number for number in CHARACTERS]]
    return [image / 255 for image in (*grey, *photographs.pixels[firsts[:3]], *characters)]


def happened(part: str, image: Tensor, number: int) -> Tensor:
    """An image that a part has happened to."""
    if part == TURNS:
        return turned(image, number, 1)
    copies = image.expand(TRIES, -1, -1, -1)
    shown = ImageAugmentation((part,))(copies, random_bits(number, np.arange(TRIES)))
    changed = (shown != copies).flatten(1).any(1)
    return shown[int(changed.int().argmax())]  # itself if it never happens


def turned(image: Tensor, number: int, again: int) -> Tensor:
    return D4.move(int(random_below(8, number, again)[0]), image)


def show(cell: Axes, image: Tensor) -> None:
    cell.axis("off")
    pixels = image.permute(1, 2, 0).squeeze()
    cell.imshow(pixels, cmap="gray", vmin=0, vmax=1, interpolation="none")


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
