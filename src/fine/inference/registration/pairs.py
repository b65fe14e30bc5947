"""An example pair at the resolutions that it is looked at: one channel, reduced and smoothed alike.

    pair = Pair(x, y)                     # float (channels, h, w) each, of any size and shape
    level = pair.level(64)                # the longer side of the smaller image has 64 pixels

Points are in frame units (fine.geometry.point_map). Colours are projected on the line along which
they vary most, so a red disc on green counts as much as a white one on black.
"""

import functools
import math
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from fine.geometry.frame import unit_of

LONGEST = 512
"""Pixels of the longer side of x that are kept: more would say nothing about the parameters."""
LARGER = 2.0
"""A y that is larger than x by more than this factor is looked at as if it were only that."""
MARGIN = 1.75
"""Pixels on both sides of a border that resampling, smoothing and compression mix; 1 if few."""
FLAT = 1e-4
"""Variance of an image with nothing to see: a hundredth of its range."""


@dataclass(frozen=True)
class Level:
    """A pair at one resolution."""

    x: Tensor
    """(1, 3, h, w): x, and its slopes across and down for a frame unit."""
    y: Tensor
    """(n,): the pixels of y."""
    points: Tensor
    """(n, 2): their centres."""
    reach: Tensor
    """(2,): half the width and half the height of x."""
    pixel: float
    """The size of a pixel of y."""
    margin: float
    """To both sides of the border of x nothing is predicted so far: pixels there mix both."""
    fills: Tensor
    """(fills, n): squared distance of y to each colour that may fill what a rule uncovers."""
    fill_costs: Tensor
    """(fills, n): the same, saturated."""
    colours: Tensor
    """(fills,): the colours that may fill what a rule uncovers."""
    variance: float
    """That of y over the whole frame."""
    baseline: float
    """The mean saturated error of the one colour that explains y best."""
    shape: tuple[int, int]
    """Height and width of y here."""
    exact: bool
    """Whether x is as it is, and smoothed only once it is read: slower, and true for any rule."""

    def settled(self, values: Tensor) -> Tensor:  # (..., n)
        """Values for the pixels of y, smoothed as y is."""
        if not self.exact:
            return values
        return _smoothed(values.reshape(-1, *self.shape)).view(values.shape)


class Pair:
    """An image and what became of it."""

    def __init__(self, x: Tensor, y: Tensor):
        if x.shape[0] != y.shape[0]:
            x, y = x.mean(0, keepdim=True), y.mean(0, keepdim=True)
        self.size = (int(x.shape[1]), int(x.shape[2]))
        self.out = (int(y.shape[1]), int(y.shape[2]))
        self.unit = unit_of(self.size)
        longest = max(self.size)
        factor = min(1.0, LONGEST / longest)
        most = LARGER * min(longest, LONGEST)
        self.x = _reduced(x.float(), factor)
        self.y = _reduced(y.float(), min(factor, most / max(self.out)))
        self._projection = _principal_colour(self.x, self.y)
        self._levels: dict[tuple[int, int, float | None, bool], Level] = {}
        self._channels: dict[int, Pair] = {}

    def changed(self, x: Tensor, y: Tensor) -> "Pair":
        """A pair of other pixels at the same sizes."""
        other = Pair.__new__(Pair)
        other.size, other.out, other.unit = self.size, self.out, self.unit
        other.x, other.y = x, y
        other._projection, other._levels, other._channels = self._projection, {}, {}
        return other

    def channel(self, number: int) -> "Pair":
        """The pair in one of its colours."""
        if number not in self._channels:
            one = slice(number, number + 1)
            other = self.changed(self.x[one], self.y[one])
            other._projection = torch.ones(1)
            self._channels[number] = other
        return self._channels[number]

    @property
    def side(self) -> int:
        """Pixels that there are to look at, along the longer side of the smaller image."""
        return min(max(self.x.shape[1:]), max(self.y.shape[1:]))

    @property
    def octaves(self) -> float:
        """By how many octaves y is larger than x, if it is much larger or clearly smaller."""
        ratio = max(self.out) / max(self.size)
        return math.log2(ratio) if ratio < 0.7 or ratio > LARGER else 0.0

    @property
    def larger(self) -> float:
        """By which factor y is looked at larger than the smaller of both images."""
        return min(LARGER, max(1.0, max(self.out) / max(self.size)))

    @property
    def is_flat(self) -> bool:
        """Whether x or y shows nothing."""
        return bool(min(self.grey(self.x).var(), self.grey(self.y).var()) < FLAT)

    def grey(self, image: Tensor) -> Tensor:  # (channels, h, w) -> (h, w)
        """The one channel in which images of the pair are compared."""
        return torch.einsum("chw,c->hw", image, self._projection)

    def level(
        self, side: int, octaves: float = 0.0, *, frame: float | None = None, exact: bool = False
    ) -> Level:
        """The pair with ``side`` pixels along the longer side of the smaller image.

        An image that was made smaller shows less detail of x, so x has another resolution by
        ``octaves``. A ``frame`` of one colour around x shows where its border comes to lie in y.
        """
        height, width = self.y.shape[1:]
        y_side = min(max(height, width), round(side * self.larger))
        pixels = y_side * max(self.size) / max(self.out)  # of x, if it is seen as large as y is
        x_side = min(max(self.x.shape[1:]), max(8, round(pixels * 2.0**octaves)))
        key = (y_side, x_side, frame, exact)
        if key not in self._levels:
            self._levels[key] = self._make(*key)
        return self._levels[key]

    def _make(self, y_side: int, x_side: int, frame: float | None, exact: bool) -> Level:
        x = _reduced(self.grey(self.x)[None], x_side / max(self.x.shape[1:]))
        height, width = x.shape[1:]
        if frame is not None:
            beside, above = width // 2, height // 2
            x = F.pad(x, (beside, beside, above, above), value=frame)
        x = x if exact else _smoothed(x)
        y = _smoothed(_reduced(self.grey(self.y)[None], y_side / max(self.y.shape[1:])))[0]
        slopes = [
            torch.gradient(x[0], dim=dim)[0] * (count * self.unit / length)
            for dim, count, length in ((1, width, self.size[1]), (0, height, self.size[0]))
        ]
        reach = torch.tensor([self.size[1], self.size[0]]) / (2 * self.unit)
        reach = reach * torch.tensor([x.shape[2] / width, x.shape[1] / height])
        height, width = y.shape
        margin = MARGIN if y_side > 40 * self.larger else 1.0
        points = _points(height, width, self.out, self.unit)
        values = y.flatten()
        variance = float(values.var(correction=0)) + FLAT / 10
        colours = self._fills(y)
        fills = (values - colours[:, None]).square()
        fill_costs = saturated(fills, variance)
        mean_cost = saturated((values - values.mean()).square(), variance).mean()
        return Level(
            x=torch.stack((x[0], *slopes))[None],
            y=values,
            points=points,
            reach=reach,
            pixel=self.out[1] / width / self.unit,
            margin=2 * float(reach.max()) / max(x.shape[1:]) * margin,
            fills=fills,
            fill_costs=fill_costs,
            colours=colours,
            variance=variance,
            baseline=float(torch.minimum(fill_costs.mean(1).min(), mean_cost)),
            shape=(height, width),
            exact=exact,
        )

    def _fills(self, y: Tensor) -> Tensor:
        """Colours that what a rule uncovers may have: black, white, and those of the border."""
        white = float(self._projection.sum())
        edges = [_border(y).median()]
        edges += [y[0].median(), y[-1].median(), y[:, 0].median(), y[:, -1].median()]
        edges += [_border(self.grey(self.x)).median()]
        corners = [y[0, 0], y[0, -1], y[-1, 0], y[-1, -1]]
        return torch.stack([torch.tensor(0.0), torch.tensor(white), *edges, *corners])


@functools.lru_cache(maxsize=64)
def _points(height: int, width: int, out: tuple[int, int], unit: float) -> Tensor:  # (n, 2)
    """The centres of the pixels of a frame that was reduced."""
    x = ((np.arange(width) + 0.5) / width - 0.5) * out[1] / unit
    y = ((np.arange(height) + 0.5) / height - 0.5) * out[0] / unit
    points: NDArray[np.float64] = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    return torch.from_numpy(points.astype(np.float32))


def _reduced(image: Tensor, factor: float) -> Tensor:
    if factor >= 1.0:
        return image
    height, width = (max(2, round(side * factor)) for side in image.shape[-2:])
    # Not by areas of whole pixels, whose centres are not where the smaller pixels are.
    return F.interpolate(image[None], size=(height, width), mode="bilinear", antialias=True)[0]


def _smoothed(images: Tensor) -> Tensor:  # (k, h, w)
    """Smoothed over a pixel: what interpolations did to single pixels does not count."""
    line = torch.tensor([0.25, 0.5, 0.25])
    kernel = (line[:, None] * line)[None, None]
    return F.conv2d(F.pad(images[:, None], (1, 1, 1, 1), mode="replicate"), kernel)[:, 0]


def _principal_colour(x: Tensor, y: Tensor) -> Tensor:  # (channels,)
    """The direction in which the colours of both images vary most; its parts add up to 1."""
    if x.shape[0] == 1:
        return torch.ones(1)
    small = [_reduced(image, 32 / max(image.shape[1:])).flatten(1) for image in (x, y)]
    colours = torch.cat([one - one.mean(1, keepdim=True) for one in small], dim=1).double()
    direction = torch.linalg.eigh(colours @ colours.T).eigenvectors[:, -1]
    direction = direction * direction.sum().sign().add(0.5).sign()
    return (direction / direction.abs().sum()).float()


def saturated(squares: Tensor, variance: float) -> Tensor:
    """Squared errors of which none counts for more than the variance of y."""
    return squares / (1 + squares / variance)


def _border(image: Tensor) -> Tensor:  # (h, w) -> (n,)
    return torch.cat((image[0], image[-1], image[:, 0], image[:, -1]))
