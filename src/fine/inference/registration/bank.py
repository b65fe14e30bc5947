"""Where the search for mixes begins: a bank of linear maps, each with its best translation.

    starts = bank_starts(pairs, "similar")        # turned, scaled, mirrored and moved

Translations are not tried but computed, all at once, by correlation.
"""

import functools
from collections.abc import Sequence

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from fine.geometry.warp import warp
from fine.inference.registration.forms import FORMS
from fine.inference.registration.pairs import Level, Pair
from fine.inference.registration.refinement import Candidate

BANK_SIDE = 24
"""Longer side of the images that are moved."""
_CANVAS = 64  # pixels of the frame in which they are moved

Linear = NDArray[np.float64]


def similarities(angles: int, factors: Sequence[float]) -> Linear:  # (k, 2, 2)
    """Linear parts of similarities, from output to input, mirrored ones too."""
    parameters = [
        (mirrored, 360 / angles * k, factor, 0.0, 0.0)
        for mirrored in (0.0, 1.0)
        for k in range(angles)
        for factor in factors
    ]
    return FORMS["any-mix"].matrices(np.array(parameters))[:, :, :2]


@functools.lru_cache(maxsize=4)
def _bank(kind: str) -> Linear:
    if kind == "unmoved":
        return np.eye(2)[None]
    if kind == "similar":
        return similarities(36, (0.5, 0.63, 0.8, 1.0, 1.25, 1.6, 2.0))
    plain = similarities(18, (0.6, 1.0, 1.7))
    stretched = [
        _along(direction, ratio) for direction in range(0, 180, 30) for ratio in (1.5, 2.2)
    ]
    return np.concatenate([plain @ one for one in stretched])


def _along(direction: float, ratio: float) -> Linear:
    """Longer along a direction by a ratio, with the area as it was."""
    turn = FORMS["rotation"].matrices(np.array([[float(direction)]]))[0, :, :2]
    return turn.T @ np.diag([ratio**-0.5, ratio**0.5]) @ turn


def bank_starts(pairs: Sequence[Pair], kind: str, *, kept: int = 8) -> list[Candidate]:
    """Linear maps of a bank, each with the translation that explains y best: the best of them."""
    bank = _bank(kind)
    if pairs[0].octaves:  # images may have been resized, or cropped
        bank = np.concatenate((bank, bank / 2.0 ** pairs[0].octaves))
    total = None
    for pair in pairs:
        surface = _moved_losses(pair, bank)
        # Pairs of other shapes have other frames of translations: the first pair finds the starts.
        if total is None:
            total = surface
        elif surface.shape == total.shape and pair.size == pairs[0].size:
            total = total + surface
    assert total is not None
    best = total.flatten(1).min(1)
    found: list[Candidate] = []
    pixel = pairs[0].level(_bank_side(pairs[0]), pairs[0].octaves).pixel
    for number in best.values.argsort()[: 4 * kept].tolist():
        row, column = divmod(int(best.indices[number]), _CANVAS)
        moved = np.array([_signed(column), _signed(row)]) * pixel
        linear = bank[number]
        matrix = np.column_stack((linear, -linear @ moved))
        if all(_far_apart(matrix, one.parameters.reshape(2, 3)) for one in found):
            loss = float(best.values[number]) / len(pairs)
            found.append(Candidate(FORMS["affine-map"], matrix.flatten(), loss))
        if len(found) == kept:
            break
    return found


def _bank_side(pair: Pair) -> int:
    """A side at which y fits into the canvas, with space to be moved."""
    return max(8, min(BANK_SIDE, round(0.6 * _CANVAS / pair.larger)))


def _signed(shift: int) -> int:
    return shift if shift < _CANVAS // 2 else shift - _CANVAS


def _far_apart(one: NDArray[np.float64], other: NDArray[np.float64]) -> bool:
    return bool(np.abs(one - other).max() > 0.2)


def _moved_losses(pair: Pair, bank: Linear) -> Tensor:  # (k, canvas, canvas)
    """The loss of each linear map at each translation, by correlation."""
    level = pair.level(_bank_side(pair), pair.octaves)
    height, width = level.shape
    top, left = (_CANVAS - height) // 2, (_CANVAS - width) // 2
    seen, shown = _bank_images(level, bank, height % 2, width % 2)  # (k, canvas, canvas) each
    around = (left, _CANVAS - width - left, top, _CANVAS - height - top)
    counted = ~_filled(level)
    frame = F.pad(counted[None].float(), around)[0]
    y = F.pad(level.y.view(1, height, width), around)[0] * frame
    shown_seen = torch.fft.rfft2(shown * seen).conj()
    shown_square = torch.fft.rfft2(shown * seen.square()).conj()
    mask = torch.fft.rfft2(shown).conj()
    spectra = torch.fft.rfft2(torch.stack((frame, y)))
    explained = shown_square * spectra[0] - 2 * shown_seen * spectra[1]
    surface = torch.full(shown.shape, torch.inf)
    for fill in _likely_fills(level):
        uncovered = F.pad(fill.view(1, height, width), around)[0] * frame
        beside = torch.fft.rfft2(y.square() - uncovered)
        left = torch.fft.irfft2(explained + mask * beside, s=(_CANVAS, _CANVAS))
        surface = torch.minimum(surface, left + uncovered.sum())
    variance = float(level.y.view(height, width)[counted].var()) + 1e-4
    surface = surface / (float(frame.sum()) * variance)
    area = torch.fft.irfft2(mask * spectra[0], s=(_CANVAS, _CANVAS))
    reach_rows, reach_columns = (_CANVAS - height) // 2, (_CANVAS - width) // 2
    rows = torch.tensor([abs(_signed(k)) <= reach_rows for k in range(_CANVAS)])
    columns = torch.tensor([abs(_signed(k)) <= reach_columns for k in range(_CANVAS)])
    allowed = rows[:, None] & columns & (area > 0.04 * height * width)
    return torch.where(allowed, surface, torch.inf)


def _filled(level: Level) -> Tensor:  # (h, w)
    """Pixels of y that are certainly uncovered: of a corner's colour, which x hardly has.

    Their contrast would outweigh everything else that y shows.
    """
    y, x = level.y.view(level.shape), level.x[0, 0]
    filled = torch.zeros(level.shape, dtype=torch.bool)
    for corner in (y[0, 0], y[0, -1], y[-1, 0], y[-1, -1]):
        if float(((x - corner).abs() < 0.04).float().mean()) < 0.02:
            filled |= (y - corner).abs() < 0.04
    wider = F.max_pool2d(filled[None].float(), 5, stride=1, padding=2)[0] > 0
    return wider if float(wider.float().mean()) < 0.9 else torch.zeros_like(wider)


def _likely_fills(level: Level) -> Tensor:  # (2, n)
    """The two fills that most pixels of y have the colour of."""
    alike = (level.fills < 0.03**2).sum(1)
    first = int(alike.argmax())
    rest = torch.where((level.fills[:, 0] - level.fills[first, 0]).abs() < 1e-3, -1, alike)
    return level.fills[[first, int(rest.argmax())]]


def _bank_images(
    level: Level, bank: Linear, odd_rows: int, odd_columns: int
) -> tuple[Tensor, Tensor]:
    """x under each linear map in a canvas around its centre, and where it is seen."""
    rows = (torch.arange(_CANVAS) + 0.5 - (_CANVAS - odd_rows) / 2) * level.pixel
    columns = (torch.arange(_CANVAS) + 0.5 - (_CANVAS - odd_columns) / 2) * level.pixel
    points = torch.stack(torch.meshgrid(columns, rows, indexing="xy"), dim=-1).reshape(-1, 2)
    sources = points @ torch.from_numpy(bank).float().transpose(1, 2)
    read = warp(level.x[:, :1], (sources / level.reach)[None], outside="border")[0, 0]
    inside = (sources.abs() <= level.reach).all(-1).float()
    shape = (len(bank), _CANVAS, _CANVAS)
    return read.view(shape), inside.view(shape)
