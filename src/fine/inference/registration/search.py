"""The search for a rule: single families first, mixes only if none of them explains the pairs.

    found = register([x1, x2], [y1, y2], families=("rotation", "scale"))

Candidates are refined coarse to fine, and those far behind are given up on the way. The best affine
candidate is also refined as any affine map, so that a rotation with a small shift is noticed.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from fine.errors import FineError, unknown
from fine.inference.registration import settings
from fine.inference.registration.choice import (
    Proposal,
    Registered,
    choose,
    nothing_to_see,
    unexplained_share,
)
from fine.inference.registration.forms import BENT_FORMS, FORMS, AffineForm, BentForm
from fine.inference.registration.pairs import Pair
from fine.inference.registration.refinement import Candidate, refined
from fine.inference.registration.settings import Setting
from fine.inference.registration.starts import (
    GRIDS,
    KEPT,
    bank_starts,
    family_starts,
    form_of,
    resizing_starts,
    swap_losses,
)
from fine.rules import Rule
from fine.rules.affine import NEGATIVE, affine_candidates, matrix_of
from fine.rules.rule_map import RuleMap

REGISTERED_FAMILIES = (
    *("square", "translation", "rotation", "scale", "stretch", "shear", "any-mix", "affine-map"),
    *("wave", "fisheye", "swap", "black-white"),
)
"""Families that pairs are explained by; `any-mix` and `affine-map` stand for mixes."""
SIDES = (32, 64, 128, 256)
"""Longer sides that parameters are refined on; smaller images end at their own."""
POLISHED = 512
"""The side at which the chosen rule is refined at last."""
CLEAR, CLEAR_IF_SMALL = 0.015, 0.05
"""Unexplained shares below which no mix is looked for; few pixels are never explained so well."""
SMALL = 48
"""Pixels of a side below which an image is small."""
BEHIND = 3.0
"""A candidate whose loss is so many times that of the best one is given up."""
STEPS = 14

Item = tuple[Setting, Candidate]


def register(
    xs: Sequence[Tensor],
    ys: Sequence[Tensor],
    *,
    families: Sequence[str] = REGISTERED_FAMILIES,
    starts: Sequence[Rule] = (),
    mixes: bool = True,
) -> Registered:
    """The rule that best takes every x to its y.

    A pair that no rule explains is no error here: `Registered.explains` is False, and
    `Registered.unexplained` says how much is left.

    Args:
        xs: Images, float (channels, h, w) in 0..1, of any sizes.
        ys: What became of each, perhaps in a frame of another size.
        families: Names of the families to explain them by, among `REGISTERED_FAMILIES`.
        starts: Rules to begin from, such as those a model names; then no grid is searched, which is
            quicker, and finds only what a start leads to.
        mixes: Whether to try mixes if no single family explains the pairs: an affine map with a
            wave, a fisheye, a swap or a negative.

    Examples:
        >>> import fine
        >>> x = fine.load_images("glyphs").pixels[160].float() / 255
        >>> found = fine.register([x], [x.rot90(1, (1, 2))])
        >>> str(found), found.rule.rules[0].parameters
        ('rotation 90°', (90.0,))
    """
    _check(xs, ys, families)
    pairs = [Pair(x, y) for x, y in zip(xs, ys, strict=True)]
    if any(pair.is_flat for pair in pairs):
        return nothing_to_see(pairs)
    with torch.inference_mode():
        search = _Search(pairs, tuple(families))
        items = search.first(starts)
        proposals = search.choices()
        if mixes and not search.settled(items, proposals):
            items = search.thin(items + search.mixes(items), kept=2)
        items = search.finished(items)
        proposals += [_proposal(setting, one) for setting, one in items]
        found = choose(proposals, pairs)
        return _polished(found, items, pairs)


class _Search:
    """Candidates for pairs, from coarse to fine."""

    def __init__(self, pairs: list[Pair], families: tuple[str, ...]):
        self.plain, self.families = Setting(pairs), families
        self.side = min(pair.side for pair in pairs)
        self.sides = [side for side in SIDES if side < 0.8 * self.side][:3]
        self.sides.append(max(8, min(self.side, SIDES[-1])))

    def first(self, starts: Sequence[Rule]) -> list[Item]:
        """Single families, from their grids or from given rules, and any affine map near them."""
        pairs, names = self.plain.pairs, self.families
        if starts:
            found = [one for rule in starts for one in _from_rule(rule) if one.form.name in names]
        else:
            found = self._affine_starts(pairs)
            found += family_starts(pairs, [name for name in ("wave", "fisheye") if name in names])
        items = self.refined([(self.plain, one) for one in found], 0, steps=5)
        items = self.refined(self.thin(items, kept=2), 0)
        return self.thin(items + self.refined(self._nested(items), 0), kept=2)

    def _affine_starts(self, pairs: Sequence[Pair], kept: int = KEPT) -> list[Candidate]:
        names = self.families
        grids = [name for name in GRIDS if name in names and name in FORMS]
        found = family_starts(pairs, grids, kept=kept)
        found += resizing_starts(pairs, names)
        if "translation" in names:
            for one in bank_starts(pairs, "unmoved", kept=2):
                matrix = one.parameters.reshape(2, 3)
                found += [
                    moved for moved in _from_matrix(matrix) if moved.form.name == "translation"
                ]
        return found

    def _nested(self, items: list[Item]) -> list[Item]:
        """The best candidates again, with more freedom."""
        found: list[Item] = []
        affine = [item for item in items if isinstance(item[1].form, AffineForm)]
        for setting, one in sorted(affine, key=_loss)[:1]:
            assert isinstance(one.form, AffineForm)
            matrix = one.form.matrices(one.parameters[None])[0]
            for name in ("any-mix", "affine-map"):
                if name in self.families and one.form.name != name:
                    found += [
                        (setting, more) for more in _from_matrix(matrix) if more.form.name == name
                    ]
        bent = [item for item in items if isinstance(item[1].form, BentForm)]
        for setting, one in sorted(bent, key=_loss)[:1]:
            if "affine-map" in self.families and one.loss < 2 * min(map(_loss, items)) + 0.02:
                parameters = np.concatenate((one.parameters, np.eye(2, 3).flatten()))
                form = BENT_FORMS[f"{one.form.name}+affine"]
                found.append((setting, Candidate(form, parameters)))
        return found

    def choices(self) -> list[Proposal]:
        """Families without parameters to move: swaps, and negatives of a part."""
        found: list[Proposal] = []
        if "swap" in self.families:
            swapped = sorted(swap_losses(self.plain.pairs), key=lambda one: one[1])
            found += [Proposal((rule,), loss, 0.5) for rule, loss in swapped[:2]]
        if "black-white" in self.families:
            side = min(self.side, POLISHED)
            cut = settings.part_negative(self.plain.pairs, side)
            if cut is not None:
                rule, loss = cut
                pixel = 32 / side
                error = np.zeros((len(rule.parameters), len(rule.parameters)))
                if rule.family is not NEGATIVE:
                    error[1, 1] = (pixel / 2) ** 2
                found.append(Proposal((rule,), loss, 0.5 * (1 + len(rule.parameters)), error))
        return found

    def mixes(self, before: list[Item]) -> list[Item]:
        """Any affine map, and affine maps with a bend, a negative or a swap."""
        if "affine-map" not in self.families and "any-mix" not in self.families:
            return []
        found = self._similar(self.plain, "similar")
        if self.settled(found):
            return found
        if "black-white" in self.families:
            negative = settings.negative(self.plain.pairs)
            one = [(negative, start) for start in self._affine_starts(negative.pairs, kept=2)]
            found += self.thin(self.refined(one, 0), kept=1)
            found += self._similar(negative, "similar")
        if self.settled(found):
            return found
        found += self._similar(self.plain, "stretched")
        if self.settled(found):
            return found
        found += self._bent(found + before)
        if self.settled(found):
            return found
        return found + self._swapped()

    def settled(self, items: list[Item], others: Sequence[Proposal] = ()) -> bool:
        """Whether the best candidate explains the pairs so well that nothing else is tried."""
        best = min([*(_proposal(*item) for item in items), *others], key=lambda one: one.loss)
        left = unexplained_share(RuleMap(best.rules), self.plain.pairs, side=self.sides[0])
        return left < (CLEAR if self.sides[0] > SMALL or self.side > SMALL else CLEAR_IF_SMALL)

    def _similar(self, setting: Setting, bank: str, kept: int = 8) -> list[Item]:
        """The affine maps that start from a bank."""
        starts = [(setting, one) for one in bank_starts(setting.pairs, bank, kept=kept)]
        items = self.thin(self.refined(starts, 0), kept=2)
        return self.thin(items + self.refined(self._nested(items), 0), kept=2)

    def _bent(self, before: list[Item]) -> list[Item]:
        """Waves and fisheyes with an affine map, which comes after them or before."""
        affine = [
            item
            for item in before
            if isinstance(item[1].form, AffineForm) and item[0] is self.plain
        ]
        found: list[Item] = []
        for name in ("wave", "fisheye"):
            if name not in self.families:
                continue
            bends = [np.array(one) for one in GRIDS[name][:: 3 if name == "wave" else 5]]
            maps = [
                one.form.matrices(one.parameters[None])[0]
                for _, one in sorted(affine, key=_loss)[:3]
                if isinstance(one.form, AffineForm)
            ]
            maps.append(np.eye(2, 3))
            for order in (f"{name}+affine", f"affine+{name}"):
                starts = [
                    (self.plain, Candidate(form_of(order), np.concatenate((bend, one.flatten()))))
                    for bend in bends
                    for one in maps
                ]
                quick = self.refined(starts, 0, steps=5)
                best = sorted(quick, key=_loss)[:4]
                found += self.thin(self.refined(best, 0), kept=2)
        return found

    def _swapped(self) -> list[Item]:
        """Swaps of quarters with an affine map, which comes after them or before."""
        if "swap" not in self.families:
            return []
        tried = []
        for setting in settings.swaps(self.plain.pairs):
            starts = family_starts(setting.pairs, ["square", "rotation", "scale"], kept=1)
            starts += bank_starts(setting.pairs, "unmoved", kept=1)
            tried += [(setting, one) for one in starts]
        best = sorted(tried, key=_loss)[:8]
        items = [self.refined([item], 0)[0] for item in best]
        return self.thin(items + self.refined(self._nested(items), 0), kept=2)

    def finished(self, items: list[Item]) -> list[Item]:
        """The candidates at the finest side, one of each form and setting."""
        for number in range(1, len(self.sides)):
            items = self.thin(self.refined(items, number, steps=6), kept=2 if number < 2 else 1)
        if len(self.sides) > 1:
            items = self._with_simpler(items)
        return items

    def _with_simpler(self, items: list[Item]) -> list[Item]:
        """Every simpler family near the best affine map, which a grid may have missed."""
        setting, best = min(items, key=_loss)
        if isinstance(best.form, BentForm):
            if best.form.order == "alone" or best.form.bend.name not in self.families:
                return items
            bend = best.parameters[: len(best.form.bend.steps)]
            alone = [(setting, Candidate(BENT_FORMS[best.form.bend.name], bend))]
            return items + self.refined(self.refined(alone, 0), -1)
        matrix = best.form.matrices(best.parameters[None])[0]
        there = {one.form.name for other, one in items if other is setting}
        near = [
            (setting, one)
            for one in _from_matrix(matrix)
            if one.form.name not in there
            and one.form.name in self.families
            and one.form.complexity < best.form.complexity
            and _is_near(one, matrix)
        ]
        return items + self.refined(near, -1, steps=6)

    def refined(self, items: list[Item], number: int, steps: int = STEPS) -> list[Item]:
        """Items with better parameters, at the side of a number."""
        result = list(items)
        for setting in {id(setting): setting for setting, _ in items}.values():
            places = [place for place, item in enumerate(items) if item[0] is setting]
            members = [items[place][1] for place in places]
            better = refined(members, setting.pairs, side=self.sides[number], steps=steps)
            for place, one in zip(places, better, strict=True):
                result[place] = (setting, one)
        return result

    def thin(self, items: list[Item], *, kept: int) -> list[Item]:
        """The best few of each form and setting, without those far behind."""
        if not items:
            return []
        bound = BEHIND * (min(map(_loss, items)) + 0.01)
        seen: dict[tuple[int, str], list[Candidate]] = {}
        going_on = []
        for setting, one in sorted(items, key=_loss):
            others = seen.setdefault((id(setting), one.form.name), [])
            if len(others) < kept + 1 and one.loss <= bound and not _repeats(one, others):
                others.append(one)
                going_on.append((setting, one))
        return going_on or [min(items, key=_loss)]


def _repeats(one: Candidate, others: list[Candidate]) -> bool:
    """Whether another candidate has come to the same place."""
    steps = np.array(one.form.steps)
    return any(
        bool((np.abs(one.parameters - other.parameters) <= 100 * steps + 1e-9).all())
        for other in others
    )


def _is_near(one: Candidate, matrix: np.ndarray) -> bool:
    """Whether an affine candidate moves points about as a matrix does."""
    assert isinstance(one.form, AffineForm)
    return bool(np.abs(one.form.matrices(one.parameters[None])[0] - matrix).max() < 0.1)


def _loss(item: Item) -> float:
    return item[1].loss


def _from_rule(rule: Rule) -> list[Candidate]:
    """A given rule as candidates: as its own family, and as those that are near."""
    name = rule.family.name
    if name in ("wave", "fisheye"):
        return [Candidate(form_of(name), np.array(rule.parameters))]
    matrix = matrix_of(rule)
    return [] if matrix is None else _from_matrix(matrix)


def _from_matrix(matrix: np.ndarray) -> list[Candidate]:
    """An affine map as a candidate of each family that it may be near to."""
    found = [Candidate(FORMS["affine-map"], matrix.flatten())]
    aliases = {"reflection": "square"}
    for rule in affine_candidates(matrix):
        name = aliases.get(rule.family.name, rule.family.name)
        if name == "square":
            own = matrix_of(rule)
            assert own is not None
            parameters = np.round(np.linalg.inv(own[:, :2])).flatten()
        else:
            parameters = np.array(rule.parameters)
        found.append(Candidate(FORMS[name], parameters))
    return found


def _proposal(setting: Setting, one: Candidate) -> Proposal:
    return Proposal.of(one, setting.before, setting.after)


def _polished(found: Registered, items: list[Item], pairs: list[Pair]) -> Registered:
    """The chosen rule, refined once more where the images have more pixels."""
    chosen = [item for item in items if _proposal(*item).rules == found.rule.rules]
    side = min(pair.side for pair in pairs)
    if not chosen or side <= SIDES[-1]:
        return found
    setting, one = chosen[0]
    one = refined([one], setting.pairs, side=min(POLISHED, side), steps=4)[0]
    return found.polished(_proposal(setting, one))


def _check(xs: Sequence[Tensor], ys: Sequence[Tensor], families: Sequence[str]) -> None:
    if not len(xs) or len(xs) != len(ys):
        raise FineError(
            f"there are {len(xs)} images x and {len(ys)} images y: give a y for every x, at least "
            "one"
        )
    for image in (*xs, *ys):
        if image.ndim != 3 or image.shape[0] not in (1, 3) or min(image.shape[1:]) < 4:
            raise FineError(
                f"an image of shape {tuple(image.shape)} cannot be compared: give (channels, h, w) "
                "with 1 or 3 channels and at least 4 pixels a side"
            )
    for name in families:
        if name not in REGISTERED_FAMILIES:
            raise unknown("family", name, REGISTERED_FAMILIES)
