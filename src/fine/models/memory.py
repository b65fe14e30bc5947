"""The functional memory: from an example pair to the weights of a layer, by analogy and indirection.

Codes are matrices (b, rows, columns): x (b, i, c), y (b, o, c). With one column this is the paper's memory to the letter.
"""

import math
from copy import deepcopy
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from fine.errors import FineError, unknown
from fine.models.misfits import Misfits
from fine.models.slots import Factors, make_slots

QUERIES = ("solve", "iterate")
ANALOGIES = ("similarity", "fit")
SYMMETRIES = ("none", "together", "apart")
KEYS = ("tied", "shared", "own")
MOST_PAIRS = 2**25
"""Numbers in the products of all pairs of slots, up to which a fit starts from them: 64 rows with 64 forms are half of it."""
_TINY = 1e-8  # keeps the Gram matrix of an all-zero code invertible; its pseudo-inverse is then zero, as it should be


def pseudo_inverse(x: Tensor, *, ridge: float = 0.0, method: str = "solve", iterations: int = 30) -> Tensor:
    """x⁺ = (xᵀx + λI)⁻¹ xᵀ, (b, i, c) -> (b, c, i), where λ is ``ridge`` times the mean diagonal of xᵀx.

    ``solve`` is exact; ``iterate`` is Ben-Israel and Cohen's V ← V(2I − xV) from V₀ = αxᵀ. Every V of that iteration is P xᵀ
    with P a small c × c matrix, so P is what is iterated. Where x has more columns than rows the same is done from the other
    side. Both carry gradients.
    """
    if x.shape[-1] > x.shape[-2]:
        return pseudo_inverse(x.mT, ridge=ridge, method=method, iterations=iterations).mT
    gram = _regular(x.mT @ x, ridge)  # (b, c, c)
    if method == "solve":
        if gram.shape[-1] == 1:
            return x.mT / gram
        return torch.cholesky_solve(x.mT, torch.linalg.cholesky(gram))
    if method != "iterate":
        raise unknown("pseudo-inverse", method, QUERIES)
    one = torch.eye(gram.shape[-1], dtype=x.dtype, device=x.device)
    # Any 0 < α < 2 / largest eigenvalue converges; the largest row sum bounds that eigenvalue.
    inverse = one / gram.abs().sum(-1).amax(-1)[..., None, None]
    for _ in range(iterations):
        inverse = inverse @ (2 * one - gram @ inverse)
    return inverse @ x.mT


def _regular(gram: Tensor, ridge: float) -> Tensor:  # (..., n, n), the same out
    """A Gram matrix with ``ridge`` times its mean diagonal added to its diagonal."""
    added = ridge * gram.diagonal(dim1=-2, dim2=-1).mean(-1) + _TINY
    return gram + added[..., None, None] * torch.eye(gram.shape[-1], dtype=gram.dtype, device=gram.device)


class FunctionalMemory(nn.Module):
    """Slots of (value, key) matrices: what is found of the example pair in the values selects a mix of keys (Eqs. 1-2).

    With ``moves`` (ways, rows), how turns and mirrors of a picture permute the rows of its code, every slot is stored once and
    read in all its moved forms. If pictures move ``together``, x and y alike, the memory knows a rule seen from one side from
    all sides; if they move ``apart``, it also knows the rule that turns or mirrors in addition. With 0 slots there is nothing
    to compare with, and the query itself is the weight.

    Slots in ``groups`` are fitted a group at a time, and the group whose pairs leave misfits like this one is the one that
    answers: so a group can be added without any change to what the others say. That takes ``columns``, those of a code.
    """

    forms: Tensor
    values: nn.Parameter | Factors
    keys: nn.Parameter | Factors | None
    misfits: Misfits | None
    learning: int | None = None
    """The one group that is read in training, while it learns; None: the group that a pair belongs to, as in testing."""
    left: Tensor | None = None
    """While a group learns: what it left of each y of the last batch, (b, o, c)."""
    unexplained: Tensor | None = None
    """The same as a share of y, (b,)."""

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
        moves: Tensor | None = None,
        symmetry: str = "together",
        groups: int = 0,
        columns: int = 1,
        form: str = "",
    ):
        super().__init__()
        if slots < 0:
            raise FineError(f"a memory cannot have {slots} slots: give 0 or more")
        if method not in QUERIES:
            raise unknown("pseudo-inverse", method, QUERIES)
        if analogy not in ANALOGIES:
            raise unknown("analogy", analogy, ANALOGIES)
        if symmetry not in SYMMETRIES:
            raise unknown("symmetry of a memory", symmetry, SYMMETRIES)
        if keys not in KEYS:
            raise unknown("kind of keys", keys, KEYS)
        if analogy == "fit" and not ridge:
            raise FineError("a fit of slots to an example pair needs a ridge above 0: more than one mix can explain the pair")
        if groups < 0 or (groups and (not slots or slots % groups)):
            raise FineError(f"{slots} slots cannot be in {groups} groups of as many: give a number of groups that divides them")
        if groups and analogy != "fit":
            raise FineError("groups of slots are told apart by how well they fit: set analogy=fit, or groups=0")
        self.slots, self.ridge, self.analogy, self.method = slots, ridge, analogy, method
        self.groups, self.form = max(1, groups), form
        self.misfits = Misfits(groups, rows=rows_out, columns=columns) if groups else None
        self.scale = math.sqrt(rows_in * rows_out)
        one_form = torch.arange(rows_out * rows_in).view(rows_out, rows_in)
        if moves is None or symmetry == "none":
            forms = [one_form]
        elif symmetry == "together":
            forms = [one_form[move][:, move] for move in moves]
        else:
            forms = [one_form[y_move][:, x_move] for y_move in moves for x_move in moves]
        self.register_buffer("forms", torch.stack(forms).flatten(1), persistent=False)  # (ways, o × i)
        if slots:
            # Squared, this norm undoes the scale of Eq. 1: an untrained memory of tied keys projects the query onto its slots.
            norm = math.sqrt(self.scale / len(forms))
            make = partial(_make_slots, form, slots, rows_out=rows_out, rows_in=rows_in, norm=norm)
            self.values = make()
            self.keys = None if keys == "shared" else make() if keys == "own" else deepcopy(self.values)

    def query(self, x: Tensor, y: Tensor) -> Tensor:  # (b, i, c), (b, o, c) -> (b, o, i)
        """The linear map that best explains y from x, over all columns: W^q = y x⁺."""
        return y @ pseudo_inverse(x, ridge=self.ridge, method=self.method)

    def mix(self, x: Tensor, y: Tensor) -> Tensor:  # (b, i, c), (b, o, c) -> (b, s), slots in all their forms
        """How much of each slot there is in what made y from x."""
        values = self._all_forms(self.matrices()[0])
        if self.analogy == "similarity":
            return self.query(x, y).flatten(1) @ values.flatten(1).T / self.scale  # Eq. 1, without softmax
        if self.misfits is None or (self.groups == 1 and self.learning is None):
            return self._fit(values, x, y)
        return self._fit_of_one_group(self.misfits, values, x, y)

    def _fit(self, values: Tensor, x: Tensor, y: Tensor) -> Tensor:  # (s, o, i), (b, i, c), (b, o, c) -> (b, s)
        # The mix m of values that best explains the pair itself, min |Σ m_s V_s x − y|² + λ|m|². The query of an x with fewer
        # columns than rows is one of many maps that do; this is the one among them that the memory can say.
        # Its normal equations need ⟨V_s x, V_t x⟩ = ⟨V_sᵀV_t, x xᵀ⟩, for all pairs of slots one large matrix product, unless
        # codes have so many rows that it would be too large.
        if (x.shape[1] * len(values)) ** 2 > MOST_PAIRS:
            made = (x.mT.flatten(0, 1) @ values.flatten(0, 1).T).unflatten(1, values.shape[:2])  # (b × c, s, o)
            made = made.unflatten(0, (len(x), -1)).transpose(1, 2).flatten(2)  # (b, s, c × o): V_s x
            gram, likeness = made @ made.mT, (made @ y.mT.flatten(1)[..., None])[..., 0]
        else:
            pairs = torch.einsum("soi,toj->ijst", values, values).flatten(0, 1).flatten(1)  # (i × i, s × s)
            gram = ((x @ x.mT).flatten(1) @ pairs).unflatten(1, (len(values), len(values)))
            likeness = (y @ x.mT).flatten(1) @ values.flatten(1).T  # (b, s): ⟨V_s x, y⟩
        # Not by Cholesky: differentiating through its factor costs twice the solve.
        return torch.linalg.solve(_regular(gram, self.ridge), likeness)

    def _fit_of_one_group(self, misfits: Misfits, values: Tensor, x: Tensor, y: Tensor) -> Tensor:  # 0 for slots of others
        groups = values.unflatten(0, (self.groups, -1))
        if self.training and self.learning is not None:
            group, mixes = groups[self.learning], values.new_zeros(len(x), *groups.shape[:2])
            mix = mixes[:, self.learning] = self._fit(group, x, y)
            left = y - _made(group, mix, x)
            self.left = left.detach()
            self.unexplained = left.square().sum((1, 2)) / (y.square().sum((1, 2)) + _TINY)
            return mixes.flatten(1)
        fits = [self._fit(group, x, y) for group in groups]
        left = torch.stack([y - _made(group, mix, x) for group, mix in zip(groups, fits, strict=True)], dim=1)
        belongs = F.one_hot(misfits.likelihood(left).argmax(1), self.groups)  # (b, g)
        return (torch.stack(fits, dim=1) * belongs[..., None]).flatten(1)

    def found(self, x: Tensor, y: Tensor) -> Tensor:  # (b, i, c), (b, o, c) -> (b, o, c)
        """What the mix of values itself makes of x: as much of y as the memory has found in them."""
        values = self._all_forms(self.matrices()[0])
        return (self.mix(x, y) @ values.flatten(1)).unflatten(1, values.shape[1:]) @ x

    def forward(self, x: Tensor, y: Tensor) -> Tensor:  # (b, i, c), (b, o, c) -> (b, o, i)
        if not self.slots:
            return self.query(x, y)
        keys = self._all_forms(self.matrices()[1])
        return (self.mix(x, y) @ keys.flatten(1)).unflatten(1, keys.shape[1:])  # Eq. 2

    def matrices(self) -> tuple[Tensor, Tensor]:
        """Values and keys (slots, o, i), whatever the form they are stored in."""
        values, keys = (
            slots() if isinstance(slots, Factors) else slots
            for slots in (self.values, self.values if self.keys is None else self.keys)
        )
        return values, keys

    def _all_forms(self, matrices: Tensor) -> Tensor:  # (slots, o, i) -> (slots × ways, o, i)
        moved = matrices.flatten(1)[:, self.forms] if len(self.forms) > 1 else matrices
        return moved.view(-1, *matrices.shape[1:])


def _made(matrices: Tensor, mix: Tensor, x: Tensor) -> Tensor:  # (s, o, i), (b, s), (b, i, c) -> (b, o, c)
    return (mix @ matrices.flatten(1)).unflatten(1, matrices.shape[1:]) @ x


def _make_slots(form: str, slots: int, *, rows_out: int, rows_in: int, norm: float) -> nn.Parameter | Factors:
    """New slots of this norm: whole matrices at right angles to each other, or factors."""
    if form:
        return make_slots(form, slots, rows_out=rows_out, rows_in=rows_in, norm=norm)
    return nn.Parameter(spread_out(slots, rows_out, rows_in) * norm)


def spread_out(slots: int, rows_out: int, rows_in: int) -> Tensor:
    """Random matrices of norm 1, at right angles to each other as far as there is room for it."""
    return nn.init.orthogonal_(torch.empty(slots, rows_out * rows_in)).view(slots, rows_out, rows_in)
