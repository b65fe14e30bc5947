"""Characters of an invented script as bare strokes: a class of glyphs before a hand draws it.

Each class makes up a few skeletons from a vocabulary of strokes and keeps the one that reads best
as a character.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from fine.randomness import random_uniform

Floats = NDArray[np.float64]
Integers = NDArray[np.integer]

STROKES, POINTS = 4, 25
"""A character has at most four strokes, each a chain of 25 points."""

_SKELETON = 0x676C7970  # first part of an address: what the random number is for
_CANDIDATES = 24  # skeletons made up for a class, of which the best is kept
_CHANCES = 13  # random numbers of a stroke

# Strokes in tenths of their chord, which runs from 0,0 to 10,0. A stroke curves through its points;
# "!" makes a corner.
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
_FIRST = tuple(_ANGULAR), tuple(_ROUND)  # the body of a character is any stroke
_LATER = (  # what is added is plainer; an option listed twice is twice as likely
    ("line",) * 4 + ("elbow", "seven", "gate"),
    ("bow", "bow", "arch", "arch", "hook", "cane", "ring", "tilde"),
)
# Directions, mostly along the edges of the page.
_BODY = np.array([[0, 1]] * 4 + [[1, 0]] * 3 + [[0, -1], [0.5, 0.85], [-0.5, 0.85]])
_ADDED = np.array([[1, 0]] * 3 + [[0, 1]] * 3 + [[-1, 0], [0, -1], [0.7, 0.7], [-0.7, 0.7]])
_LENGTHS = np.array([0.7, 1.0, 1.3, 1.7])
# Points of a stroke where another may start: ends, middle, quarters.
_JOINTS = np.array([0, 0, 6, 12, 12, 18, 24, 24])


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
        travelled = np.concatenate([[0.0], np.cumsum(length(np.diff(path, axis=0)))])
        even = np.linspace(0, travelled[-1], POINTS)
        axes = [np.interp(even, travelled, path[:, axis]) for axis in (0, 1)]
        strokes[name] = np.stack(axes, axis=-1)
    return strokes


def _spline(knots: Floats) -> Floats:
    """A Catmull-Rom curve through the knots, with straight ends."""
    padded = np.concatenate([[2 * knots[0] - knots[1]], knots, [2 * knots[-1] - knots[-2]]])
    a, b, c, d = (padded[i : len(padded) - 3 + i, None] for i in range(4))
    t = np.linspace(0, 1, 17)[:, None]
    bend = (2 * a - 5 * b + 4 * c - d) / 2 + t * (3 * (b - c) + d - a) / 2
    curve = b + t * ((c - a) / 2 + t * bend)
    return curve.reshape(-1, 2)


def length(vectors: Floats) -> Floats:
    """The length of each vector (…, 2)."""
    return np.sqrt(vectors[..., 0] * vectors[..., 0] + vectors[..., 1] * vectors[..., 1])


def _pick(options: NDArray, chance: Floats) -> NDArray:
    return options[(chance * len(options)).astype(np.int64)]


def skeletons_of(classes: Integers) -> tuple[Floats, Integers]:
    """The ideal form of each class in [−1, 1]², (n, strokes, points, 2), and its stroke count."""
    style = random_uniform(_SKELETON, classes[:, None], _CANDIDATES, np.arange(2))
    number = np.tile(np.arange(_CANDIDATES), len(classes))
    count = (1 + (style[:, :1] > (0.03, 0.4, 0.85)).sum(axis=1)).repeat(_CANDIDATES)
    # The last third tries one stroke less, in case there is no room for it.
    fewer = (count > 2) & (number >= 2 * _CANDIDATES // 3)
    count = count - fewer
    roundness = _pick(np.array([0.1, 0.5, 0.9]), style[:, 1]).repeat(_CANDIDATES)
    drawn = _candidates(classes.repeat(_CANDIDATES), number, count, roundness)
    merit = (_merit(drawn, count) - 0.3 * fewer).reshape(-1, _CANDIDATES)
    best = np.arange(len(classes)) * _CANDIDATES + merit.argmax(axis=1)
    return drawn[best], count[best]


def _candidates(classes: Integers, numbers: Integers, count: Integers, roundness: Floats) -> Floats:
    """Skeleton ``numbers[i]`` made up for class ``classes[i]``, scaled to fill [−1, 1]²."""
    drawn = np.empty((len(classes), STROKES, POINTS, 2))
    for stroke in range(STROKES):
        streams = np.arange(stroke * _CHANCES, (stroke + 1) * _CHANCES)
        u = random_uniform(_SKELETON, classes, numbers, streams[:, None])  # (chances, n)
        if stroke == 0:
            path = _first_stroke(u, roundness)
        else:
            path = _later_stroke(drawn[:, :stroke], u, roundness)
        # A stroke that the character lacks lies on its first, where it does not widen the box.
        drawn[:, stroke] = np.where((stroke < count)[:, None, None], path, drawn[:, 0])
    low, high = drawn.min(axis=(1, 2), keepdims=True), drawn.max(axis=(1, 2), keepdims=True)
    return (drawn - (low + high) / 2) / (high - low).max(axis=-1, keepdims=True) * 2


def _first_stroke(u: Floats, roundness: Floats) -> Floats:  # (n, points, 2)
    chord = 2 * _pick(_BODY, u[2])
    return _along(_shape(_FIRST, u, roundness), -chord / 2, chord, u)


def _later_stroke(drawn: Floats, u: Floats, roundness: Floats) -> Floats:  # (n, points, 2)
    """A stroke that starts on one of those ``drawn`` (n, strokes, points, 2), or a dot near it."""
    rows, strokes = np.arange(len(drawn)), drawn.shape[1]
    away = _pick(_ADDED, u[2])
    start = drawn[rows, (u[3] * strokes).astype(np.int64), _pick(_JOINTS, u[4])]
    goal = drawn[rows, (u[5] * strokes).astype(np.int64), _pick(_JOINTS, u[6])]
    reach = away * _pick(_LENGTHS, u[7])[:, None] * (0.8 if strokes > 1 else 1)
    chord = np.clip(start + reach, -1, 1) - start
    chord = np.where((length(chord) > 0.4)[:, None], chord, -away)
    joins = (u[8] < 0.2) & (length(goal - start) > 0.6)
    chord = np.where(joins[:, None], goal - start, chord)
    shape = _shape(_LATER, u, roundness)
    is_dot = u[9] < 0.05  # so small a ring that the pen fills it
    shape = np.where(is_dot[:, None, None], _vocabulary()["ring"], shape)
    start = np.where(is_dot[:, None], start + 0.55 * _pick(_ADDED, u[10]), start)
    chord = np.where(is_dot[:, None], (0.12, 0), chord)
    path = _along(shape, start, chord, u)
    if strokes > 1:  # sometimes the previous stroke is repeated beside itself
        is_echo = ~is_dot & (u[10] > 0.85)
        path = np.where(is_echo[:, None, None], drawn[:, -1] + 0.5 * away[:, None], path)
    return path


def _shape(names: tuple[tuple[str, ...], tuple[str, ...]], u: Floats, roundness: Floats) -> Floats:
    """A stroke of the vocabulary, angular or round: (n, points, 2) in chords."""
    words = _vocabulary()
    angular, curved = (np.stack([words[name] for name in some]) for some in names)
    is_round = (u[0] < roundness)[:, None, None]
    return np.where(is_round, _pick(curved, u[1]), _pick(angular, u[1]))


def _along(shape: Floats, start: Floats, chord: Floats, u: Floats) -> Floats:
    """A shape laid along a chord (n, 2), bulging to either side."""
    side = np.where(u[11] < 0.5, -1, 1)
    bulge = shape[..., 1:] * (side * (0.7 + 0.6 * u[12]))[:, None, None]
    sideways = np.stack([-chord[:, 1], chord[:, 0]], axis=-1)
    return start[:, None] + shape[..., :1] * chord[:, None] + bulge * sideways[:, None]


def _merit(drawn: Floats, count: Integers) -> Floats:
    """How well a skeleton reads as a character: asymmetric, uncrowded, neither bare nor black."""
    x, y = np.moveaxis(drawn.reshape(len(drawn), -1, 2), -1, 0)
    cells = np.zeros((len(drawn), 9, 9), dtype=bool)
    row, column = (np.rint((axis + 1) * 4).astype(np.int64) for axis in (y, x))
    cells[np.arange(len(drawn))[:, None], row, column] = True
    ink = cells.sum(axis=(1, 2))
    symmetry = np.maximum(_symmetry(cells), 0.5)
    crowding = np.maximum(_crowding(drawn, count), 0)
    is_thin = (np.ptp(x, axis=1) < 0.9) | (np.ptp(y, axis=1) < 0.9)
    wrong_amount = 0.03 * np.maximum(ink - 22, 0) + 0.04 * np.maximum(13 - ink, 0)
    return -symmetry - 0.1 * crowding - 0.5 * is_thin - wrong_amount


def _symmetry(cells: NDArray[np.bool_]) -> Floats:  # (n, 9, 9) -> (n,)
    """The share of inked cells that are also inked in the most similar mirror image."""
    flipped = cells[:, ::-1]
    mirrored = (
        flipped,
        cells[:, :, ::-1],
        flipped[:, :, ::-1],
        cells.transpose(0, 2, 1),
        flipped.transpose(0, 2, 1),
    )
    shared = [(cells & image).sum(axis=(1, 2)) for image in mirrored]
    return np.max(shared, axis=0) / cells.sum(axis=(1, 2))


def _crowding(drawn: Floats, count: Integers) -> Integers:  # (n,)
    """How many points of different strokes are near each other, beyond those where strokes meet."""
    coarse = drawn[:, :, ::4].reshape(len(drawn), -1, 2)
    stroke = np.arange(coarse.shape[1]) // len(range(0, POINTS, 4))
    one, other = np.nonzero(stroke[:, None] < stroke)
    near = (length(coarse[:, one] - coarse[:, other]) < 0.28) & (stroke[other] < count[:, None])
    return near.sum(axis=1) - 2 * (count - 1)  # two strokes that only meet are near about twice
