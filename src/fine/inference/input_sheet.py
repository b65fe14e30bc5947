"""What a model is shown of a puzzle: its images as they were read, and below as it sees them.

input_sheet(puzzle, puzzle.seen(model)).save("input.png")
"""

import torch
from PIL import Image
from torch import Tensor

from fine.inference.puzzle_images import ReadPuzzle
from fine.inference.reading import resized, squared

SIDE, GAP = 128, 8
"""Pixels of an image on the sheet, and between images."""
_GREY = (128, 128, 128)


def input_sheet(puzzle: ReadPuzzle, seen: Tensor) -> Image.Image:  # (n, channels, size, size)
    """Two rows of images: hints, x' and choices from left to right."""
    above = [resized(image[None], SIDE)[0] for image in squared(puzzle.images)]
    below = torch.nn.functional.interpolate(seen.float().cpu(), size=(SIDE, SIDE))  # its own pixels
    step = SIDE + GAP
    sheet = Image.new("RGB", (step * len(above) + GAP, 2 * step + GAP), _GREY)
    for row, images in enumerate((above, list(below))):
        for column, image in enumerate(images):
            sheet.paste(_drawn(image), (GAP + step * column, GAP + step * row))
    return sheet


def _drawn(image: Tensor) -> Image.Image:  # (1 or 3, side, side)
    pixels = image.expand(3, -1, -1).clamp(0, 1).mul(255).round().byte().movedim(0, -1)
    return Image.fromarray(pixels.contiguous().numpy())
