"""The orbit of a slot: the matrices it becomes when images are rotated or mirrored.

    table = orbit_table(permutations, rows_in=16, rows_out=16, symmetry="conjugate")
    matrices = expand(slots, table)            # (slots, 16, 16) -> (slots × elements, 16, 16)

If x and y are moved by the same element g, a matrix W becomes g W g⁻¹: `conjugate`. If they may be
moved by different elements, it becomes h W g⁻¹: `two-sided`. An equivariant encoder turns group
elements into permutations of the rows of an embedding, so an orbit is a table of indices.
"""

import torch
from torch import Tensor

from fine.errors import unknown
from fine.models.indexing import pick

SYMMETRIES = ("none", "conjugate", "two-sided")


def orbit_size(permutations: Tensor | None, symmetry: str) -> int:
    """How many matrices the orbit of a slot has."""
    if symmetry not in SYMMETRIES:
        raise unknown("symmetry of a memory", symmetry, SYMMETRIES)
    if permutations is None or symmetry == "none":
        return 1
    return len(permutations) if symmetry == "conjugate" else len(permutations) ** 2


def orbit_table(
    permutations: Tensor | None, *, rows_in: int, rows_out: int, symmetry: str
) -> Tensor:  # (elements, o × i)
    """Where in a slot each number of each matrix of its orbit is found.

    ``permutations`` (elements, rows) are those of the encoder; None if it is not equivariant.
    """
    indices = torch.arange(rows_out * rows_in).view(rows_out, rows_in)
    if orbit_size(permutations, symmetry) == 1 or permutations is None:
        orbit = [indices]
    elif symmetry == "conjugate":
        orbit = [indices[g][:, g] for g in permutations]
    else:
        orbit = [indices[h][:, g] for h in permutations for g in permutations]
    return torch.stack(orbit).flatten(1)


def expand(matrices: Tensor, table: Tensor) -> Tensor:  # (slots, o, i) -> (slots × elements, o, i)
    """Every matrix as its whole orbit."""
    orbits = pick(matrices.flatten(1), table) if len(table) > 1 else matrices
    # Even a single element is returned as a view, so that its gradients are summed in one order.
    return orbits.view(-1, *matrices.shape[1:])
