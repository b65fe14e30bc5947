"""Answers are numbers: a model that computes NaN or infinity is refused wherever it answers.

probabilities = check_finite(model(images).softmax(1))
"""

from torch import Tensor

from fine.errors import FineError


class BrokenModelError(FineError):
    """The model is at fault, not what it was asked."""


def check_finite(numbers: Tensor) -> Tensor:
    """The numbers themselves, if all of them are finite."""
    if not bool(numbers.isfinite().all()):
        raise BrokenModelError(
            "this model computes NaN or infinity, so its weights or settings are bad: use another "
            "model, or train it again"
        )
    return numbers
