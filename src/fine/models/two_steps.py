"""Functions of two steps, for rules beyond the span of the slots.

    matrix = two_steps(backbone, x, y)       # (b, d, c) twice -> (b, d, d), which takes x near to y

A memory can say what its slots span: the rules of training, and mixtures of their matrices. A
larger rule is one of these after another, as a shift by 6 is a shift by 3, twice. So the function
is a product of two matrices that both lie in the span of the slots, fitted to the example pair
together. Fitted one after the other, the first would explain more of y than it should.
"""

import torch
from torch import Tensor

from fine.models.backbones import MatrixBackbone
from fine.models.least_squares import combine, fit, fit_before
from fine.models.memory import FunctionalMemory

SWEEPS = 2
"""How often each step is fitted anew to what the other one does; more hardly change an answer."""


def two_steps(backbone: MatrixBackbone, x: Tensor, y: Tensor) -> Tensor:
    """The function that takes x to y in two steps, as one matrix.

    A step is a layer of the backbone whose weight is a combination of the values of its memory.
    They explain the pair themselves; no keys are looked up.
    """
    memory = backbone.memory(0)
    assert isinstance(memory, FunctionalMemory)
    values, ridge = memory.all_values(), memory.ridge
    identity = torch.eye(x.shape[1], dtype=x.dtype, device=x.device)

    def layer(coefficients: Tensor) -> Tensor:
        return backbone.layer(0, combine(values, coefficients), identity)

    def step(x: Tensor, y: Tensor) -> Tensor:
        return layer(fit(values, x, backbone.pseudo_output(0, x, y), ridge=ridge))

    kept = backbone.layer(0, torch.zeros_like(identity), x)  # what a layer passes on of x itself
    first = step(x, y)
    second = step(first @ x, y)
    for _ in range(SWEEPS):
        first = layer(fit_before(values, x, second, y - second @ kept, ridge=ridge))
        second = step(first @ x, y)
    return second @ first
