"""The combination of matrices that best explains an example pair.

    coefficients = fit(values, x, y, ridge=0.1)        # min |Σ c_s V_s x − y|² + λ|c|², (b, s)

The query y x⁺ of an x with fewer columns than rows is one of many maps that take x to y. The fit is
the solution in the span of the slots.
"""

import torch
from torch import Tensor

from fine.models.linear_systems import solve
from fine.models.paper import regularised

MOST_PRODUCTS = 2**25
"""Most numbers in the products V_sᵀV_t of all pairs for a fit to start from these products."""


def fit(values: Tensor, x: Tensor, y: Tensor, *, ridge: float) -> Tensor:
    """The coefficients (b, s) of values (s, o, i) that take x (b, i, c) nearest to y (b, o, c)."""
    # The normal equations need ⟨V_s x, V_t x⟩ = ⟨V_sᵀV_t, x xᵀ⟩. For all pairs of matrices this is
    # one large product, unless embeddings have so many rows that it would be too large.
    count, rows = values.shape[0], values.shape[2]
    if (rows * count) ** 2 > MOST_PRODUCTS:
        outputs = (x.mT.flatten(0, 1) @ values.flatten(0, 1).T).unflatten(1, values.shape[:2])
        outputs = outputs.unflatten(0, (len(x), -1))  # (b, c, s, o): V_s x
        outputs = outputs.transpose(1, 2).flatten(2)  # (b, s, c × o)
        gram = outputs @ outputs.mT
        similarity = (outputs @ y.mT.flatten(1)[..., None])[..., 0]
    else:
        products = torch.einsum("soi,toj->ijst", values, values).flatten(0, 1).flatten(1)
        gram = ((x @ x.mT).flatten(1) @ products).unflatten(1, (count, count))
        similarity = (y @ x.mT).flatten(1) @ values.flatten(1).T  # (b, s): ⟨V_s x, y⟩
    # Not by Cholesky: differentiating through its factor costs twice the solve.
    return solve(regularised(gram, ridge), similarity)


def combine(matrices: Tensor, coefficients: Tensor) -> Tensor:  # (s, o, i), (b, s) -> (b, o, i)
    """Σ_s c_s M_s."""
    return (coefficients @ matrices.flatten(1)).unflatten(1, matrices.shape[1:])


def residual(values: Tensor, coefficients: Tensor, x: Tensor, y: Tensor) -> Tensor:  # (b, o, c)
    """What a combination of values leaves of y: y − Σ_s c_s V_s x."""
    return y - combine(values, coefficients) @ x
