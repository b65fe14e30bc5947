"""The combination of matrices that best explains an example pair.

    coefficients = fit(values, x, y, ridge=0.1)        # min |Σ c_s V_s x − y|² + λ|c|², (b, s)

The query y x⁺ of an x with fewer columns than rows is one of many maps that take x to y. The fit is
the solution in the span of the slots.
"""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from fine.models.linear_systems import solve
from fine.models.paper import regularised

FEW_ROWS = 16
"""Above this, embeddings have many rows."""
MOST_PRODUCTS, MOST_PRODUCTS_OF_MANY_ROWS = 2**25, 2**20
"""Most numbers in the products V_sᵀV_t of all pairs of matrices for a fit to start from these
products; it is the slower way where embeddings have many rows."""
FEW_PAIRS = 32
"""Up to this many pairs, a fit in inference mode does not use these products: making them would
take longer than the fit. Training, whose numbers must not change, always does."""

_AT_ONCE = 32
"""Pairs whose outputs are made at once: those of 32 slots of 64 × 64 fit into a core's cache, and
twice the time goes to memory where they do not."""


def fit(values: Tensor, x: Tensor, y: Tensor, *, ridge: float) -> Tensor:
    """The coefficients (b, s) of values (s, o, i) that take x (b, i, c) nearest to y (b, o, c)."""
    count, rows = values.shape[0], values.shape[2]
    most = MOST_PRODUCTS if rows <= FEW_ROWS else MOST_PRODUCTS_OF_MANY_ROWS
    few = len(x) <= FEW_PAIRS and torch.is_inference_mode_enabled()
    if few or (rows * count) ** 2 > most:
        return _FitOutputs.apply(values, x, y, ridge)  # type: ignore[no-untyped-call]
    # The normal equations need ⟨V_s x, V_t x⟩ = ⟨V_sᵀV_t, x xᵀ⟩: for all pairs of small matrices
    # this is one product.
    products = torch.einsum("soi,toj->ijst", values, values).flatten(0, 1).flatten(1)
    gram = ((x @ x.mT).flatten(1) @ products).unflatten(1, (count, count))
    similarity = (y @ x.mT).flatten(1) @ values.flatten(1).T  # (b, s): ⟨V_s x, y⟩
    # Not by Cholesky: differentiating through its factor costs twice the solve.
    return solve(regularised(gram, ridge), similarity)


class _FitOutputs(torch.autograd.Function):
    """The fit from what each matrix makes of x, with its derivative: for many or large matrices.

    The solution c of A c = b changes with A and b by A⁻¹(db − dA c). So the backward pass needs one
    more solve and two combinations of matrices, and none of the outputs V_s x: it costs a fraction
    of the forward pass, where differentiating step by step costs twice as much, and all the memory.
    """

    @staticmethod
    def forward(ctx: Any, values: Tensor, x: Tensor, y: Tensor, ridge: float) -> Tensor:
        grams, similarities = [], []
        for before, after in zip(x.split(_AT_ONCE), y.split(_AT_ONCE), strict=True):
            outputs = values.flatten(0, 1) @ before  # (b, s × o, c)
            outputs = outputs.unflatten(1, values.shape[:2]).flatten(2)  # (b, s, o × c): V_s x
            grams.append(outputs @ outputs.mT)
            similarities.append(outputs @ after.flatten(1)[:, :, None])  # (b, s, 1): ⟨V_s x, y⟩
        system = regularised(torch.cat(grams), ridge)
        similarity = torch.cat(similarities)
        coefficients = solve(system, similarity[:, :, 0])
        ctx.ridge = ridge
        ctx.save_for_backward(values, x, y, system, coefficients)
        return coefficients

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:
        values, x, y, system, coefficients = ctx.saved_tensors
        # λ = A⁻¹ dL/dc, so that dL/db = λ and dL/dA = −λcᵀ; A is symmetric.
        adjoint = solve(system, gradient)
        fitted, moved = combine(values, coefficients), combine(values, adjoint)  # Σ c V, Σ λ V
        remaining, change = y - fitted @ x, moved @ x
        # The ridge is relative to the mean of the diagonal, so it also changes with every output.
        share = 2 * ctx.ridge * (adjoint * coefficients).mean(1)[:, None, None]
        weighted = share * x
        to_values = adjoint.T @ (remaining @ x.mT).flatten(1)
        to_values -= coefficients.T @ (change @ x.mT).flatten(1)
        to_values = to_values.view(values.shape) - values @ torch.einsum("bic,bjc->ij", weighted, x)
        square = values.flatten(0, 1).T @ values.flatten(0, 1)  # Σ VᵀV
        to_x = moved.mT @ remaining - fitted.mT @ change - square @ weighted
        return to_values, to_x, change, None


def combine(matrices: Tensor, coefficients: Tensor) -> Tensor:  # (s, o, i), (b, s) -> (b, o, i)
    """Σ_s c_s M_s."""
    return (coefficients @ matrices.flatten(1)).unflatten(1, matrices.shape[1:])


def residual(values: Tensor, coefficients: Tensor, x: Tensor, y: Tensor) -> Tensor:  # (b, o, c)
    """The residual of y: y − Σ_s c_s V_s x."""
    return y - combine(values, coefficients) @ x
