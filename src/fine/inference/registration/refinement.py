"""Parameters moved until x under a rule lies on y: robust least squares, many candidates at once.

    better = refined(candidates, pairs, side=64, steps=10)       # the same candidates, in order

Levenberg–Marquardt steps lower the mean error of all pairs together (comparison.py). Candidates of
affine families take them together, and so do those of one bent form.
"""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fine.inference.registration.comparison import Comparison, compare
from fine.inference.registration.forms import (
    AffineForm,
    BentForm,
    Form,
    Parameters,
    by_matrix,
    through,
)
from fine.inference.registration.pairs import Level, Pair

LITTLE, LEAST = 1e-3, 1e-4
"""A step that lowers the loss by less than this part is the last one; LEAST if done thoroughly."""
THOROUGH_STEPS = 40
"""Steps of a thorough refinement, at most."""
LIKELY, EXPLAINED_BY_FAR = 3, 0.002
"""So many candidates are also refined by the border of x, if their loss is not that small."""
MOST_DAMPED = 20.0
"""Damping of steps that are so short that no more are tried."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """Parameters of a form on the way to the best ones."""

    form: Form
    parameters: NDArray[np.float64]
    loss: float = math.inf
    """Saturated squared error; 0 is a perfect explanation, 1 is no better than one colour."""
    covariance: NDArray[np.float64] | None = None
    """That of the errors of the parameters, once refined."""
    sharper: float = 0.0
    """By how many octaves less x is reduced, if the form makes it smaller."""

    @property
    def octaves(self) -> float:
        """By how many octaves x is reduced for this form, in halves; negative if it is."""
        matrix = _matrix_within(self)
        if matrix is None:
            return 0.0
        area = abs(float(np.linalg.det(matrix[:, :2])))
        larger = round(max(-10.0, min(6.0, -math.log2(max(area, 1e-6))))) / 2
        return larger if larger > 0 else min(larger + self.sharper, 0.0)

    def sources(self, points: Tensor) -> Tensor:  # (n, 2) -> (n, 2)
        """Where the form reads the points of an output."""
        if isinstance(self.form, AffineForm):
            matrix = torch.from_numpy(self.form.matrices(self.parameters[None])).float()
            return through(points[None], matrix)[0]
        return self.form.sources(points, self.parameters[None])[0]


def _matrix_within(candidate: Candidate) -> NDArray[np.float64] | None:
    form, parameters = candidate.form, candidate.parameters
    if isinstance(form, AffineForm):
        return form.matrices(parameters[None])[0]
    if form.order == "alone":
        return None
    return parameters[-6:].reshape(2, 3)


def refined(
    candidates: Sequence[Candidate],
    pairs: Sequence[Pair],
    *,
    side: int,
    steps: int,
    little: float = LITTLE,
    exact: bool = False,
) -> list[Candidate]:
    """The candidates with better parameters, at one resolution."""
    groups: dict[tuple[str, float], list[int]] = {}
    for number, one in enumerate(candidates):
        kind = "affine" if isinstance(one.form, AffineForm) else one.form.name
        groups.setdefault((kind, one.octaves), []).append(number)
    result = list(candidates)
    for (_, octaves), members in groups.items():
        levels = [pair.level(side, octaves, exact=exact) for pair in pairs]
        better = _descend([candidates[number] for number in members], levels, steps, little)
        for number, one in zip(members, better, strict=True):
            result[number] = one
    return result


def thoroughly_refined(
    candidates: Sequence[Candidate], pairs: Sequence[Pair], *, side: int
) -> list[Candidate]:
    """The candidates refined until nothing gets better, with exact readings of x."""
    refine = functools.partial(
        refined, pairs=pairs, side=side, steps=THOROUGH_STEPS, little=LEAST, exact=True
    )
    result = refine(candidates)
    order = sorted(range(len(result)), key=lambda number: result[number].loss)
    for number in order[:LIKELY]:
        if result[number].loss < EXPLAINED_BY_FAR:
            continue
        by_border = refine([_by_border(result[number], pairs, side)])[0]
        result[number] = _better(result[number], by_border)
    best = min(result, key=lambda one: one.loss)
    if best.octaves >= 0:
        return result
    # Some programs average over pixels when they make an image smaller, and some do not.
    for sharper in sorted({0.5, -best.octaves}):
        if refine([replace(best, sharper=sharper)])[0].loss < best.loss:
            sharp = refine([replace(one, sharper=sharper) for one in result])
            result = list(map(_better, result, sharp))
            best = min(result, key=lambda one: one.loss)
    return result


def _by_border(one: Candidate, pairs: Sequence[Pair], side: int) -> Candidate:
    """A candidate refined where y also shows how the border of x was moved."""
    framed = []
    for pair in pairs:
        level = pair.level(side, one.octaves)
        colour = compare(level, one.sources(level.points)[None]).fill
        framed.append(pair.level(side, one.octaves, frame=float(colour)))
    return _descend([one], framed, THOROUGH_STEPS, LITTLE)[0]


def _better(one: Candidate, other: Candidate) -> Candidate:
    return other if other.loss < one.loss else one


@dataclass
class _Fit:
    """How well candidates explain y, and the normal equations of their parameters."""

    loss: NDArray[np.float64]  # (k,)
    square: NDArray[np.float64]  # (k, p, p)
    slope: NDArray[np.float64]  # (k, p)
    noise: NDArray[np.float64]  # (k,): squared error of a pixel

    def of(self, rows: NDArray[np.integer] | NDArray[np.bool_]) -> "_Fit":
        """That of some candidates."""
        return _Fit(self.loss[rows], self.square[rows], self.slope[rows], self.noise[rows])

    def take(self, other: "_Fit", rows: NDArray[np.integer]) -> None:
        """Put another fit in the place of some candidates' own."""
        self.loss[rows], self.square[rows] = other.loss, other.square
        self.slope[rows], self.noise[rows] = other.slope, other.noise


def _descend(
    group: list[Candidate], levels: Sequence[Level], steps: int, little: float
) -> list[Candidate]:
    forms = [one.form for one in group]
    widest = max(len(form.steps) for form in forms)
    best = np.zeros((len(group), widest))
    movable = np.zeros((len(group), widest), dtype=bool)
    for row, one in enumerate(group):
        best[row, : len(one.parameters)] = one.parameters
        movable[row, : len(one.parameters)] = np.array(one.form.steps) > 0
    fit = _fit(forms, best, levels)
    damping = np.full(len(group), 1e-3)
    idle: NDArray[np.bool_] = np.logical_not(movable.any(axis=1))
    for _ in range(steps):
        rows = np.flatnonzero(~idle)
        if not rows.size:
            break
        moved = best[rows] - _step(fit.of(rows), damping[rows], movable[rows])
        trial = _fit([forms[row] for row in rows], moved, levels)
        lower = trial.loss < fit.loss[rows]
        idle[rows] |= lower & (trial.loss > (1 - little) * fit.loss[rows] - 1e-4 * little)
        best[rows[lower]] = moved[lower]
        fit.take(trial.of(lower), rows[lower])
        damping[rows] *= np.where(lower, 1 / 5, 12)
        idle |= damping > MOST_DAMPED
    return [
        replace(
            one,
            parameters=best[row, : len(one.parameters)],
            loss=float(fit.loss[row]),
            covariance=_covariance(fit, row, movable[row])[
                : len(one.parameters), : len(one.parameters)
            ],
        )
        for row, one in enumerate(group)
    ]


def _step(
    fit: _Fit, damping: NDArray[np.float64], movable: NDArray[np.bool_]
) -> NDArray[np.float64]:  # (k, p)
    """The damped step of every candidate; parameters that are choices stay."""
    both = movable[:, :, None] & movable[:, None, :]
    square = np.where(both, fit.square, 0)
    diagonal = np.einsum("kpp->kp", square)
    # A parameter that changes nothing stays where it is.
    ridge = diagonal * damping[:, None] + 1e-9 * diagonal.max(1, keepdims=True) + 1e-12
    ridge = np.where(movable, ridge, 1.0)
    square = square + np.einsum("kp,pq->kpq", ridge, np.eye(square.shape[1]))
    slope = np.where(movable, fit.slope, 0)
    solved: NDArray[np.float64] = np.linalg.solve(square, slope[..., None])[..., 0]
    return solved


def _covariance(fit: _Fit, row: int, movable: NDArray[np.bool_]) -> NDArray[np.float64]:
    covariance = np.zeros_like(fit.square[row])
    places = np.flatnonzero(movable)
    if places.size:
        square = fit.square[row][np.ix_(places, places)]
        size = np.sqrt(np.maximum(np.diagonal(square), 1e-12))
        scaled = square / np.outer(size, size)
        inverse = np.linalg.pinv(scaled + 1e-9 * np.eye(len(places)))
        covariance[np.ix_(places, places)] = fit.noise[row] * inverse / np.outer(size, size)
    return covariance


def _fit(forms: Sequence[Form], parameters: Parameters, levels: Sequence[Level]) -> _Fit:
    total: _Fit | None = None
    evaluate = _affine_fit if isinstance(forms[0], AffineForm) else _bent_fit
    for level in levels:
        one = evaluate(forms, parameters, level)
        if total is None:
            total = one
            continue
        total.loss += one.loss
        total.square += one.square
        total.slope += one.slope
        total.noise += one.noise
    assert total is not None
    total.loss /= len(levels)
    total.noise /= len(levels)
    return total


def _affine_fit(forms: Sequence[Form], parameters: Parameters, level: Level) -> _Fit:
    matrices, slopes = _matrices(forms, parameters)  # (k, 2, 3), (k, p, 6)
    points = level.points[None]
    comparison = compare(level, through(points, torch.from_numpy(matrices).float()))
    jacobian = level.settled(by_matrix(points, comparison.slopes))
    fit = _normal_equations(comparison, jacobian)
    fit.square = slopes @ fit.square @ slopes.transpose(0, 2, 1)
    fit.slope = np.einsum("kps,ks->kp", slopes, fit.slope)
    return fit


def _bent_fit(forms: Sequence[Form], parameters: Parameters, level: Level) -> _Fit:
    form = forms[0]
    assert isinstance(form, BentForm)
    comparison = compare(level, form.sources(level.points, parameters))
    jacobian = level.settled(form.pulled(level.points, parameters, comparison.slopes))
    fit = _normal_equations(comparison, jacobian)
    fit.loss[~form.bend.allows(parameters[:, : len(form.bend.steps)])] = math.inf
    return fit


def _normal_equations(comparison: Comparison, jacobian: Tensor) -> _Fit:  # (k, p, n)
    weighted = jacobian * comparison.weights[:, None]
    square = (weighted @ jacobian.transpose(1, 2)).double().numpy()
    slope = (weighted @ comparison.errors[..., None]).double().numpy()[..., 0]
    return _Fit(comparison.loss, square, slope, comparison.noise)


def _matrices(
    forms: Sequence[Form], parameters: Parameters
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(k, 2, 3): the matrices; (k, p, 6): how they follow their parameters."""
    matrices = np.zeros((len(forms), 2, 3))
    slopes = np.zeros((len(forms), parameters.shape[1], 6))
    for form in dict.fromkeys(forms):
        assert isinstance(form, AffineForm)
        rows = [row for row, other in enumerate(forms) if other is form]
        own = parameters[rows][:, : len(form.steps)]
        changes = np.diag(form.steps)  # all at once: a matrix for itself and two for each slope
        tried = np.stack((own, *(own + one for one in (*changes, *-changes))))
        with np.errstate(all="ignore"):  # a wild step is told by its loss
            made = form.matrices(tried.reshape(-1, len(changes))).reshape(*tried.shape[:2], 6)
        matrices[rows] = made[0].reshape(-1, 2, 3)
        steps = np.array(form.steps)
        ahead, behind = made[1 : 1 + len(steps)], made[1 + len(steps) :]
        moves = (ahead - behind) / np.where(steps > 0, 2 * steps, 1)[:, None, None]
        slopes[rows, : len(steps)] = moves.transpose(1, 0, 2)
    return np.nan_to_num(matrices, nan=1e3, posinf=1e3, neginf=-1e3), np.nan_to_num(slopes)
