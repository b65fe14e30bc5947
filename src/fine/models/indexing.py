"""Numbers picked by index, with gradients that are the same bits every time.

    pick(weight, permutations)         # (..., n), integers of any shape -> (..., *their shape)

`weight[..., permutations]` has the same result. But where an index occurs more than once, several
threads add to its gradient in the order in which they come. `gather` leaves the sum for one number
to one thread, which adds in the order of the indices, as a single thread does with either.
"""

from torch import Tensor


def pick(numbers: Tensor, indices: Tensor) -> Tensor:  # (..., n) -> (..., *indices.shape)
    """The numbers at these indices of the last dimension."""
    row = indices.flatten().expand(*numbers.shape[:-1], -1)  # the same for all: takes no memory
    return numbers.gather(-1, row).unflatten(-1, indices.shape)
