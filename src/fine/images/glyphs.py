"""Generated characters: unlimited classes, each with unlimited drawings, for work without a download.

    draw(np.array([7, 7]), np.array([0, 1]))       # two drawings of character 7: uint8 (2, 1, 32, 32)

A class is a character of an invented script: one to four strokes from a small vocabulary (stems, bowls, hooks, loops,
dots), the later ones starting on the earlier ones. A drawing is that character as one hand put it down once: warped,
slanted, shaken, with some pen. A picture depends on its class, its drawing and its size, on nothing else: not on its
neighbours in the batch, nor on the number of threads. All is + − × ÷ √ in float64, rounded to a byte at the end, so
another machine, which may fuse a multiplication with an addition, draws the same picture up to a rare grey level.
"""

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fine.errors import FineError
from fine.randomness import random_uniform

if TYPE_CHECKING:
    from fine.images import Images

Floats = NDArray[np.float64]
Integers = NDArray[np.integer]

_SKELETON, _HAND = 0x676C7970, 0x68616E64  # first part of an address: what the random number is for
_STROKES, _POINTS = 4, 25  # a character has at most four strokes, each a chain of 25 points
_CANDIDATES = 24  # skeletons thought up for a class, of which the best is kept
_CHUNK = 128  # pictures made at once: about 50 MB of temporaries at 32 × 32, 200 MB at 105 × 105

# Strokes in tenths of their chord, which runs from 0,0 to 10,0. A stroke curves through its points; "!" makes a corner.
_ANGULAR = {
    "line": "0,0 10,0",
    "elbow": "0,0 10,0! 10,6",
    "seven": "0,0 10,0! 5,7",
    "flag": "2,5 0,0! 10,0",
    "gate": "0,0 0,6! 10,6! 10,0",
    "zed": "0,0 8,0! 2,7! 10,7",
    "roof": "0,0 5,6! 10,0",
    "wedge": "0,0 10,0! 5,8! 0,0",
    "step": "0,0 5,0! 5,5! 10,5",
    "crank": "0,0 0,5! 6,5! 6,0! 10,0",
    "pennant": "10,0 0,0! 0,5! 5,5! 5,0",
    "chair": "0,0 10,0! 10,6! 5,6",
    "comb": "0,5 0,0! 10,0! 10,3",
}
_ROUND = {
    "bow": "0,0 5,2 10,0",
    "arch": "0,0 1,4 5,6 9,4 10,0",
    "cup": "0,0 4,0 8,1 10,4 8,7 4,7",
    "bowl": "0,0 -1,4 2,8 6,9 10,6",
    "hook": "0,0 4,0 8,0 10,2 9,4 7,4",
    "cane": "3,4 1,4 0,2 2,0 6,0 10,0",
    "snake": "0,4 0,1 3,-1 5,2 7,5 10,3 10,0",
    "tilde": "0,0 2,3 5,1 8,-2 10,1",
    "ring": "0,0 1.5,3.5 5,5 8.5,3.5 10,0 8.5,-3.5 5,-5 1.5,-3.5 0,0",
    "curl": "0,0 5,0 8,1 10,4 8,6.5 5.5,5 6,2 9,-1",
    "knot": "0,0 4,1 7,4 6,7 4,6 4,3 7,0 10,-1",
    "three": "0,0 1,5 4,5 5,1! 6,6 9,6 10,0",
    "double": "0,0 .3,5 2.5,6 4.5,4 5,0! 5.4,5 7.5,6 9.5,4 10,0",
    "spiral": "0,0 1,-5 6,-6 10,-2 9,3 5,4 3,1 6,-1",
    "eye": "0,5 1,1 5,-1 9,2 8,6 5,6.5! 5,2",
    "stem-bowl": "10,0 0,0! 0,4 2,6 5,4 5,0",
    "stem-arch": "0,0 10,0! 6,1 5,4 6,6 10,6",
    "two": "1,5 -1,3 1,0 4,1 10,6! 10,0",
    "key": "10,0 5,0 3,2 0,2 -1,0 0,-2 3,-2 5,0",
}
_FIRST = tuple(_ANGULAR), tuple(_ROUND)  # the body of a character is any stroke, what is added is plainer
_LATER = ("line",) * 4 + ("elbow", "seven", "gate"), ("bow", "bow", "arch", "arch", "hook", "cane", "ring", "tilde")
# Directions, most often those of a page; an option listed twice is twice as likely.
_BODY = np.array([[0, 1]] * 4 + [[1, 0]] * 3 + [[0, -1], [0.5, 0.85], [-0.5, 0.85]])
_ADDED = np.array([[1, 0]] * 3 + [[0, 1]] * 3 + [[-1, 0], [0, -1], [0.7, 0.7], [-0.7, 0.7]])
_LENGTHS = np.array([0.7, 1.0, 1.3, 1.7])
_JOINTS = np.array([0, 0, 6, 12, 12, 18, 24, 24])  # points of a stroke where another may start: ends, middle, quarters


def draw(classes: Integers, drawings: Integers, *, size: int = 32) -> Tensor:
    """Drawing ``drawings[i]`` of character ``classes[i]`` for each i: uint8 (n, 1, size, size), ink 255 on 0."""
    if np.ndim(classes) != 1 or np.shape(classes) != np.shape(drawings):
        shapes = f"{np.shape(classes)} and {np.shape(drawings)}"
        raise FineError(f"glyphs: classes and drawings have shapes {shapes}: give two flat arrays of one length")
    if size < 8:
        raise FineError(f"glyphs: size {size} is too small to show strokes: give 8 or more")
    pictures = torch.empty(len(classes), 1, size, size, dtype=torch.uint8)
    order = np.argsort(classes, kind="stable")  # one class after the other, so that its skeleton is made once or twice
    for first in range(0, len(order), _CHUNK):
        now = order[first : first + _CHUNK]
        distinct, which = np.unique(classes[now], return_inverse=True)
        skeletons, count = _skeletons(distinct)
        path, pen = _by_hand(skeletons[which], classes[now], drawings[now])
        pictures[now] = _ink(path, pen, count[which], size)
    return pictures


def load(*, size: int = 32, classes: int = 400, drawings: int = 20) -> "Images":
    """The first ``classes`` characters in their first ``drawings`` drawings, sorted by class."""
    from fine.images import Images  # here, because fine.images lists this module among its sources

    labels = np.repeat(np.arange(classes), drawings)
    pixels = draw(labels, np.tile(np.arange(drawings), classes), size=size)
    names = tuple(f"glyph-{number:04d}" for number in range(classes))
    return Images(name="glyphs", pixels=pixels, labels=torch.from_numpy(labels), class_names=names)


@cache
def _vocabulary() -> dict[str, Floats]:
    """Each stroke as points at equal steps of its length, (points, 2) in chords."""
    strokes = {}
    for name, text in (_ANGULAR | _ROUND).items():
        pieces: list[list[Floats]] = [[]]
        for word in text.split():
            point = np.array(word.rstrip("!").split(","), dtype=np.float64) / 10
            pieces[-1].append(point)
            if word.endswith("!"):
                pieces.append([point])
        path = np.concatenate([_spline(np.stack(piece)) for piece in pieces])
        travelled = np.concatenate([[0.0], np.cumsum(_length(np.diff(path, axis=0)))])
        even = np.linspace(0, travelled[-1], _POINTS)
        strokes[name] = np.stack([np.interp(even, travelled, path[:, axis]) for axis in (0, 1)], axis=-1)
    return strokes


def _spline(knots: Floats) -> Floats:
    """A Catmull-Rom curve through the knots, with straight ends."""
    padded = np.concatenate([[2 * knots[0] - knots[1]], knots, [2 * knots[-1] - knots[-2]]])
    a, b, c, d = (padded[i : len(padded) - 3 + i, None] for i in range(4))
    t = np.linspace(0, 1, 17)[:, None]
    curve = b + t * ((c - a) / 2 + t * ((2 * a - 5 * b + 4 * c - d) / 2 + t * (3 * (b - c) + d - a) / 2))
    return curve.reshape(-1, 2)


def _length(vectors: Floats) -> Floats:
    return np.sqrt(vectors[..., 0] * vectors[..., 0] + vectors[..., 1] * vectors[..., 1])


def _pick(options: NDArray, chance: Floats) -> NDArray:
    return options[(chance * len(options)).astype(np.int64)]


def _skeletons(classes: Integers) -> tuple[Floats, Integers]:
    """The ideal form of each class in [−1, 1]², (n, strokes, points, 2), and its number of strokes."""
    style = random_uniform(_SKELETON, classes[:, None], _CANDIDATES, np.arange(2))
    number = np.tile(np.arange(_CANDIDATES), len(classes))
    count = (1 + (style[:, :1] > (0.03, 0.4, 0.85)).sum(axis=1)).repeat(_CANDIDATES)
    fewer = (count > 2) & (number >= 2 * _CANDIDATES // 3)  # try a stroke less, in case there is no room for it
    count = count - fewer
    roundness = _pick(np.array([0.1, 0.5, 0.9]), style[:, 1]).repeat(_CANDIDATES)
    drawn = _candidates(classes.repeat(_CANDIDATES), number, count, roundness)
    merit = (_merit(drawn, count) - 0.3 * fewer).reshape(-1, _CANDIDATES)
    best = np.arange(len(classes)) * _CANDIDATES + merit.argmax(axis=1)
    return drawn[best], count[best]


def _candidates(classes: Integers, numbers: Integers, count: Integers, roundness: Floats) -> Floats:
    """Skeleton ``numbers[i]`` thought up for class ``classes[i]``, stroke by stroke, scaled to fill [−1, 1]²."""
    words, rows = _vocabulary(), np.arange(len(classes))
    drawn = np.empty((len(classes), _STROKES, _POINTS, 2))
    for stroke in range(_STROKES):
        u = random_uniform(_SKELETON, classes, numbers, np.arange(stroke * 13, stroke * 13 + 13)[:, None])
        angular, curved = (np.stack([words[name] for name in names]) for names in (_LATER if stroke else _FIRST))
        shape = np.where((u[0] < roundness)[:, None, None], _pick(curved, u[1]), _pick(angular, u[1]))
        chord, away = 2 * _pick(_BODY, u[2]), _pick(_ADDED, u[2])
        start = -chord / 2
        dot = u[9] < 0.05
        if stroke:
            start = drawn[rows, (u[3] * stroke).astype(np.int64), _pick(_JOINTS, u[4])]
            goal = drawn[rows, (u[5] * stroke).astype(np.int64), _pick(_JOINTS, u[6])]
            chord = np.clip(start + away * _pick(_LENGTHS, u[7])[:, None] * (0.8 if stroke > 1 else 1), -1, 1) - start
            chord = np.where((_length(chord) > 0.4)[:, None], chord, -away)
            joins = (u[8] < 0.2) & (_length(goal - start) > 0.6)
            chord = np.where(joins[:, None], goal - start, chord)
            shape = np.where(dot[:, None, None], words["ring"], shape)  # so small a ring that the pen fills it
            start = np.where(dot[:, None], start + 0.55 * _pick(_ADDED, u[10]), start)
            chord = np.where(dot[:, None], (0.12, 0), chord)
        bulge = shape[..., 1:] * (np.where(u[11] < 0.5, -1, 1) * (0.7 + 0.6 * u[12]))[:, None, None]
        sideways = np.stack([-chord[:, 1], chord[:, 0]], axis=-1)
        path = start[:, None] + shape[..., :1] * chord[:, None] + bulge * sideways[:, None]
        if stroke > 1:  # now and then the stroke before is drawn again beside itself
            echo = ~dot & (u[10] > 0.85)
            path = np.where(echo[:, None, None], drawn[:, stroke - 1] + 0.5 * away[:, None], path)
        # A stroke that the character lacks lies on its first, where it does not widen the box.
        drawn[:, stroke] = np.where((stroke < count)[:, None, None], path, drawn[:, 0])
    low, high = drawn.min(axis=(1, 2), keepdims=True), drawn.max(axis=(1, 2), keepdims=True)
    return (drawn - (low + high) / 2) / (high - low).max(axis=-1, keepdims=True) * 2


def _merit(drawn: Floats, count: Integers) -> Floats:
    """How well a skeleton would read as a character: unlike its mirror images, uncrowded, neither bare nor black."""
    coarse = drawn[:, :, ::4].reshape(len(drawn), -1, 2)
    stroke = np.arange(coarse.shape[1]) // len(range(0, _POINTS, 4))
    one, other = np.nonzero(stroke[:, None] < stroke)
    near = (_length(coarse[:, one] - coarse[:, other]) < 0.28) & (stroke[other] < count[:, None])
    crowd = near.sum(axis=1) - 2 * (count - 1)  # two strokes that only meet are near about twice
    x, y = np.moveaxis(drawn.reshape(len(drawn), -1, 2), -1, 0)
    cells = np.zeros((len(drawn), 9, 9), dtype=bool)
    row, column = (np.rint((axis + 1) * 4).astype(np.int64) for axis in (y, x))
    cells[np.arange(len(drawn))[:, None], row, column] = True
    flipped, ink = cells[:, ::-1], cells.sum(axis=(1, 2))
    mirrored = (flipped, cells[:, :, ::-1], flipped[:, :, ::-1], cells.transpose(0, 2, 1), flipped.transpose(0, 2, 1))
    symmetry = np.max([(cells & image).sum(axis=(1, 2)) for image in mirrored], axis=0) / ink
    thin = (np.ptp(x, axis=1) < 0.9) | (np.ptp(y, axis=1) < 0.9)
    wrong_amount = 0.03 * np.maximum(ink - 22, 0) + 0.04 * np.maximum(13 - ink, 0)
    return -np.maximum(symmetry, 0.5) - 0.1 * np.maximum(crowd, 0) - 0.5 * thin - wrong_amount


def _by_hand(skeletons: Floats, classes: Integers, drawings: Integers) -> tuple[Floats, Floats]:
    """The strokes of each drawing in the frame [−1, 1]², (n, strokes, points, 2), and its pen's half width (n,)."""
    wish = random_uniform(_HAND, classes[:, None], drawings[:, None], np.arange(26 + _STROKES * 8)) * 2 - 1
    whole, field = wish[:, :8, None, None], wish[:, 8:26].reshape(-1, 9, 1, 1, 2)
    shake = wish[:, 26:].reshape(-1, _STROKES, 4, 1, 2)
    # The paper is warped as one, so that strokes that meet stay together; then each stroke is bent on its own.
    across, down = (_bernstein(skeletons[..., axis] / 2 + 0.5) for axis in (0, 1))
    path = skeletons.copy()
    for knot in range(9):
        path += 0.22 * (across[knot // 3] * down[knot % 3])[..., None] * field[:, knot]
    extent = np.ptp(skeletons, axis=2, keepdims=True).max(axis=-1, keepdims=True)
    nerve = np.minimum(extent + 0.1, 1)  # short strokes bend less, so that a dot stays a dot
    t = np.linspace(0, 1, _POINTS)[:, None]
    for knot, weight in enumerate(((1 - t) ** 2 * (1 - t), 3 * (1 - t) ** 2 * t, 3 * (1 - t) * t**2, t**2 * t)):
        path += 0.1 * weight * nerve * shake[:, :, knot]
    x, y = path[..., 0] * (1 + 0.12 * whole[:, 0]), path[..., 1] * (1 + 0.1 * whole[:, 1])
    x = x - 0.14 * whole[:, 2] * y
    tan = 0.06 * whole[:, 3]  # of half the angle: ±7° without a sine
    x, y = ((1 - tan * tan) * x - 2 * tan * y) / (1 + tan * tan), (2 * tan * x + (1 - tan * tan) * y) / (1 + tan * tan)
    path = np.stack([x, y], axis=-1) * (0.6 + 0.08 * whole[:, 4, ..., None]) + 0.07 * wish[:, None, None, 5:7]
    outermost = np.abs(path).max(axis=(1, 2, 3), keepdims=True)
    return path * np.minimum(1, 0.86 / outermost), 0.048 * (1 + 0.16 * wish[:, 7])


def _bernstein(t: Floats) -> tuple[Floats, Floats, Floats]:
    return (1 - t) * (1 - t), 2 * t * (1 - t), t * t


def _ink(path: Floats, pen: Floats, count: Integers, size: int) -> Tensor:
    """Pictures (n, 1, size, size): a pixel's grey says how far its centre lies within half a pen of a stroke."""
    path, pen = (path + 1) * (size / 2) - 0.5, pen * (size / 2)
    image, stroke = np.nonzero(np.arange(_STROKES) < count[:, None])
    start = path[image, stroke, :-1].reshape(-1, 2)
    along = path[image, stroke, 1:].reshape(-1, 2) - start
    image = image.repeat(_POINTS - 1)
    # A segment inks only the patch of pixels around its middle; patches may hang over the frame, which gets a margin.
    margin = int(np.ceil(_length(along).max() / 2 + pen.max() + 0.5))
    middle, patch = np.rint(start + along / 2), np.arange(-margin, margin + 1)
    column, row = (middle[:, :1] + patch)[:, None, :], (middle[:, 1:] + patch)[:, :, None]
    ax, ay = along[:, 0, None, None], along[:, 1, None, None]
    dx, dy = column - start[:, 0, None, None], row - start[:, 1, None, None]
    t = np.clip((dx * ax + dy * ay) / np.maximum(ax * ax + ay * ay, 1e-12), 0, 1)
    dx, dy = dx - t * ax, dy - t * ay
    cover = np.clip(pen[image, None, None] + 0.5 - np.sqrt(dx * dx + dy * dy), 0, 1)
    wide = size + 2 * margin
    pixel = ((image[:, None, None] * wide + row + margin) * wide + column + margin).astype(np.int64)
    canvas = np.zeros(len(path) * wide * wide, dtype=np.uint8)
    grey = np.rint(cover * 255).astype(np.uint8).ravel()
    np.maximum.at(canvas, pixel.ravel(), grey)  # a maximum knows no order
    return torch.from_numpy(canvas).view(-1, 1, wide, wide)[:, :, margin:-margin, margin:-margin]
