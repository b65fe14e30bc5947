"""Maps of images that are not affine: read point by point, tile by tile, so that memory is flat.

    draw_remapped(image, canvas, point_map, resample="bilinear", fill=(0, 0, 0))

Of the image and the result, only what belongs to one tile is ever a tensor. Where the map makes an
image smaller, a pixel of the result is the mean of several points.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image
from torch import Tensor

from fine.apply.affine import reduced
from fine.apply.canvas import Canvas, Floats, Frame
from fine.apply.modes import Fill
from fine.apply.settings import Resample
from fine.errors import FineError
from fine.geometry.point_map import PartlyNegativeMap, PointMap
from fine.geometry.warp import warp

_TILE = (128, 1024)  # rows and columns
_SMALLEST = 32  # pixels a side of a tile that is not divided further
_FINEST = 4  # parts of a pixel along each side, at most
_SPREAD = 8  # a tile may read so many times its own pixels; else it is divided
_MARGIN = 3  # pixels around what is read, which bicubic interpolation looks at
_WHITE = {"L": 255, "LA": 255, "RGB": 255, "RGBA": 255, "I": 65_535}  # "I" holds 16 bits
_SPARSE = 8  # every so many pixels, shrinkage is measured in a tile
_PROBES = 48  # points a side at which shrinkage is measured


def draw_remapped(
    image: Image.Image, canvas: Canvas, point_map: PointMap, *, resample: Resample, fill: Fill
) -> Image.Image:
    """The image under any map of points."""
    if resample != "nearest":
        least = float(np.quantile(_shrinkages(canvas, point_map), 0.1))
        image = reduced(image, max(1.0, least), max(1.0, least))
    sampler = _Sampler(image, canvas, point_map, resample, fill)
    result = Image.new(image.mode, (canvas.width, canvas.height), fill)
    for rows, columns in _tiles(canvas):
        sampler.draw(result, rows, columns)
    return result


def _tiles(canvas: Canvas) -> Iterator[tuple[range, range]]:
    height, width = _TILE
    for top in range(0, canvas.height, height):
        for left in range(0, canvas.width, width):
            bottom, right = min(top + height, canvas.height), min(left + width, canvas.width)
            yield range(top, bottom), range(left, right)


def _shrinkages(canvas: Canvas, point_map: PointMap) -> Floats:
    """How much smaller the map makes an image, at places all over the result."""
    x = np.linspace(0.5, canvas.width - 0.5, _PROBES) + canvas.left
    y = np.linspace(0.5, canvas.height - 0.5, _PROBES) + canvas.top
    places = np.stack(np.meshgrid(x, y), axis=-1)
    unit = canvas.frame.unit
    here, right, below = (
        np.asarray(point_map.sources((places + step) / unit)) * unit
        for step in ((0, 0), (0.5, 0), (0, 0.5))
    )
    return _of_steps(2 * (right - here), 2 * (below - here))


def _of_steps(right: Floats, down: Floats) -> Floats:  # (..., 2) each -> (...)
    """Pixels of the image that one pixel of the result is long, along the axis that is longer."""
    along = np.hypot(right, down)
    return np.nan_to_num(along.max(axis=-1), nan=1.0, posinf=1.0)


@dataclass(frozen=True)
class _Sampler:
    """Draws tiles of one result."""

    image: Image.Image
    """Reduced, perhaps; so its size may differ from that of the frame."""
    canvas: Canvas
    point_map: PointMap
    resample: Resample
    fill: Fill

    def draw(self, result: Image.Image, rows: range, columns: range) -> None:
        """Draw one tile; in parts if it reads from all over the image."""
        places = self._places(rows, columns)
        inside = Frame(*self.image.size).contains(places)
        if not inside.any():
            return
        box = self._box(places, inside)
        area = (box[2] - box[0]) * (box[3] - box[1])
        divisible = max(len(rows), len(columns)) > _SMALLEST
        if divisible and area > _SPREAD * len(rows) * len(columns) + 100_000:
            for part_rows in _halves(rows):
                for part_columns in _halves(columns):
                    self.draw(result, part_rows, part_columns)
            return
        finer = self._finer(places)
        if finer > 1:
            places = self._places(rows, columns, finer)
            inside = Frame(*self.image.size).contains(places)
            box = self._box(places, inside)
        negative = self._negative(rows, columns, finer)
        tile = self._sampled(places, inside, negative, box, finer)
        mode, size = self.image.mode, (len(columns), len(rows))
        result.paste(Image.frombytes(mode, size, tile.tobytes()), (columns.start, rows.start))

    def _places(self, rows: range, columns: range, finer: int = 1) -> Floats:
        """Where pixels are read, in pixels of the image."""
        points = self.canvas.points(rows, columns, finer=finer)
        sources = np.asarray(self.point_map.sources(points), dtype=np.float64)
        if sources.shape != points.shape:
            raise FineError(
                f"a map gave points of shape {sources.shape} for {points.shape}: expected the same"
            )
        frame = self.canvas.frame
        size = np.array(self.image.size)
        return _linear(sources, frame.unit * size / (frame.width, frame.height), size / 2)

    def _box(self, places: Floats, inside: np.ndarray) -> tuple[int, int, int, int]:
        """The part of the image that the places inside it are read from."""
        x, y = places[..., 0], places[..., 1]
        if not inside.all():
            x, y = x[inside], y[inside]
        width, height = self.image.size
        return (
            max(0, math.floor(x.min()) - _MARGIN),
            max(0, math.floor(y.min()) - _MARGIN),
            min(width, math.ceil(x.max()) + _MARGIN),
            min(height, math.ceil(y.max()) + _MARGIN),
        )

    def _finer(self, places: Floats) -> int:
        """Points a side that a pixel is the mean of."""
        if self.resample == "nearest" or min(places.shape[:2]) < 2:
            return 1
        here = places[:-1:_SPARSE, :-1:_SPARSE]
        right = places[:-1:_SPARSE, 1::_SPARSE] - here
        down = places[1::_SPARSE, :-1:_SPARSE] - here
        # The median, for the jumps of a map that swaps parts are no shrinkage.
        usual = float(np.median(_of_steps(right, down)))
        return int(np.clip(round(usual), 1, _FINEST))

    def _negative(self, rows: range, columns: range, finer: int) -> np.ndarray | None:
        """Which pixels become their negatives; None if the map does not do that to a part."""
        if isinstance(self.point_map, PartlyNegativeMap) and self.point_map.partly_negative:
            return self.point_map.negative_at(self.canvas.points(rows, columns, finer=finer))
        return None

    def _negated(self, values: Tensor) -> Tensor:  # (channels, h, w), the same out
        mode = self.image.mode
        if mode in ("La", "RGBa"):  # colours that are weighted with their alpha
            return torch.cat([values[-1:] - values[:-1], values[-1:]])
        if mode in ("LA", "RGBA"):
            return torch.cat([_WHITE[mode] - values[:-1], values[-1:]])
        if mode not in _WHITE:
            raise FineError(f"an image of mode {mode} cannot become partly its negative: use RGB")
        return _WHITE[mode] - values

    def _sampled(
        self,
        places: Floats,
        inside: np.ndarray,
        negative: np.ndarray | None,
        box: tuple[int, int, int, int],
        finer: int,
    ) -> np.ndarray:  # (rows, columns) or (rows, columns, channels), of the image's type
        part = np.asarray(self.image.crop(box))
        exact = part.dtype == np.int32 and self.image.mode == "I"
        kind = torch.float64 if exact else torch.float32
        values = torch.from_numpy(part.astype(np.float64 if exact else np.float32))
        values = values[..., None] if values.ndim == 2 else values  # (h, w, channels)
        left, top, right, bottom = box
        factors = 2 / np.array([right - left, bottom - top])
        grid = _linear(places, factors, -factors * (left, top) - 1)  # what is no number becomes −1
        read = warp(
            values.permute(2, 0, 1)[None],
            torch.from_numpy(grid).to(kind)[None],
            mode=self.resample,
            outside="border",  # where there is nothing to mix with
        )[0]
        if negative is not None:
            read = torch.where(torch.from_numpy(negative), self._negated(read), read)
        if not inside.all():
            fill = torch.tensor(self.fill, dtype=kind).reshape(-1, 1, 1)
            read = torch.where(torch.from_numpy(inside), read, fill)
        if finer > 1:
            read = F.avg_pool2d(read, finer)
        return _as_type(read, part.dtype).permute(1, 2, 0).squeeze(-1).contiguous().numpy()


def _linear(points: Floats, factors: Floats, offsets: Floats) -> Floats:  # (h, w, 2), (2,), (2,)
    """Points times factors plus offsets; row by row, which NumPy does faster than pair by pair."""
    height, width, _ = points.shape
    rows = points.reshape(height, 2 * width) * np.tile(factors, width)
    rows += np.tile(offsets, width)
    return rows.reshape(height, width, 2)


def _halves(numbers: range) -> Iterator[range]:
    if len(numbers) <= _SMALLEST:
        yield numbers
        return
    middle = numbers.start + len(numbers) // 2
    yield range(numbers.start, middle)
    yield range(middle, numbers.stop)


def _as_type(values: Tensor, dtype: np.dtype) -> Tensor:
    if dtype == np.uint8:
        return values.round().clamp(0, 255).byte()
    if dtype == np.int32:
        return values.round().int()
    return values.float()
