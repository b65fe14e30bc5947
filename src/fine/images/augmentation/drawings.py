"""Drawings that may be shown in place of an image: its edges, its brightest or darkest areas, and
strokes that have nothing to do with it. All of them are bright on an empty ground.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from fine.images.augmentation.chance import Chance, Integers
from fine.images.augmentation.filters import KNOTS, brightest, smooth_fields, steepness

PEN = (0.5, 1.3)
"""Half the width of a stroke, in pixels of 32."""


class Area(NamedTuple):
    """Pixels of an image that are drawn: those where something is largest."""

    values: Callable[[Tensor], Tensor]
    """What is large there, from images in grey (n, 1, h, w)."""
    least: float
    """The smallest share of the pixels, and the largest."""
    most: float


AREAS = {
    "edges": Area(steepness, 0.06, 0.20),
    "bright": Area(lambda grey: grey, 0.10, 0.40),
    "dark": Area(lambda grey: 1 - grey, 0.10, 0.40),
}


def draw(images: Tensor, chance: dict[str, Chance], names: Sequence[str]) -> Tensor:
    """Images (n, channels, h, w), each as itself or as one of the drawings of these names."""
    choice = chance["drawing"].choice(1 + len(names))
    rows = {name: (choice == place).nonzero()[0] for place, name in enumerate(names, start=1)}
    areas = [name for name in names if name in AREAS]
    drawn = []
    if areas:
        drawn.append(_draw_areas(images, chance, {name: rows[name] for name in areas}))
    if "strokes" in names:
        drawn.append(_draw_strokes(chance["strokes"][rows["strokes"]], images.shape[-1]))
    where = torch.from_numpy(np.concatenate(list(rows.values()))).to(images.device)
    drawings = torch.cat(drawn).expand(-1, images.shape[1], -1, -1)  # they have no colour
    return images.index_copy(0, where, drawings)


def _draw_areas(images: Tensor, chance: dict[str, Chance], rows: dict[str, Integers]) -> Tensor:
    """Areas of the images with these numbers, name by name: (n, 1, h, w)."""
    chosen = torch.from_numpy(np.concatenate(list(rows.values()))).to(images.device)
    values = images.index_select(0, chosen)
    if values.shape[1] > 1:
        values = values.mean(1, keepdim=True)
    shares = []
    for name, part in zip(rows, values.split([*map(len, rows.values())]), strict=True):
        area = AREAS[name]
        part.copy_(area.values(part))
        shares.append(chance[name].uniform(area.least, area.most)[rows[name]])
    share = chance["drawing"].each(np.concatenate(shares))
    return brightest(values, share, most=max(AREAS[name].most for name in rows))


def _draw_strokes(chance: Chance, size: int) -> Tensor:  # (n, 1, size, size)
    """Smooth random strokes: where one random field is 0 and another one is not low."""
    noise = chance.noise(2 * KNOTS**2).view(-1, 2, KNOTS**2).transpose(0, 1)
    field, other = smooth_fields(noise.reshape(-1, KNOTS**2), size).chunk(2)
    distance = field.abs().div_(steepness(field).clamp_(min=1e-3))  # from the line, in pixels
    reach = chance.each(chance.uniform(*PEN) * (size / 32) + 0.5)
    return (reach - distance).clamp_(0, 1).mul_(other.mul_(3).add_(2).clamp_(0, 1))
