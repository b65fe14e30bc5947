"""Is this a rule I know? What a function leaves unexplained of the very hints it was composed from.

    misfit(model, x, y)                            # (b,): 0 explains all of y, 1 no more than a blank picture would

A memory of slots cannot say every function. If even the best one it can say does not take x to y, then y was made by something
that the model has not learned.
"""

import torch
from torch import Tensor

from fine.functions.function import Hints, compose
from fine.models.fine import FINE


@torch.no_grad()
def misfit(model: FINE, x: Hints, y: Hints) -> Tensor:  # (b,)
    """The distance from f(x) to y, as a share of that from nothing to y, on average over the hints."""
    function = compose(model, x, y)
    shares = []
    for pair in zip(function.goes_in, function.comes_out, strict=True):
        before, after = model.encode(torch.stack(pair, dim=1)).unbind(1)
        missed, whole = model.distance(function.map(before), after), model.distance(torch.zeros_like(after), after)
        shares.append(missed / whole.clamp(min=1e-8))
    return torch.stack(shares).mean(0)
