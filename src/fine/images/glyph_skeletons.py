"""Characters of an invented script as bare strokes: what a class of glyphs looks like before a hand draws it.

Each class invents a few skeletons from a vocabulary of strokes and keeps the one that reads best as a character.
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
_CANDIDATES = 24  # skeletons thought up for a class, of which the best is kept

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
        strokes[name] = np.stack([np.interp(even, travelled, path[:, axis]) for axis in (0, 1)], axis=-1)
    return strokes


def _spline(knots: Floats) -> Floats:
    """A Catmull-Rom curve through the knots, with straight ends."""
    padded = np.concatenate([[2 * knots[0] - knots[1]], knots, [2 * knots[-1] - knots[-2]]])
    a, b, c, d = (padded[i : len(padded) - 3 + i, None] for i in range(4))
    t = np.linspace(0, 1, 17)[:, None]
    curve = b + t * ((c - a) / 2 + t * ((2 * a - 5 * b + 4 * c - d) / 2 + t * (3 * (b - c) + d - a) / 2))
    return curve.reshape(-1, 2)


def length(vectors: Floats) -> Floats:
    return np.sqrt(vectors[..., 0] * vectors[..., 0] + vectors[..., 1] * vectors[..., 1])


def _pick(options: NDArray, chance: Floats) -> NDArray:
    return options[(chance * len(options)).astype(np.int64)]


def skeletons_of(classes: Integers) -> tuple[Floats, Integers]:
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
    drawn = np.empty((len(classes), STROKES, POINTS, 2))
    for stroke in range(STROKES):
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
            chord = np.where((length(chord) > 0.4)[:, None], chord, -away)
            joins = (u[8] < 0.2) & (length(goal - start) > 0.6)
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
    stroke = np.arange(coarse.shape[1]) // len(range(0, POINTS, 4))
    one, other = np.nonzero(stroke[:, None] < stroke)
    near = (length(coarse[:, one] - coarse[:, other]) < 0.28) & (stroke[other] < count[:, None])
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
