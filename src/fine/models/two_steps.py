"""Functions of two steps, for rules beyond the span of the slots.

    matrix = two_steps(backbone, x, y)       # (b, d, c) twice -> (b, d, d), which takes x near to y

A memory can say what its slots span: the rules of training, and mixtures of their matrices. A
larger rule is one of these after another, as a shift by 6 is a shift by 3, twice. So the function
is a product of two matrices that both lie in the span of the slots, fitted to the example pair
together. Fitted one after the other, the first would explain more of y than it should.
"""

import torch
from torch import Tensor

from fine.models.backbones import MatrixBackbone, ResidualBackbone
from fine.models.least_squares import combine, fit
from fine.models.linear_systems import solve
from fine.models.memory import FunctionalMemory
from fine.models.paper import regularised

SWEEPS = 2
"""How often each step is fitted anew to what the other one does; more hardly change an answer."""


def two_steps(backbone: MatrixBackbone, x: Tensor, y: Tensor) -> Tensor:
    """The function that takes x to y in two steps, as one matrix.

    A step is W for a linear backbone and I + W for a residual one, where W is a combination of the
    values of its memory. They explain the pair themselves; no keys are looked up.
    """
    memory = backbone.memory(0)
    assert isinstance(memory, FunctionalMemory)
    values, ridge = memory.all_values(), memory.ridge
    identity = torch.eye(x.shape[1], dtype=x.dtype, device=x.device)
    start = identity if isinstance(backbone, ResidualBackbone) else torch.zeros_like(identity)

    def step(x: Tensor, y: Tensor) -> Tensor:
        return start + combine(values, fit(values, x, y - start @ x, ridge=ridge))

    first = step(x, y)
    second = step(first @ x, y)
    for _ in range(SWEEPS):
        missing = y - second @ start @ x
        first = start + combine(values, fit_before(values, x, second, missing, ridge=ridge))
        second = step(first @ x, y)
    return second @ first


def fit_before(values: Tensor, x: Tensor, then: Tensor, y: Tensor, *, ridge: float) -> Tensor:
    """The coefficients (b, s) of values (s, o, i) that take x (b, i, c) nearest to y (b, p, c) if
    the matrix ``then`` (b, p, o) follows: min |T Σ c_s V_s x − y|² + λ|c|².
    """
    # In this order they are two products of large matrices, and not one of small ones a slot.
    outputs = x.mT.flatten(0, 1) @ values.flatten(0, 1).T  # (b × c, s × o): V_s x
    outputs = outputs.view(len(x), -1, values.shape[1]) @ then.mT  # (b, c × s, p): T V_s x
    outputs = outputs.unflatten(1, (-1, len(values))).transpose(1, 2).flatten(2)  # (b, s, c × p)
    similarity = outputs @ y.mT.flatten(1)[:, :, None]
    return solve(regularised(outputs @ outputs.mT, ridge), similarity[:, :, 0])
