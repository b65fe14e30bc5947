"""Rules while their parameters move: many candidates of a form at once.

    form = FORMS["rotation"]
    matrices = form.matrices(np.array([[37.2], [217.2]]))       # (2, 2, 3), in frame units

The formulas are those of the families, in their parameters, for a whole batch; a test compares
them. Bent forms are a wave or a fisheye, alone, or before or after any affine map.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fine.geometry.warp import HALF
from fine.inference.registration.bends import BENDS, Bend
from fine.rules import FAMILIES, Rule
from fine.rules.affine import affine_rule, inverted, named_square

Parameters = NDArray[np.float64]
"""(candidates, parameters)"""
Matrices = NDArray[np.float64]
"""(candidates, 2, 3)"""


@dataclass(frozen=True)
class AffineForm:
    """A family of affine maps: parameters -> matrices from output points to input points."""

    name: str
    matrices: Callable[[Parameters], Matrices]
    steps: tuple[float, ...]
    """A small change of each parameter, for slopes; 0: the parameter is a choice and stays."""
    complexity: int
    """How much a family can explain by itself; of two that explain as much, the lower is taken."""


Entry = NDArray[np.float64] | float


def _assembled(count: int, first: Sequence[Entry], second: Sequence[Entry]) -> Matrices:
    """Matrices from their two rows; an entry is a number, or one for each matrix."""
    matrices = np.zeros((count, 2, len(first)))
    for row, entries in enumerate((first, second)):
        for column, entry in enumerate(entries):
            matrices[:, row, column] = entry
    return matrices


def _translations(p: Parameters) -> Matrices:
    right, down = p.T / HALF
    return _assembled(len(p), (1.0, 0.0, -right), (0.0, 1.0, -down))


def _rotations(p: Parameters) -> Matrices:
    angle = np.radians(p[:, 0])
    cos, sin = np.cos(angle), np.sin(angle)
    return _assembled(len(p), (cos, -sin, 0.0), (sin, cos, 0.0))


def _scales(p: Parameters) -> Matrices:
    inverse = 1 / p[:, 0]
    return _assembled(len(p), (inverse, 0.0, 0.0), (0.0, inverse, 0.0))


def _stretches(p: Parameters) -> Matrices:
    wide, high = 1 / p.T
    return _assembled(len(p), (wide, 0.0, 0.0), (0.0, high, 0.0))


def _shears(p: Parameters) -> Matrices:
    across, down = np.tan(np.radians(p.T))
    return _assembled(len(p), (1 + across * down, -across, 0.0), (-down, 1.0, 0.0))


def _squares(p: Parameters) -> Matrices:
    a, b, c, d = p.T
    a, b, c, d = p.T / (a * d - b * c)
    return _assembled(len(p), (d, -b, 0.0), (-c, a, 0.0))


def _similarities(p: Parameters) -> Matrices:
    mirrored, degrees, factor, right, down = p.T
    linear = _rotations(degrees[:, None])[..., :2] / factor[:, None, None]
    linear[:, 0] *= (1 - 2 * mirrored)[:, None]
    moved = np.stack((right, down), axis=-1)[..., None] / HALF
    return np.concatenate((linear, -linear @ moved), axis=-1)


def _affine_maps(p: Parameters) -> Matrices:
    return p.reshape(-1, 2, 3)


_AFFINE_FORMS = (
    AffineForm("square", _squares, (0.0,) * 4, 0),
    AffineForm("translation", _translations, (1e-3,) * 2, 2),
    AffineForm("rotation", _rotations, (1e-3,), 1),
    AffineForm("scale", _scales, (1e-4,), 1),
    AffineForm("stretch", _stretches, (1e-4,) * 2, 2),
    AffineForm("shear", _shears, (1e-3,) * 2, 2),
    AffineForm("any-mix", _similarities, (0.0, 1e-3, 1e-4, 1e-3, 1e-3), 4),
    AffineForm("affine-map", _affine_maps, (1e-4,) * 6, 6),
)
FORMS: dict[str, AffineForm] = {form.name: form for form in _AFFINE_FORMS}
"""Families of affine maps by name. The parameters of `affine-map` are its matrix, row by row."""


@dataclass(frozen=True)
class BentForm:
    """A wave or a fisheye, and any affine map ``before`` or after it, or none.

    Parameters are those of the bend, then the matrix of the map row by row.
    """

    name: str
    bend: Bend
    order: str
    """alone, bend-first or affine-first"""

    @property
    def steps(self) -> tuple[float, ...]:
        return self.bend.steps + (() if self.order == "alone" else (3e-3,) * 6)

    @property
    def complexity(self) -> int:
        return len(self.steps)

    def sources(self, points: Tensor, parameters: Parameters) -> Tensor:  # (n, 2), (k, p)
        """(k, n, 2): the points read, for each candidate."""
        bend, matrices = self._parts(parameters)
        every = points.expand(len(parameters), -1, -1)
        if self.order == "alone":
            return self.bend.sources(every, bend)
        if self.order == "bend-first":  # the last rule is the first to be read through
            return self.bend.sources(through(every, matrices), bend)
        return through(self.bend.sources(every, bend), matrices)

    def pulled(self, points: Tensor, parameters: Parameters, slopes: Tensor) -> Tensor:
        """(k, p, n): slopes by the parameters, from those (k, 2, n) of x where it is read."""
        bend, matrices = self._parts(parameters)
        every = points.expand(len(parameters), -1, -1)
        if self.order == "alone":
            return self.bend.pulled(every, bend, slopes)[1]
        if self.order == "bend-first":
            between = through(every, matrices)
            by_point, by_bend = self.bend.pulled(between, bend, slopes)
            return torch.cat((by_bend, by_matrix(every, by_point)), dim=1)
        between = self.bend.sources(every, bend)
        _, by_bend = self.bend.pulled(every, bend, matrices[:, :, :2].transpose(1, 2) @ slopes)
        return torch.cat((by_bend, by_matrix(between, slopes)), dim=1)

    def _parts(self, parameters: Parameters) -> tuple[Tensor, Tensor]:  # (k, q, 1), (k, 2, 3)
        count = len(self.bend.steps)
        numbers = torch.from_numpy(parameters).float()
        if self.order == "alone":
            return numbers[:, :count, None], torch.eye(2, 3)[None]
        return numbers[:, :count, None], numbers[:, count:].view(-1, 2, 3)


def through(points: Tensor, matrices: Tensor) -> Tensor:  # (1 or k, n, 2), (k, 2, 3) -> (k, n, 2)
    """Points under affine maps."""
    return points @ matrices[:, :, :2].transpose(1, 2) + matrices[:, None, :, 2]


def by_matrix(points: Tensor, slopes: Tensor) -> Tensor:  # (1 or k, n, 2), (k, 2, n) -> (k, 6, n)
    """Slopes by the entries of a matrix, from those at the points that it leads to."""
    x, y = points.unbind(-1)
    basis = torch.stack((x, y, torch.ones_like(x)), dim=1)
    across, down = slopes[:, :1], slopes[:, 1:]
    return torch.cat((across * basis, down * basis), dim=1)


BENT_FORMS: dict[str, BentForm] = {
    form.name: form
    for bend in BENDS.values()
    for form in (
        BentForm(bend.name, bend, "alone"),
        BentForm(f"{bend.name}+affine", bend, "bend-first"),
        BentForm(f"affine+{bend.name}", bend, "affine-first"),
    )
}


Form = AffineForm | BentForm


def rules_of(form: Form, parameters: NDArray[np.float64]) -> tuple[Rule, ...]:
    """A candidate as rules, the first one first."""
    values = tuple(float(value) for value in parameters)
    if isinstance(form, AffineForm):
        if form.name == "affine-map":
            return (affine_rule(parameters.reshape(2, 3)),)
        if form.name == "square":
            return (named_square(values),)
        if form.name == "rotation":
            values = (values[0] % 360,)
        if form.name == "any-mix":
            values = (values[0], values[1] % 360, *values[2:])
        return (Rule(FAMILIES[form.name], values),)
    count = len(form.bend.steps)
    bend = Rule(FAMILIES[form.bend.name], values[:count])
    if form.order == "alone":
        return (bend,)
    affine = affine_rule(parameters[count:].reshape(2, 3))
    return (bend, affine) if form.order == "bend-first" else (affine, bend)


def reported(form: Form, parameters: NDArray[np.float64]) -> NDArray[np.float64]:
    """The slopes of a rule's own parameters by those that were moved: (rule's, moved)."""
    size = len(parameters)
    if form.name == "affine-map":
        return _slopes_of_forward(parameters)
    if isinstance(form, AffineForm) or form.order == "alone":
        return np.eye(size)
    count = len(form.bend.steps)
    slopes = np.eye(size)
    slopes[count:, count:] = _slopes_of_forward(parameters[count:])
    if form.order == "affine-first":  # the rule of the affine map is then named first
        slopes = np.concatenate((slopes[count:], slopes[:count]))
    return slopes


def _slopes_of_forward(parameters: NDArray[np.float64]) -> NDArray[np.float64]:  # (6,) -> (6, 6)
    """How the parameters of `affine-map`, a map of images, follow the matrix it reads through."""

    def forward(values: NDArray[np.float64]) -> NDArray[np.float64]:
        matrix = inverted(values.reshape(2, 3))
        return np.concatenate((matrix[:, :2].flatten(), HALF * matrix[:, 2]))

    columns = []
    for place in range(6):
        change = np.zeros(6)
        change[place] = 1e-5
        columns.append((forward(parameters + change) - forward(parameters - change)) / 2e-5)
    return np.stack(columns, axis=1)
