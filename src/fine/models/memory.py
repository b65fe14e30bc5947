"""The functional memory of the default model: the paper's, with four extensions.

    memory = FunctionalMemory(16, 16, slots=8, analogy="least-squares", ridge=0.1, keys="tied")
    weight = memory(x, y)                        # (b, 16, c) twice -> (b, 16, 16)

- Embeddings are matrices (b, rows, columns), and all columns inform one query.
- Coefficients can come from a least-squares fit instead of similarities (least_squares.py).
- A slot is stored once and read as its whole orbit under rotations and mirrors (orbit.py).
- Slots can be stored as products of smaller matrices (low_rank.py).

With one column, similarities, own keys and no symmetry it is the paper's memory (paper.py).
"""

import math
from copy import deepcopy
from typing import TypedDict

from torch import Tensor, nn

from fine.errors import FineError, unknown
from fine.models.initialisation import orthonormal
from fine.models.least_squares import combine, fit
from fine.models.low_rank import Factors, make_factors
from fine.models.orbit import expand, orbit_size, orbit_table
from fine.models.paper import QUERIES, pseudo_inverse

MOST_NUMBERS = 2**26
"""Most numbers that reading a pair may need: all matrices of all orbits, or their products."""
ANALOGIES = ("similarity", "least-squares")
KEYS = ("tied", "shared", "own")


class MemoryOptions(TypedDict, total=False):
    """What a memory depends on besides its shape."""

    slots: int
    ridge: float
    analogy: str
    method: str
    keys: str
    permutations: Tensor | None
    symmetry: str
    slot_form: str


class FunctionalMemory(nn.Module):
    """Slots of (value, key) matrices: coefficients found in the values combine the keys (Eqs. 1-2).

    With 0 slots there is nothing to compare with, and the query itself is the weight.
    """

    orbit: Tensor  # (elements, o × i)
    values: nn.Parameter | Factors
    keys: nn.Parameter | Factors | None  # None: shared with the values

    def __init__(
        self,
        rows_in: int,
        rows_out: int,
        *,
        slots: int,
        ridge: float = 0.0,
        analogy: str = "similarity",
        method: str = "solve",
        keys: str = "own",
        permutations: Tensor | None = None,
        symmetry: str = "conjugate",
        slot_form: str = "",
    ):
        super().__init__()
        if slots < 0:
            raise FineError(f"a memory cannot have {slots} slots: give 0 or more")
        if method not in QUERIES:
            raise unknown("pseudo-inverse", method, QUERIES)
        if analogy not in ANALOGIES:
            raise unknown("analogy", analogy, ANALOGIES)
        if keys not in KEYS:
            raise unknown("kind of keys", keys, KEYS)
        _check_size(slots, permutations, rows_in * rows_out, symmetry=symmetry, analogy=analogy)
        if analogy == "least-squares" and not ridge:
            raise FineError(
                "a least-squares fit of slots to an example pair needs a ridge above 0: more than "
                "one combination of slots can explain the pair"
            )
        self.slots, self.ridge, self.analogy, self.method = slots, ridge, analogy, method
        self.scale = math.sqrt(rows_in * rows_out)
        table = orbit_table(permutations, rows_in=rows_in, rows_out=rows_out, symmetry=symmetry)
        self.register_buffer("orbit", table, persistent=False)
        if not slots:
            return
        # Squared, this norm cancels the scale of Eq. 1: an untrained memory with tied keys projects
        # the query onto its slots.
        norm = math.sqrt(self.scale / len(table))
        self.values = _make_slots(slot_form, (slots, rows_out, rows_in), norm)
        if keys == "shared":
            self.keys = None
        elif keys == "tied":
            self.keys = deepcopy(self.values)
        else:
            self.keys = _make_slots(slot_form, (slots, rows_out, rows_in), norm)

    def query(self, x: Tensor, y: Tensor) -> Tensor:  # (b, i, c), (b, o, c) -> (b, o, i)
        """The linear map that best explains y from x, over all columns: W^q = y x⁺."""
        return y @ pseudo_inverse(x, ridge=self.ridge, method=self.method)

    def coefficients(self, x: Tensor, y: Tensor) -> Tensor:  # (b, i, c), (b, o, c) -> (b, s)
        """The coefficients of all values, over their orbits, for the rule that takes x to y."""
        values = self.all_values()
        if self.analogy == "least-squares":
            return fit(values, x, y, ridge=self.ridge)
        return self.query(x, y).flatten(1) @ values.flatten(1).T / self.scale  # Eq. 1

    def forward(self, x: Tensor, y: Tensor) -> Tensor:  # (b, i, c), (b, o, c) -> (b, o, i)
        if not self.slots:
            return self.query(x, y)
        return combine(self.all_keys(), self.coefficients(x, y))  # Eq. 2

    def reconstruct(self, x: Tensor, y: Tensor) -> Tensor:  # (b, i, c), (b, o, c) -> (b, o, c)
        """What the values make of x with these coefficients: the part of y that they explain."""
        return combine(self.all_values(), self.coefficients(x, y)) @ x

    def all_values(self) -> Tensor:  # (slots × elements, o, i)
        """The orbits of all values."""
        return expand(self.value_matrices(), self.orbit)

    def all_keys(self) -> Tensor:  # (slots × elements, o, i)
        """The orbits of all keys."""
        return expand(self.key_matrices(), self.orbit)

    def value_matrices(self) -> Tensor:  # (slots, o, i)
        """The values, however they are stored."""
        return _matrices(self.values)

    def key_matrices(self) -> Tensor:  # (slots, o, i)
        """The keys, however they are stored; shared keys are the values."""
        return self.value_matrices() if self.keys is None else _matrices(self.keys)


def _check_size(
    slots: int, permutations: Tensor | None, numbers: int, *, symmetry: str, analogy: str
) -> None:
    """Refuse slots whose orbits, or the fit of these, would fill the memory of the machine."""
    elements = orbit_size(permutations, symmetry)
    orbits = max(1, slots) * elements
    needed = orbits * numbers
    if analogy == "least-squares":
        needed = max(needed, orbits * orbits)
    if needed > MOST_NUMBERS:
        raise FineError(
            f"{slots} slots of {numbers:,} numbers, each with an orbit of {elements}, would take "
            f"{needed:,} numbers, more than {MOST_NUMBERS:,}: give fewer slots or a smaller "
            "embedding_size"
        )


def _matrices(stored: nn.Parameter | Factors) -> Tensor:
    return stored() if isinstance(stored, Factors) else stored


def _make_slots(form: str, shape: tuple[int, int, int], norm: float) -> nn.Parameter | Factors:
    """New slots (slots, o, i) of this norm: whole matrices orthogonal to each other, or factors."""
    slots, rows_out, rows_in = shape
    if form:
        return make_factors(form, slots, rows_out=rows_out, rows_in=rows_in, norm=norm)
    return nn.Parameter(orthonormal(slots, rows_out, rows_in) * norm)
